// Lookups a second for fourteen archives at once, beside asking the map of each, and what it costs.
//
//   npx tsx --expose-gc bench/route.ts
//
// The archives are samples of different seeds, with 100,000 keys each; of the lookups 5 % are held by
// one of them. Maps are asked as generated, and compacted. Fails where the answers differ.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { compactMap } from "../src/compact/compact-map.ts";
import { MemoryIndex } from "../src/lookup/memory-index.ts";
import { readMap } from "../src/aggregate/route/read-map.ts";
import { withTempDir } from "../src/files/scratch.ts";
import { parseArchiveList } from "../src/aggregate/route/archive.ts";
import { MapRouter } from "../src/aggregate/route/map-router.ts";
import { sampleIndex } from "../src/study/sample/sample-archive.ts";
import { sampleLookups } from "../src/study/sample/sample-lookups.ts";
import { machine } from "./machine.ts";
import { markdownTable } from "./markdown-table.ts";

const ARCHIVES = 14;
const KEYS = 100_000;
const LINES = 450_000;
const LOOKUPS = 5000;
const RUNS = 7;
const encoder = new TextEncoder();

/** The first keys of a sample archive, spread over all of it, as a map. */
function sampleMap(seed: number): Uint8Array {
  const keys = new Map<string, number>();
  const text = Buffer.concat([...sampleIndex({ lines: LINES, seed })]).toString("latin1");
  for (const line of text.split("\n")) {
    const [key] = line.slice(0, line.indexOf(" ")).split("?");
    if (key !== "") keys.set(key, (keys.get(key) ?? 0) + 1);
  }
  const all = Array.from(keys, ([key, mementos]) => `${key} ${mementos}/1\n`);
  const chosen = all.filter((_, i) => (i * KEYS) % all.length < KEYS).slice(0, KEYS);
  return encoder.encode(chosen.sort((a, b) => (a < b ? -1 : 1)).join(""));
}

async function compacted(map: Uint8Array): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of compactMap([map])) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Nanoseconds a lookup, the best of several runs. */
function time(count: number, pass: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) {
    const start = performance.now();
    pass();
    best = Math.min(best, performance.now() - start);
  }
  return (best * 1e6) / count;
}

/** The longest time that nothing else could be done while something was. */
async function longestPause(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  const finished = work.finally(() => {
    isDone = true;
  });
  let longest = 0;
  let last = performance.now();
  while (!isDone) {
    await setImmediate();
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }
  await finished;
  return longest;
}

async function measured(
  name: string,
  maps: readonly Uint8Array[],
  uris: readonly string[],
): Promise<string[]> {
  const indexes = maps.map((map) => MemoryIndex.build(map));
  const entries = maps.map((_, i) => ({
    id: `a${i}`,
    timemap: "http://a/",
    timegate: "http://a/",
  }));
  const router = new MapRouter(parseArchiveList(JSON.stringify(entries), "bench"));
  const routed = new Map(indexes.map((index, i) => [`a${i}`, { index, updatedAt: undefined }]));
  router.replaceMaps(routed);
  const routeNs = time(uris.length, () => {
    for (const uri of uris) router.route({ uri });
  });
  const mapBytes = maps.reduce((sum, { length }) => sum + length, 0);
  const keys = indexes.reduce((sum, { keyCount }) => sum + keyCount, 0);
  return [
    name,
    keys.toLocaleString("en"),
    `${(routeNs / 1000).toFixed(2)} µs`,
    `${(mapBytes / 1e6).toFixed(1)} MB`,
  ];
}

console.log(`${machine()}\n`);
const maps = Array.from({ length: ARCHIVES }, (_, i) => sampleMap(i + 1));
const uris = maps.flatMap((_, i) => [
  ...sampleLookups({ lines: LINES, seed: i + 1, count: LOOKUPS }),
]);
const small = await Promise.all(maps.map(compacted));
const head = "maps|keys|route()|bytes of maps";
const rows = [await measured("as generated", maps, uris), await measured("compacted", small, uris)];
console.log(markdownTable(head.split("|"), rows));

const lines = new Set(maps.flatMap((map) => Buffer.from(map).toString().split("\n").slice(0, -1)));
const keysOf = (line: string): string => line.slice(0, line.indexOf(" "));
const merged = [...new Map(Array.from(lines, (line) => [keysOf(line), line])).values()];
const large = `${merged.sort((a, b) => (keysOf(a) < keysOf(b) ? -1 : 1)).join("\n")}\n`;
await withTempDir({}, async (folder) => {
  const path = join(folder, "large.ukvs");
  await writeFile(path, large);
  const start = performance.now();
  const pauseMs = await longestPause(readMap(path));
  const seconds = (performance.now() - start) / 1000;
  console.log(
    `\nReading, checking and indexing a map of ${(large.length / 1e6).toFixed(0)} MB: ` +
      `${seconds.toFixed(1)} s, longest pause ${pauseMs.toFixed(1)} ms`,
  );
});
