/**
 * Draws docs/cold-start.svg: which share of requests is saved as an aggregator learns, from its first lookup on.
 *
 *     npx tsx bench/cold-start.ts [LOOKUPS.tsv]
 *
 * Runs the policies of `mementomap simulate` on links in posts of members of Congress, or on the lookups of a file, with
 * the models of 14 archives, for four promises; prints what was promised and what was kept.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { sharedData } from "../test/support/shared-data.ts";
import { readLookups } from "../src/study/simulate/lookup-stream.ts";
import { type PolicyCounts, simulate } from "../src/study/simulate/run-policies.ts";
import { paperArchives } from "./aggregate/model-archive.ts";
import { benchFolder, madeOnce } from "./bench-folder.ts";
import { markdownTable } from "./markdown-table.ts";
import { lineChart } from "../src/page/chart/line-chart.ts";
import { svgFile } from "../src/page/chart/svg-file.ts";

const RECALLS = [0.9, 0.95, 0.98, 0.995];
const LOOKUPS = 200_000;
/** What is kept is counted after as many different originals. */
const FROM = 50_000;
const SEED = 1;

const folder = await benchFolder();
const lookups =
  process.argv[2] ??
  (await madeOnce(folder, "cold-start.tsv", async (path) => {
    const packed = sharedData("congress-a.lookups.tsv.gz");
    if (packed === undefined) throw new Error("name a file of lookups: the real ones are not here");
    const lines = gunzipSync(readFileSync(packed)).toString().split("\n").slice(0, LOOKUPS);
    writeFileSync(path, `${lines.join("\n")}\n`);
  }));
const stream = await readLookups(lookups, { stdin: process.stdin });
const policies = await simulate({
  stream,
  archives: paperArchives(stream, SEED),
  policies: ["learner", "oracle"],
  recalls: RECALLS,
  from: FROM,
  seed: SEED,
  streams: { stdin: process.stdin },
});
const spared = ({ requests, broadcast }: PolicyCounts): number => 1 - requests / broadcast;
const chart = lineChart({
  x: { name: "lookups", isLog: true },
  y: { name: "requests saved", text: (share: number) => `${Math.round(100 * share)} %` },
  series: policies.map(({ policy, parts }) => ({
    name: policy.replace("learner", "--recall"),
    points: parts.map((part) => ({ x: part.until, y: spared(part) })),
  })),
});
const svg = svgFile(chart, "Requests saved while an aggregator learns");
writeFileSync(fileURLToPath(new URL("../docs/cold-start.svg", import.meta.url)), svg);
const rows = policies.map(({ policy, total }) => [
  policy,
  `${(100 * spared(total)).toFixed(1)} %`,
  (total.keptHits / total.hits).toFixed(4),
  (total.keptMementos / total.mementos).toFixed(4),
]);
console.log(markdownTable(["", "saved", "archives kept", "mementos kept"], rows));
