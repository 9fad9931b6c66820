// Checks that regular expressions in src and page take linear time on hostile text: by static analysis, and by
// running them, because the analysis misses overlaps of two adjacent repetitions.
//
//   npm run lint
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createContext, Script } from "node:vm";
import { parseAst } from "rolldown/parseAst";
import { analyse } from "scslre";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Superlinear patterns whose input is short, with its limit. */
const LIMITED: Readonly<Record<string, string>> = {
  "src/format.ts": "the digits of a number",
  "src/http/router.ts": "our own table of routes",
  "src/input/detect.ts": "the first 4,096 characters of a line",
  "src/input/line-kind.ts": "the first 4,096 characters of a line",
  "src/aggregate/service/request.ts": "headers of at most 1,024 characters",
};

interface Pattern {
  readonly source: string;
  readonly flags: string;
}

/** The regular expression literals of a file. Patterns built from strings are not found: use literals. */
function readPatterns(path: string): Pattern[] {
  const found: Pattern[] = [];
  const text = readFileSync(join(ROOT, path), "utf8");
  JSON.stringify(parseAst(text, { lang: path.endsWith("x") ? "tsx" : "ts" }), (_, node) => {
    if (typeof node === "bigint") return null;
    const { regex } = (node ?? {}) as { regex?: { pattern: string; flags: string } };
    if (regex !== undefined) found.push({ source: regex.pattern, flags: regex.flags });
    return node as unknown;
  });
  return found;
}

const TEXT_LENGTH = 24_000;
/** Linear patterns take less than a millisecond; quadratic ones 50 and more. */
const MAX_MS = 20;
const COMMON = [
  " ",
  "\t",
  "a",
  "0",
  "/",
  ",",
  ";",
  '"',
  "\\",
  '\\"',
  "<",
  "(",
  "[",
  "a ",
  "a.",
  "a,",
  "%25",
  "://",
];

/** Adversarial inputs: repetitions of the literals of a pattern and of common texts, after its literals. */
function* hostileTexts(source: string): Generator<string, void, undefined> {
  const plain = source.replaceAll(/\\[a-z]/gi, "*").replaceAll("\\", "");
  const own = plain.match(/[^()[\]{}*+?.|^$]+/g) ?? [];
  const pairs = own.slice(1).map((text, i) => own[i] + text);
  for (const start of new Set(["", ...own.slice(0, 4)])) {
    for (const unit of new Set([...own, ...pairs, ...COMMON])) {
      yield `${start}${unit.repeat(TEXT_LENGTH / unit.length)}\v`;
    }
  }
}

const sandbox = createContext({});
const test = new Script("pattern.test(text)");

/** The first input that a pattern takes too long for, if any. */
function slowText({ source, flags }: Pattern): string | undefined {
  sandbox["pattern"] = new RegExp(source, flags.replaceAll(/[gy]/g, ""));
  for (const text of hostileTexts(source)) {
    sandbox["text"] = text;
    // Garbage collection takes processor time, too, but not three times in a row.
    if ([1, 2, 3].every(() => isSlow())) return text;
  }
  return undefined;
}

function isSlow(): boolean {
  const before = process.cpuUsage();
  try {
    test.runInContext(sandbox, { timeout: 2000 });
  } catch {
    return true;
  }
  return process.cpuUsage(before).user > MAX_MS * 1000;
}

const paths = ["src", "page"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${folder}/${name}`),
);
let count = 0;
const errors: string[] = [];
const unused = new Set(Object.keys(LIMITED));
for (const path of paths) {
  for (const pattern of readPatterns(path)) {
    count += 1;
    const { reports } = analyse(pattern);
    if (path in LIMITED) {
      if (reports.length > 0) unused.delete(path);
      continue;
    }
    const slow = reports.length > 0 ? "some text" : slowText(pattern);
    if (slow === undefined) continue;
    const text = JSON.stringify(slow.slice(0, 40));
    errors.push(
      `${path}: /${pattern.source}/${pattern.flags} takes more than linear time on ${text}`,
    );
  }
}
for (const path of unused)
  errors.push(`${path}: no superlinear pattern left; remove its exception`);
for (const error of errors) process.stderr.write(`${error}\n`);
process.stdout.write(`${count} patterns, ${errors.length} errors\n`);
process.exitCode = errors.length === 0 ? 0 : 1;
