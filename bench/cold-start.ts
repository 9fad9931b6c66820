/**
 * Draws docs/cold-start.svg: which share of requests is spared as an aggregator learns, from its first lookup on.
 *
 *     npx tsx bench/cold-start.ts [LOOKUPS.tsv]
 *
 * Runs `mementomap simulate` on links in posts of members of Congress, or on the lookups of a file, with the models of 14
 * archives, for four promises; prints what was promised and what was kept.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { sharedData } from "../test/support/shared-data.ts";
import { benchFolder, madeOnce } from "./bench-folder.ts";
import { markdownTable } from "./markdown-table.ts";
import { mementomap } from "./peers/mementomap.ts";
import { chartSvg } from "./svg-chart.ts";

const RECALLS = ["0.9", "0.95", "0.98", "0.995"];
const LOOKUPS = 200_000;
/** What is kept is counted after as many different originals. */
const FROM = "50000";

interface Counted {
  readonly requests: number;
  readonly broadcast: number;
  readonly hits: number;
  readonly keptHits: number;
  readonly mementos: number;
  readonly keptMementos: number;
}

interface Simulation {
  readonly policies: readonly {
    readonly policy: string;
    readonly total: Counted;
    readonly parts: readonly (Counted & { readonly until: number })[];
  }[];
}

const folder = await benchFolder();
const lookups =
  process.argv[2] ??
  (await madeOnce(folder, "cold-start.tsv", async (path) => {
    const packed = sharedData("congress-a.lookups.tsv.gz");
    if (packed === undefined) throw new Error("name a file of lookups: the real ones are not here");
    const lines = gunzipSync(readFileSync(packed)).toString().split("\n").slice(0, LOOKUPS);
    writeFileSync(path, `${lines.join("\n")}\n`);
  }));
const result = join(folder, "cold-start.json");
const stream = ["--archives", "paper", "--lookups", lookups, "--from", FROM];
const chosen = ["--policy", "learner", "--policy", "oracle"];
const promises = RECALLS.flatMap((recall) => ["--recall", recall]);
const output = ["--json", "-q", "--force", "-o", result];
await mementomap("simulate", ...stream, ...chosen, ...promises, ...output);
const { policies } = JSON.parse(readFileSync(result, "utf8")) as Simulation; // what simulate writes
const spared = ({ requests, broadcast }: Counted): number => 1 - requests / broadcast;
const svg = chartSvg("Requests spared while an aggregator learns", {
  x: { name: "lookups", isLog: true },
  y: { name: "requests spared", text: (share: number) => `${Math.round(100 * share)} %` },
  series: policies.map(({ policy, parts }) => ({
    name: policy.replace("learner", "--recall"),
    points: parts.map((part) => ({ x: part.until, y: spared(part) })),
  })),
});
writeFileSync(fileURLToPath(new URL("../docs/cold-start.svg", import.meta.url)), svg);
const rows = policies.map(({ policy, total }) => [
  policy,
  `${(100 * spared(total)).toFixed(1)} %`,
  (total.keptHits / total.hits).toFixed(4),
  (total.keptMementos / total.mementos).toFixed(4),
]);
console.log(markdownTable(["", "spared", "archives kept", "mementos kept"], rows));
