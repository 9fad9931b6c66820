import { MapLines } from "../../src/compact/map-lines.ts";
import { openCompactor } from "../../src/compact/tree-order.ts";
import { WeightPolicy } from "../../src/compact/weight-policy.ts";
import { mustEqual, outcomeOf } from "../check.ts";
import { MAP_SEEDS, MAP_WORDS } from "../map-seeds.ts";
import { sortedRows } from "../sorted-rows.ts";
import type { TargetDefinition } from "../target.ts";

const WEIGHTS = [
  { hostWeight: 4, pathWeight: 2 },
  { hostWeight: 0.1, pathWeight: 0.1 },
];

/** Rows of a map, in order, as if they were a whole file. */
export const target: TargetDefinition = {
  holds: "pages that are leaves give the same bytes as pages that have nodes",
  seeds: () => MAP_SEEDS.map((map) => map.replaceAll(/^[!@\uFEFF].*\n/gm, "")),
  words: MAP_WORDS,
  run(input, random) {
    const rows = sortedRows(input);
    const policy = new WeightPolicy(random.pick(WEIGHTS));
    const leaves = outcomeOf(() => compacted(rows, policy, true));
    mustEqual(
      leaves,
      outcomeOf(() => compacted(rows, policy, false)),
      "what is written",
    );
  },
};

function compacted(rows: Uint8Array, policy: WeightPolicy, hasLeaves: boolean): string {
  const fields = { keys: ["surt"], values: ["frequency"] };
  const blocks: Uint8Array[] = [];
  const write = (bytes: Uint8Array): void => void blocks.push(bytes.slice());
  const compactor = openCompactor(policy, write, { fields });
  const withNodes = {
    add: (row: Parameters<typeof compactor.add>[0]) =>
      compactor.add({ ...row, shared: -1, count: 0 }),
  };
  new MapLines(hasLeaves ? compactor : withNodes, fields, "map", 1).read(rows);
  compactor.end();
  return Buffer.concat(blocks).toString();
}
