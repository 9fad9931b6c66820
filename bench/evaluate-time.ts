/**
 * Times budgets beside weights, as users run them: the built command line on plain files.
 *
 *     npm run build && npx tsx bench/evaluate-time.ts
 *
 * The best of three runs, because the machine may have other things to do.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { generateMap } from "../src/generate/generate-map.ts";
import { sampleIndex } from "../src/sample/sample-archive.ts";
import { benchFolder, madeOnce } from "./bench-folder.ts";
import { evaluationSets } from "./evaluate-sets.ts";
import { machine } from "./machine.ts";
import { markdownTable } from "./markdown-table.ts";

const BIN = fileURLToPath(new URL("../dist/cli/bin.js", import.meta.url));
const RUNS = 3;

interface Figures {
  readonly rowsRead: number;
  readonly seconds: number;
  readonly peakMemoryBytes: number;
}

function best(flags: readonly string[], map: string, target: string): Figures {
  const runs = Array.from({ length: RUNS }, () => {
    const { stderr, status } = spawnSync(
      process.execPath,
      [BIN, "compact", "--json", ...flags, map, "-o", target],
      { encoding: "utf8" },
    );
    if (status !== 0) throw new Error(stderr);
    // The summary of compact --json has these members.
    return JSON.parse(stderr) as Figures;
  });
  return runs.toSorted((a, b) => a.seconds - b.seconds)[0];
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
const rows = maps.flatMap(({ name, map }) => {
  const variants: [string, string[]][] = [
    ["weights 4/2, one thread", ["--threads", "1"]],
    ["weights 4/2, all threads", []],
    ["budget 1.5 %", ["--relative-cost", "1.5%"]],
    ...(name === "dense" && dense?.misses !== undefined
      ? [
          ["budget 1.5 %, trained", ["--relative-cost", "1.5%", "--misses", dense.misses]] as [
            string,
            string[],
          ],
        ]
      : []),
  ];
  return variants.map(([label, flags]) => {
    const { rowsRead, seconds, peakMemoryBytes } = best(flags, map, target);
    return [
      name,
      label,
      String(rowsRead),
      seconds.toFixed(2),
      (rowsRead / seconds / 1e6).toFixed(2),
      String(Math.round(peakMemoryBytes / 1e6)),
    ];
  });
});
console.log(markdownTable(["map", "by", "keys", "seconds", "M keys/s", "peak MB"], rows, 2));
