/**
 * Times budgets beside weights, as users run them: the built command line on plain files.
 *
 *     npm run build && npx tsx bench/evaluate-time.ts
 *
 * Of seven runs the least time, because what is more than that is due to other work, and the highest
 * peak.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { generateMap } from "../src/generate/generate-map.ts";
import { sampleIndex } from "../src/study/sample/sample-archive.ts";
import { benchFolder, madeOnce } from "./bench-folder.ts";
import { evaluationSets } from "./evaluate-sets.ts";
import { machine } from "./machine.ts";
import { markdownTable, megabytes } from "./markdown-table.ts";
import type { TimedRun } from "./peers/timed.ts";
import { timed } from "./peers/timed.ts";

const BIN = fileURLToPath(new URL("../dist/cli/bin.js", import.meta.url));
const RUNS = 7;

/** The least time and the highest peak of several runs. */
async function best(
  flags: readonly string[],
  map: string,
  target: string,
): Promise<{ seconds: number; cpuSeconds: number; peakBytes: number }> {
  const runs: TimedRun[] = [];
  for (let i = 0; i < RUNS; i++) {
    runs.push(await timed(process.execPath, [BIN, "compact", "-q", ...flags, map, "-o", target]));
  }
  return {
    seconds: Math.min(...runs.map(({ seconds }) => seconds)),
    cpuSeconds: Math.min(...runs.map(({ cpuSeconds = Number.NaN }) => cpuSeconds)),
    peakBytes: Math.max(...runs.map(({ peakBytes = Number.NaN }) => peakBytes)),
  };
}

function rowCount(map: string): number {
  const text = readFileSync(map);
  let rows = 0;
  for (let at = 0; at < text.length; at = text.indexOf(10, at) + 1) if (text[at] !== 33) rows++;
  return rows;
}

async function sample(folder: string, lines: number): Promise<{ name: string; map: string }> {
  const map = await madeOnce(folder, `sample-${lines}.ukvs`, async (path) => {
    const { bytes } = await generateMap([{ name: "sample", chunks: sampleIndex({ lines }) }]);
    writeFileSync(path, bytes);
  });
  return { name: `sample of ${lines} lines`, map };
}

const folder = await benchFolder();
console.log(`${machine()}\n`);
const sets = await evaluationSets(folder);
const dense = sets.find(({ name }) => name === "dense");
const maps = [
  await sample(folder, 1_000_000),
  await sample(folder, 4_000_000),
  ...(dense === undefined ? [] : [{ name: "dense", map: dense.truth }]),
];
const target = `${folder}/timed.ukvs`;
const rows: string[][] = [];
for (const { name, map } of maps) {
  const keys = rowCount(map);
  const trained = name === "dense" && dense?.misses !== undefined ? dense.misses : undefined;
  const variants: (readonly [string, readonly string[]])[] = [
    ["weights 4/2, one thread", ["--threads", "1"]],
    ["budget 1.5 %", ["--relative-cost", "1.5%"]],
  ];
  if (trained !== undefined) {
    variants.push(["budget 1.5 %, trained", ["--relative-cost", "1.5%", "--misses", trained]]);
  }
  for (const [label, flags] of variants) {
    const { seconds, cpuSeconds, peakBytes } = await best(flags, map, target);
    rows.push([
      name,
      label,
      String(keys),
      seconds.toFixed(2),
      cpuSeconds.toFixed(2),
      (keys / seconds / 1e6).toFixed(2),
      megabytes(peakBytes),
    ]);
  }
}
const head = ["map", "by", "keys", "wall s", "cpu s", "M keys/s", "peak"];
console.log(markdownTable(head, rows, 2));
