import fc from "fast-check";
import { describe, expect, it } from "vitest";
// The kernels exist only in the build.
import { BudgetCompaction } from "../../../src/map/compact/budget/budget-compaction.ts";
import { budgetKernels } from "../../../src/map/compact/run/budget-kernels.ts";
import type { BudgetCompactionOptions } from "../../../src/map/compact/budget/budget-compaction.ts";
import { MissList } from "../../../src/map/compact/budget/misses.ts";
import { key } from "./compaction-arbitraries.ts";
import { byBytes } from "../../support/compaction-oracle.ts";
import { isPlainKey } from "../../support/plain-key.ts";

const plainKey = key.filter(isPlainKey);
const page = plainKey.filter((text) => text.includes(")/") && !text.includes("*"));

async function compacted(
  map: Uint8Array,
  share: number,
  options: BudgetCompactionOptions,
): Promise<string> {
  const read = async function* read(): AsyncGenerator<Uint8Array> {
    yield map;
  };
  const compaction = await BudgetCompaction.survey(read, options);
  const maxRows = Math.max(compaction.leastRows, Math.round(share * compaction.rowsRead));
  const blocks: Uint8Array[] = [];
  for await (const block of compaction.write(compaction.plan(maxRows))) blocks.push(block);
  return Buffer.concat(blocks).toString();
}

describe("the kernels of budgets", () => {
  it("give the bytes that TypeScript gives, for any map, budget and misses", async () => {
    const someKey = fc.oneof({ weight: 200, arbitrary: plainKey }, key);
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(someKey, { minLength: 1, maxLength: 80 }),
        fc.array(page, { maxLength: 80 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (keys, asked, share) => {
          const rows = keys.map((text) => `${text} 2\n`).sort(byBytes);
          const map = Buffer.from(`!id {"uri":"https://a.org/"}\n${rows.join("")}`);
          const misses = new MissList(asked);
          expect(await compacted(map, share, { misses, kernels: budgetKernels })).toBe(
            await compacted(map, share, { misses }),
          );
        },
      ),
      { numRuns: 300 },
    );
  });
});
