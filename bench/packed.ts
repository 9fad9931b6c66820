/**
 * How fast and how large are packed maps?
 *
 *   npx tsx --expose-gc bench/packed.ts FILE.packed URIS [MAP.ukvs]
 *
 * Looks up the URIs of a list, one a line, in a packed map in memory: as keys in bytes, as strings, and
 * in batches, and by the command line (`npm run build` first). Beside it, in the same run,
 * the map in text that it was made from, if that is given. Then opens the file, and holds it as a router
 * does. One core; processor time or wall time, whichever is less; the best of several rounds.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lineBatches } from "../src/bytes/lines.ts";
import { FileSource } from "../src/files/input-file.ts";
import { withTempDir } from "../src/files/scratch.ts";
import { readMap } from "../src/aggregate/route/read-map.ts";
import { BatchAnswers } from "../src/lookup/batch.ts";
import { hasSurt } from "../src/lookup/map-lookup.ts";
import { MemoryIndex } from "../src/lookup/memory-index.ts";
import { PackedLookup } from "../src/lookup/packed-lookup.ts";
import type { KeySource } from "../src/lookup/source.ts";
import { surtKey } from "../src/surt/key.ts";
import { surt } from "../src/surt/uri-to-surt.ts";
import { machine } from "./machine.ts";
import { markdownTable } from "./markdown-table.ts";
import { mementomap } from "./peers/mementomap.ts";

const ROUNDS = 9;
const CLI_ROUNDS = 3;
const COPIES = 50;
const encoder = new TextEncoder();

const [path, list, textPath] = process.argv.slice(2);
if (path === undefined || list === undefined)
  throw new Error("name a packed map and a list of URIs");
const file = new Uint8Array(readFileSync(path));
const uris = readFileSync(list, "utf8").trimEnd().split("\n");
const map = PackedLookup.of(file, path);
const keys = uris.map((uri) => surtKey(surt(uri), map.header));
const held = keys.filter((key) => isPresent(key));
const absent = keys.filter((key) => !isPresent(key));
const textMap =
  textPath === undefined
    ? undefined
    : MemoryIndex.build(readFileSync(textPath), { source: textPath });

function isPresent(key: string): boolean {
  const bytes = encoder.encode(key);
  return hasSurt(map, bytes, 0, bytes.length);
}

/** Milliseconds, the best of several rounds. */
async function best(run: () => void | Promise<void>, rounds: number = ROUNDS): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < rounds; round++) {
    const usage = process.cpuUsage();
    const start = performance.now();
    await run();
    const { user, system } = process.cpuUsage(usage);
    least = Math.min(least, performance.now() - start, (user + system) / 1000);
  }
  return least;
}

/** Keys one after the other in one array, as a batch has them. */
function joined(texts: readonly string[]): { bytes: Uint8Array; ends: Int32Array } {
  const bytes = encoder.encode(texts.join(""));
  const ends = new Int32Array(texts.length);
  let end = 0;
  texts.forEach((text, i) => (ends[i] = end += text.length));
  return { bytes, ends };
}

async function byBytes(texts: readonly string[]): Promise<number> {
  const { bytes, ends } = joined(texts);
  return best(() => {
    for (let i = 0, start = 0; i < ends.length; start = ends[i++]) {
      hasSurt(map, bytes, start, ends[i]);
    }
  });
}

