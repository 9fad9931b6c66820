import { BudgetCompaction } from "../../src/map/compact/budget/budget-compaction.ts";
import type { BudgetCompactionOptions } from "../../src/map/compact/budget/budget-compaction.ts";
import { MissList } from "../../src/map/compact/budget/misses.ts";
import { budgetKernels } from "../../src/map/compact/run/budget-kernels.ts";
import { mustEqual, outcomeOfAsync } from "../check.ts";
import { sortedRows } from "../sorted-rows.ts";
import { MAP_SEEDS, MAP_WORDS } from "../map-seeds.ts";
import type { TargetDefinition } from "../target.ts";

const MISSES = ["com,a)/c", "com,a)/a/b/e", "com,b)/y", "org,x)/"];

export const target: TargetDefinition = {
  holds: "with kernels and without, a budget gives the same bytes or the same error",
  // Each input starts a WebAssembly instance or two.
  share: 0.01,
  seeds: () => MAP_SEEDS,
  words: MAP_WORDS,
  async run(input, random) {
    const map = sortedRows(input);
    const part = random.pick([0, 0.2, 0.5, 1]);
    const misses = random.chance(0.5) ? new MissList(MISSES) : undefined;
    const plain = await outcomeOfAsync(() => compacted(map, part, { misses }));
    const kernels = budgetKernels;
    const compiled = await outcomeOfAsync(() => compacted(map, part, { misses, kernels }));
    mustEqual(compiled, plain, "what the kernels write");
  },
};

async function compacted(
  map: Uint8Array,
  part: number,
  options: BudgetCompactionOptions,
): Promise<string> {
  const read = async function* read(): AsyncGenerator<Uint8Array> {
    yield map;
  };
  const compaction = await BudgetCompaction.survey(read, options);
  const maxRows = Math.max(compaction.leastRows, Math.round(part * compaction.rowsRead));
  const blocks: Uint8Array[] = [];
  for await (const block of compaction.write(compaction.plan(maxRows))) blocks.push(block);
  return Buffer.concat(blocks).toString("latin1");
}
