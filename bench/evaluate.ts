/**
 * Makes the tables of docs/evaluation.md: how well maps of one size answer lookups, by budget, by
 * weights, and packed. `frontier.ts` compares them with Bloom filters.
 *
 *     npx tsx bench/evaluate.ts [NAME...]
 *
 * A NAME picks the sets whose names begin with it.
 */
import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { compactFileToBudget } from "../src/compact/budget-files.ts";
import { packMap } from "../src/pack/pack-files.ts";
import { compactMap } from "../src/compact/compact-map.ts";
import type { Evaluation } from "../src/study/evaluate/evaluation.ts";
import { evaluateFiles } from "../src/study/evaluate/evaluate-files.ts";
import { withMapOutput } from "../src/maps/map-output.ts";
import { withOutput } from "../src/files/output-file.ts";
import { benchFolder } from "./bench-folder.ts";
import type { EvaluationSet } from "./evaluate-sets.ts";
import { evaluationSets } from "./evaluate-sets.ts";
import { markdownTable } from "./markdown-table.ts";

const io = { stdin: process.stdin, stdout: process.stdout };

async function made(
  set: EvaluationSet,
  folder: string,
): Promise<{ path: string; label: string }[]> {
  const maps: { path: string; label: string }[] = [];
  for (const size of set.sizes) {
    const budget =
      typeof size === "number"
        ? { maxLines: size }
        : { relativeCost: Number.parseFloat(size) / 100 };
    const variants = [
      { label: "budget", misses: undefined, allowsExclusions: true },
      ...(set.misses === undefined
        ? []
        : [
            { label: "budget, trained", misses: set.misses, allowsExclusions: true },
            { label: "the same, no exclusions", misses: set.misses, allowsExclusions: false },
          ]),
    ];
    for (const { label, misses, allowsExclusions } of variants) {
      const path = join(folder, `made-${maps.length}.ukvs`);
      await withMapOutput(path, io, (output) =>
        compactFileToBudget(set.truth, output, { budget, misses, allowsExclusions, streams: io }),
      );
      maps.push({ path, label: `${label}, ${size}${typeof size === "number" ? " lines" : ""}` });
    }
  }
  for (const [hostWeight, pathWeight] of [
    [4, 2],
    [4, 1],
  ] as const) {
    const path = join(folder, `made-${maps.length}.ukvs`);
    await withOutput(path, io, async (output) => {
      const chunks = createReadStream(set.truth, { highWaterMark: 1 << 20 });
      for await (const block of compactMap(chunks, { hostWeight, pathWeight })) {
        await output.write(block);
      }
    });
    maps.push({ path, label: `weights ${hostWeight}/${pathWeight}` });
  }
  for (const maxBytes of set.packedBytes ?? []) {
    for (const misses of set.misses === undefined ? [undefined] : [undefined, set.misses]) {
      const path = join(folder, `made-${maps.length}.packed`);
      await writeFile(path, (await packMap(set.truth, { maxBytes, misses, streams: io })).file);
      maps.push({ path, label: `packed, ${misses === undefined ? "" : "trained, "}${maxBytes} B` });
    }
  }
  return maps;
}

async function table(set: EvaluationSet, folder: string): Promise<string> {
  const maps = await made(set, folder);
  const paths = maps.map(({ path }) => path);
  const { all } = await evaluateFiles(paths, { ...set, streams: io });
  const label = (evaluation: Evaluation): string =>
    maps.find(({ path }) => path === evaluation.map)?.label ?? evaluation.map;
  const rows = all.map((row) => [
    label(row),
    String(row.lines),
    `${(100 * row.relativeCost).toFixed(2)} %`,
    (row.gzipBytes / 1000).toFixed(1),
    accuracyText(row.accuracy),
    accuracyText(row.heldHosts.keys.accuracy),
    row.recall.toFixed(4),
    row.freshness === null ? "–" : row.freshness.toFixed(3),
  ]);
  const head = ["map", "lines", "cost", "gzip kB", "accuracy", "held hosts", "recall", "unseen"];
  const [first] = all;
  const held = first.truePositives + first.falseNegatives;
  return [
    `### ${set.name}`,
    "",
    `${first.lookups} lookups (unique keys), ${held} of them held, ${first.heldHosts.keys.lookups} on held hosts.`,
    "",
    markdownTable(head, rows),
    "",
  ].join("\n");
}

function accuracyText(accuracy: number | null): string {
  return accuracy === null ? "–" : accuracy.toFixed(4);
}

const folder = await benchFolder();
const wanted = process.argv.slice(2);
for (const set of await evaluationSets(folder)) {
  if (wanted.length > 0 && !wanted.some((name) => set.name.startsWith(name))) continue;
  console.log(await table(set, folder));
}
