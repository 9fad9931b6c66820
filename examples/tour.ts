// A tour of MementoMaps with a synthetic archive, in a few seconds: `npm start`.
//
// Creates the index of an archive, a map of it, a smaller map and a packed one, looks pages up in all of them,
// and compares sizes and accuracy. Everything runs through the command line, in a temporary folder.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { styleText } from "node:util";

const PROGRAM = fileURLToPath(new URL("../dist/cli/bin.js", import.meta.url));
const CAPTURES = 200_000;
const LOOKUPS = 10_000;
const WEIGHTS = ["--host-weight", "4", "--path-weight", "2"];

const COLUMNS = 80;
const BAR_COLUMNS = 32;
/** The number of rows under the example roll-up: enough to see, few enough to print. */
const SHOWN_ROWS = { min: 5, max: 6 };
const SHOWN_KEY_COLUMNS = 50;
const SHOWN_URI_COLUMNS = 42;

const isColored = process.stdout.isTTY && process.env["NO_COLOR"] === undefined;
const commandsRun: string[] = [];

function say(text: string = ""): void {
  process.stdout.write(`${text}\n`);
}

function style(format: "bold" | "dim" | "green" | "cyan", text: string): string {
  return isColored ? styleText(format, text) : text;
}

function heading(title: string): void {
  say();
  say(style("bold", title));
}

/** Runs a command in the folder of the tour, and prints the command line and its duration. */
function run(folder: string, args: readonly string[]): string {
  const line = `mementomap ${args.join(" ")}`;
  const startedAt = performance.now();
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  // Exit code 1 means "absent".
  if (error !== undefined || (status !== 0 && status !== 1)) {
    throw new Error(`${line} failed: ${stderr}`, { cause: error });
  }
  const seconds = `${((performance.now() - startedAt) / 1000).toFixed(2)} s`;
  commandsRun.push(line);
  const shown = `  $ ${line.replaceAll(" http", " \\\n      http")}`;
  const last = shown.slice(shown.lastIndexOf("\n") + 1).length;
  const isRoomLeft = last + seconds.length + 2 <= COLUMNS;
  say(style("cyan", shown) + (isRoomLeft ? seconds.padStart(COLUMNS - last) : ""));
  if (!isRoomLeft) say(seconds.padStart(COLUMNS));
  return stdout;
}

function linesOf(folder: string, name: string): string[] {
  return readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1);
}

interface Row {
  readonly key: string;
  readonly line: string;
}

function rowsOf(folder: string, name: string): Row[] {
  return linesOf(folder, name)
    .filter((line) => !line.startsWith("!"))
    .map((line) => ({ key: line.slice(0, line.indexOf(" ")), line }));
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`;
}

/** A bar in eighths of a column; anything above zero is visible. */
function bar(value: number, largest: number): string {
  const eighths = Math.max(1, Math.round((value / largest) * BAR_COLUMNS * 8));
  const rest = eighths % 8;
  const partial = rest === 0 ? "" : String.fromCodePoint(0x2590 - rest);
  return style("green", "█".repeat(Math.floor(eighths / 8)) + partial);
}

/** A roll-up of the compacted map that replaces a few rows of the full map, and these rows. */
function smallRollUp(full: readonly Row[], compacted: readonly Row[]): [Row, readonly Row[]] {
  for (const row of compacted) {
    if (!row.key.startsWith("pt,") || !row.key.endsWith("/*") || row.key.length > SHOWN_KEY_COLUMNS)
      continue;
    const stem = row.key.slice(0, -1);
    const below = full.filter(({ key }) => key.startsWith(stem));
    if (below.length >= SHOWN_ROWS.min && below.length <= SHOWN_ROWS.max) return [row, below];
  }
  throw new Error("the sample has no small roll-up for this example");
}

interface Reply {
  readonly uri: string;
  readonly isPresent: boolean;
  readonly key: string;
}

function replies(text: readonly string[]): Reply[] {
  return text.map((line) => {
    const [uri, state, key] = line.split("\t");
    return { uri, isPresent: state === "present", key };
  });
}

/** Lookups in the full map, which are the ground truth, and in the compacted one. */
interface Survey {
  readonly truth: readonly Reply[];
  readonly results: readonly Reply[];
}

/** Lookups in a map, compared with the ground truth. */
interface Score {
  /** The number of requests to the archive. */
  readonly requests: number;
  /** The number of held pages that it finds. */
  readonly found: number;
  /** The percentage of pages with a correct result. */
  readonly accuracy: string;
}

function score({ truth, results }: Survey): Score {
  const agreed = truth.filter(({ isPresent }, i) => isPresent === results[i].isPresent).length;
  return {
    requests: results.filter(({ isPresent }) => isPresent).length,
    found: truth.filter(({ isPresent }, i) => isPresent && results[i].isPresent).length,
    accuracy: `${((agreed / truth.length) * 100).toFixed(1)} %`,
  };
}

function showIndex(folder: string): number {
  heading("1. An archive's index");
  run(folder, ["sample", "--lines", String(CAPTURES), "-o", "index.cdxj"]);
  const index = readFileSync(join(folder, "index.cdxj"));
  say(`  An archive that does not exist, shaped like a real one. A line for each copy:
  the page's address with the host turned round, and when it was copied (CDXJ).`);
  const start = index.indexOf("\npt,") + 1;
  say(style("dim", `    ${index.subarray(start, start + 70).toString()}...`));
  return index.length;
}