async function byBytesInText(texts: readonly string[]): Promise<number | undefined> {
  if (textMap === undefined) return undefined;
  const { bytes, ends } = joined(texts);
  const source = textMap;
  return best(() => {
    for (let i = 0, start = 0; i < ends.length; start = ends[i++]) {
      hasSurt(source, bytes, start, ends[i]);
    }
  });
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

async function inBatch(
  texts: readonly string[],
  source: KeySource,
  isSurt: boolean,
): Promise<number> {
  const bytes = encoder.encode(`${texts.join("\n")}\n`);
  return best(async () => {
    const answers = new BatchAnswers(source, { write: () => undefined }, { isSurt });
    for await (const lines of lineBatches(chunksOf(bytes))) await answers.writeLines(lines);
    await answers.flush();
  });
}

/** Milliseconds of the program, less those of looking up one line. */
async function byCli(mapPath: string, folder: string): Promise<number> {
  const one = join(folder, "one.txt");
  writeFileSync(one, `${uris[0]}\n`);
  const run = async (batch: string): Promise<number> => {
    let least = Infinity;
    for (let round = 0; round < CLI_ROUNDS; round++) {
      const answers = join(folder, "answers.tsv");
      const args = ["lookup", mapPath, "--batch", batch, "-q", "-o", answers];
      const { seconds, cpuSeconds = Infinity } = await mementomap(...args);
      least = Math.min(least, seconds, cpuSeconds);
    }
    return 1000 * least;
  };
  return (await run(list)) - (await run(one));
}

type Row = readonly [string, number, number, number | undefined];

function line([what, count, ms, textMs]: Row): string[] {
  return [what, rate(count, ms), rate(count, textMs), ratio(ms, textMs)];
}

function rate(count: number, ms: number | undefined): string {
  return ms === undefined || count === 0 ? "" : (count / ms / 1000).toFixed(2);
}

function ratio(ms: number | undefined, textMs: number | undefined): string {
  return ms === undefined || textMs === undefined ? "" : (textMs / ms).toFixed(2);
}

/** Bytes of memory for each copy that a router holds. */
async function routerBytes(mapPath: string): Promise<number | undefined> {
  const { gc } = globalThis as { readonly gc?: () => void };
  if (gc === undefined) return undefined;
  const used = (): number => {
    gc();
    gc();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  await readMap(mapPath);
  const copies: unknown[] = [];
  const before = used();
  for (let i = 0; i < COPIES; i++) copies.push(await readMap(mapPath));
  return (used() - before) / copies.length;
}

const started = machine();
const rows: Row[] = [
  ["keys in bytes, held", held.length, await byBytes(held), await byBytesInText(held)],
  ["keys in bytes, absent", absent.length, await byBytes(absent), await byBytesInText(absent)],
  [
    "URIs as strings",
    uris.length,
    await best(() => uris.forEach((uri) => map.lookupSync(uri))),
    textMap && (await best(() => uris.forEach((uri) => textMap.lookupSync(uri)))),
  ],
];
for (const [what, texts, isSurt] of [
  ["SURTs in a batch, held", held, true],
  ["SURTs in a batch, absent", absent, true],
  ["URIs in a batch", uris, false],
] as const) {
  const packedMs = await inBatch(texts, map, isSurt);
  const textMs = textMap && (await inBatch(texts, textMap, isSurt));
  rows.push([what, texts.length, packedMs, textMs]);
}
await withTempDir({}, async (folder) => {
  const packedMs = await byCli(path, folder);
  const textMs = textPath === undefined ? undefined : await byCli(textPath, folder);
  rows.push(["lookup --batch, without its start", uris.length, packedMs, textMs]);
});
const openMs = await best(async () => {
  const source = await FileSource.open(path);
  await PackedLookup.open(source);
  await source.close();
});
const memory = file.length < 2 ** 24 ? await routerBytes(path) : undefined;

console.log(`${started}; best of ${ROUNDS} rounds (${CLI_ROUNDS} of the program).\n`);
console.log(`${uris.length} lookups, ${held.length} present, in ${file.length} bytes.\n`);
console.log(markdownTable(["million lookups/s", "packed", "map in text", "ratio"], rows.map(line)));
console.log(`\nopening the file: ${openMs.toFixed(2)} ms`);
if (memory !== undefined) {
  const share = (memory / file.length).toFixed(3);
  console.log(`in a router: ${Math.round(memory)} bytes, ${share} of the file`);
}
