// How quickly parts of a large map are listed, while the map stays on disk, and what that takes.
//
//   npx tsx --expose-gc bench/explore.ts [--lines 22000000] [--map FILE]
//
// The map is generated of a sample archive, with about 5 million rows of 22 million captures. Walks down
// the tree from the root as a reader would, in both orders, over several pages, with three levels at once
// and with a search, at each of the largest nodes; then through nodes at random. Times are those of the slowest and of the median slice.
import { rm, stat } from "node:fs/promises";
import { parseArgs } from "node:util";
import { FileSource } from "../src/files/input-file.ts";
import { MapExplorer } from "../src/maps/explore/map-explorer.ts";
import type { MapSlice } from "../src/maps/explore/map-slice.ts";
import { benchFolder, madeOnce } from "./bench-folder.ts";
import { machine } from "./machine.ts";
import { markdownTable } from "./markdown-table.ts";
import { mementomap } from "./peers/mementomap.ts";
import { sampleIndex } from "./corpus.ts";

const { values } = parseArgs({
  options: { lines: { type: "string", default: "22000000" }, map: { type: "string" } },
});
const folder = await benchFolder();
const path =
  values.map ??
  (await madeOnce(folder, `explore-${values.lines}.ukvs`, async (target) => {
    const index = await sampleIndex(folder, Number(values.lines));
    await mementomap("generate", "-q", index, "-o", target);
    await rm(index);
  }));

const memory = (): number => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

/** Runs something, and tells the time on the clock and that of the processor. */
async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; cpuMs: number; result: T }> {
  const start = performance.now();
  const cpu = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.now() - start, cpuMs: (user + system) / 1000, result };
}

const before = memory();
const source = await FileSource.open(path);
const opened = await timed(() => MapExplorer.open(source));
const explorer = opened.result;
const prepared = await timed(() => explorer.prepare());
const held = memory() - before;

interface Visit {
  readonly what: string;
  readonly ms: number;
  readonly cpuMs: number;
}
const visits: Visit[] = [];

async function visit(
  what: string,
  options: Parameters<MapExplorer["slice"]>[0],
): Promise<MapSlice> {
  const { ms, cpuMs, result } = await timed(() => explorer.slice(options));
  visits.push({ what, ms, cpuMs });
  return result;
}

/** Looks at a node as the explorer does: both orders, the next pages, then its largest children. */
async function walk(prefix: string, depth: number): Promise<void> {
  const first = await visit("by captures", { prefix });
  let { next } = first;
  for (let page = 0; next !== null && page < 7; page++) {
    ({ next } = await visit("by captures, next pages", { prefix, from: next }));
  }
  ({ next } = await visit("by key", { prefix, sort: "key" }));
  for (let page = 0; next !== null && page < 3; page++) {
    ({ next } = await visit("by key, next pages", { prefix, sort: "key", from: next }));
  }
  await visit("three levels", { prefix, depth: 3, limit: 300 });
  await visit("search", { prefix, search: "news", limit: 50 });
  if (depth === 0) return;
  const below = first.children.filter(({ hasChildren }) => hasChildren);
  for (const child of below.slice(0, 4)) await walk(child.prefix, depth - 1);
}

await walk("", 4);
let name = "";
for (let i = 0, random = 1; i < 2000; i++) {
  const { children } = await visit("at random", { prefix: name });
  random = (random * 48_271) % 2_147_483_647;
  const below = children.filter(({ hasChildren }) => hasChildren);
  name = below.length === 0 ? "" : (below[random % below.length]?.prefix ?? "");
}

const root = await explorer.slice();
const rows = [...new Set(visits.map(({ what }) => what))].map((what) => {
  const list = visits.filter((one) => one.what === what);
  const at = (share: number, of: (one: Visit) => number): string => {
    const times = list.map((one) => of(one)).toSorted((x, y) => x - y);
    return `${(times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(1)} ms`;
  };
  const [clock, cpu] = [({ ms }: Visit) => ms, ({ cpuMs }: Visit) => cpuMs];
  return [what, String(list.length), at(0.5, clock), at(0.99, clock), at(1, clock), at(1, cpu)];
});
console.log(machine());
console.log(
  `\n${root.rows.toLocaleString("en")} rows, ${((await stat(path)).size / 1e6).toFixed(0)} MB: read in ${(opened.ms / 1000).toFixed(1)} s, ranked in ${(prepared.ms / 1000).toFixed(1)} s, ${(held / 1e6).toFixed(1)} MB held\n`,
);
console.log(
  markdownTable(["slices", "count", "median", "99 %", "slowest", "most of the processor"], rows),
);
await source.close();