function showMaps(folder: string, indexBytes: number): void {
  heading("2. A map of it");
  run(folder, ["generate", "index.cdxj", "-o", "map.ukvs"]);
  say("  One row per page, without query, with its number of captures.");

  heading("3. A smaller map");
  run(folder, ["compact", ...WEIGHTS, "map.ukvs", "-o", "compact.ukvs"]);
  say("  Where a site or a folder has many pages, one row with a * covers them all:");
  const full = rowsOf(folder, "map.ukvs");
  const compacted = rowsOf(folder, "compact.ukvs");
  const [rollUp, below] = smallRollUp(full, compacted);
  for (const { line } of below) say(style("dim", `    ${line}`));
  say(`    ${rollUp.line}   in place of these ${below.length}`);

  heading("4. A packed map");
  run(folder, ["pack", "map.ukvs", "-o", "map.packed"]);
  say("  A few bits per page instead of its address: not human-readable, but it");
  say("  answers lookups.");
  say();
  for (const [name, what] of [
    ["index.cdxj", `${count(CAPTURES)} lines`],
    ["map.ukvs", `${count(full.length)} rows`],
    ["compact.ukvs", `${count(compacted.length)} rows`],
    ["map.packed", ""],
  ]) {
    const { size } = statSync(join(folder, name));
    const label = `  ${name.padEnd(14)}${megabytes(size).padStart(8)}${what.padStart(15)}`;
    say(`${label}  ${bar(size, indexBytes)}`);
  }
}

function showSavings(folder: string): Survey {
  heading("5. Lookups");
  const sample = ["sample", "--lines", String(CAPTURES), "--uris", String(LOOKUPS)];
  run(folder, [...sample, "-o", "uris.txt"]);
  const ask = (map: string, output: string): Reply[] => {
    run(folder, ["lookup", map, "--batch", "uris.txt", "-o", output]);
    return replies(linesOf(folder, output));
  };
  const truth = ask("map.ukvs", "truth.tsv");
  const results = ask("compact.ukvs", "compact.tsv");
  const held = truth.filter(({ isPresent }) => isPresent).length;
  const compact = score({ truth, results });
  const packed = score({ truth, results: ask("map.packed", "packed.tsv") });
  say(
    `  ${count(LOOKUPS)} pages; the archive holds ${count(held)} of them. Requests to the archive with`,
  );
  for (const [label, requests] of [
    ["no map", LOOKUPS],
    ["map.ukvs", held],
    ["compact.ukvs", compact.requests],
    ["map.packed", packed.requests],
  ] as const) {
    say(`  ${label.padEnd(14)}${count(requests).padStart(8)}  ${bar(requests, LOOKUPS)}`);
  }
  say(`  compact.ukvs is correct for ${compact.accuracy} of the pages (accuracy), map.packed for
  ${packed.accuracy}, and both find ${compact.found} of the ${held} held pages (recall ${compact.found / held}). Both can give
  false positives, but never miss a page that is held.`);
  if (compact.found !== held || packed.found !== held) throw new Error("a held page was missed");
  return { truth, results };
}

function showAnswers(folder: string, { truth, results }: Survey): void {
  heading("6. Three lookups in detail");
  const pick = (isFound: boolean, isTrue: boolean): string => {
    const isMatch = (reply: Reply, i: number): boolean =>
      reply.isPresent === isFound && truth[i].isPresent === isTrue && isShort(reply.uri);
    const reply = results.find(isMatch);
    if (reply === undefined) throw new Error("the sample has no page for this example");
    return reply.uri;
  };
  const held = pick(true, true);
  const remarks = new Map([
    [held, "held"],
    [pick(true, false), "not held: a false positive"],
    [pick(false, false), "no request needed"],
  ]);
  const printed = run(folder, ["lookup", "compact.ukvs", ...remarks.keys()]);
  for (const { uri, isPresent, key } of replies(printed.trimEnd().split("\n"))) {
    const state = style("bold", isPresent ? "present" : "absent");
    say(`  ${uri}`);
    say(`      ${state}${key === "-" ? "" : ` by ${key}`} (${remarks.get(uri)})`);
  }

  heading("Commands to copy and paste");
  say(`  mementomap() { node ${PROGRAM} "$@"; }`);
  say('  cd "$(mktemp -d)"');
  for (const line of commandsRun.slice(0, -1)) say(`  ${line}`);
  say(`  mementomap lookup compact.ukvs ${held}`);

  heading("Next steps");
  say(`  mementomap analyze index.cdxj --html report.html   the archive in charts
  mementomap serve compact.ukvs                      publish it, with a page
  docs/README.md                                     documentation`);
}

function isShort(uri: string): boolean {
  return uri.length <= SHOWN_URI_COLUMNS;
}

const folder = mkdtempSync(join(tmpdir(), "mementomap-tour-"));
try {
  say(style("bold", "MementoMaps in a minute"));
  say(`
Web archives keep captures of pages. There are many archives, and to find a
page, a client must query all of them, although most do not hold it.
A MementoMap is a small text file that summarizes the holdings of an archive, so
that clients query it only if it may hold the page.`);
  const indexBytes = showIndex(folder);
  showMaps(folder, indexBytes);
  showAnswers(folder, showSavings(folder));
} finally {
  rmSync(folder, { recursive: true });
}
