/**
 * What does a day's crawl cost to publish? `npx tsx bench/packed-deltas.ts MAP [SHARE…]`
 *
 * Takes a map of text, sorted. Its rows come to it at random over eight days, a share of them (0.001 and
 * 0.01 by default) each day; on the first day all others are there. Packs the first day whole, and what
 * is new each day as a delta. States the bytes, and how many pages that are not held the last day's files
 * call present: the rows of the map, with another name.
 *
 *   npx tsx bench/packed-deltas.ts --posts FILE DAY
 *
 * The same for real days: FILE has a time and a URI on each line, DAY is the first day.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { Random } from "../src/bytes/random.ts";
import { generateMap } from "../src/map/generate/generate-map.ts";
import { PackedLookup } from "../src/map/lookup/packed-lookup.ts";
import { packDelta } from "../src/map/pack/pack-delta.ts";
import { packMap } from "../src/map/pack/pack-files.ts";
import { OUTCOME } from "../src/packed/packed-map.ts";
import { joinBytes } from "../src/bytes/bytes.ts";
import { machine } from "./machine.ts";

const DAYS = 7;
const MAX_ASKED = 200_000;
const opened = new WeakMap<Uint8Array, PackedLookup>();
const streams = { stdin: process.stdin };
const folder = mkdtempSync(join(tmpdir(), "packed-deltas-"));

try {
  console.log(`${machine()}\n`);
  console.log(
    "| rows | new each day | text, gzip | whole | delta | share | a week, whole | with deltas |",
  );
  console.log("|---:|---:|---:|---:|---:|---:|---:|---:|");
  const [first, ...rest] = process.argv.slice(2);
  if (first === undefined) throw new Error("name a map, or --posts FILE DAY");
  if (first === "--posts") await measure(await postMaps(rest[0], rest[1]));
  else {
    for (const share of rest.length > 0 ? rest.map(Number) : [0.001, 0.01]) {
      await measure(randomMaps(first, share));
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}

/** The map as it is on each day, by rows that come at random. */
function randomMaps(path: string, share: number): string[] {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const head = lines.filter((line) => line.startsWith("!") && !line.startsWith("!size"));
  const random = new Random(1, String(share));
  const rows = lines
    .filter((line) => !line.startsWith("!"))
    .map((line) => ({ line, day: Math.max(0, DAYS - Math.floor(random.real() / share)) }));
  return Array.from({ length: DAYS + 1 }, (_, day) =>
    dayFile(day, [...head, ...rows.filter((row) => row.day <= day).map(({ line }) => line)]),
  );
}

/** The map of all URIs up to each day. */
async function postMaps(path: string, first: string): Promise<string[]> {
  const stored = readFileSync(path);
  const text = (path.endsWith(".gz") ? gunzipSync(stored) : stored).toString();
  const posts = text
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t"));
  const paths: string[] = [];
  for (let day = 0; day <= DAYS; day++) {
    const until = new Date(Date.parse(first) + (day + 1) * 86_400_000).toISOString();
    const uris = posts.filter(([time]) => time < until).map(([, uri]) => `${uri}\n`);
    const chunks = [Buffer.from(uris.join(""))];
    const { bytes } = await generateMap([{ name: path, chunks }], { format: "urls" });
    paths.push(dayFile(day, [Buffer.from(bytes).toString().trimEnd()]));
  }
  return paths;
}

function dayFile(day: number, lines: readonly string[]): string {
  const path = join(folder, `day-${day}.ukvs`);
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

async function measure(maps: readonly string[]): Promise<void> {
  let chain = (await packMap(maps[0], { streams })).file;
  const whole = chain.length;
  const deltas: number[] = [];
  const added: number[] = [];
  for (const map of maps.slice(1)) {
    const made = await packDelta(map, { bytes: chain, source: "chain" }, { streams });
    if (made.position === undefined || made.file === undefined) throw new Error(made.reason);
    chain = joinBytes([chain, made.file]);
    deltas.push(made.file.length);
    added.push(made.summary?.rows ?? 0);
  }
  const last = maps[maps.length - 1];
  const again = (await packMap(last, { streams, maxBytes: whole })).file;
  const text = readFileSync(last);
  const keys = keysOf(text);
  const delta = mean(deltas);
  console.log(
    `| ${keys.length} | ${Math.round(mean(added))} | ${bytes(gzipSync(text).length)} ` +
      `| ${bytes(whole)} | ${bytes(delta)} | ${((100 * delta) / whole).toFixed(1)} % ` +
      `| ${bytes(DAYS * whole)} | ${bytes(DAYS * delta)} |`,
  );
  const lost = keys.filter((key) => !says(chain, key)).length;
  const asked = keys.slice(0, MAX_ASKED).map((key) => `${key}-not-held`);
  const wrong = (file: Uint8Array): string =>
    `${((100 * asked.filter((key) => says(file, key)).length) / asked.length).toFixed(2)} %`;
  console.error(
    `held and not found: ${lost}; mistaken: ${wrong(chain)} with deltas, ${wrong(again)} whole`,
  );
}

function says(file: Uint8Array, key: string): boolean {
  const map = opened.get(file) ?? PackedLookup.of(file, "file");
  opened.set(file, map);
  return map.findSurt(Buffer.from(key)) === OUTCOME.present;
}

function keysOf(map: Buffer): string[] {
  const lines = map.toString().trimEnd().split("\n");
  return lines.filter((line) => !line.startsWith("!")).map((line) => line.split(" ", 1)[0]);
}

function bytes(count: number): string {
  return `${(count / 1000).toFixed(1)} kB`;
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
