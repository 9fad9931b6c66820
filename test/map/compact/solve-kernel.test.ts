import fc from "fast-check";
import { describe, expect, it } from "vitest";
// The kernel exists only in the build.
import { FIELD, NodeTable } from "../../../src/map/compact/budget/budget-survey.ts";
import { DECISION, solve } from "../../../src/map/compact/budget/solve.ts";
import { openSolver } from "../../../src/map/compact/run/budget-kernels.ts";
import { pushTree, tree } from "./budget/tree-arbitrary.ts";

/** What the records keep of solutions. */
function decisionsOf(table: NodeTable): number[][] {
  const kept: number[][] = [];
  table.forEachPage((page, _, count) => {
    for (let at = 0; at < count; at++) {
      const fields = [FIELD.decision, FIELD.scratch, FIELD.rolledUpRows];
      kept.push(fields.map((field) => page[at + field]));
    }
  });
  return kept;
}

describe("the kernel that solves at a price", () => {
  it("finds what TypeScript finds, to the last bit, at one price after the other", () => {
    fc.assert(
      fc.property(
        fc.array(tree, { minLength: 1, maxLength: 5 }),
        fc.array(fc.double({ min: 0.01, max: 20, noNaN: true }), { minLength: 1 }),
        (trees, prices) => {
          const table = new NodeTable();
          for (const root of trees) pushTree(table, root);
          const solver = openSolver(table);
          if (solver === undefined) throw new Error("the kernel has not been built: npm run build");
          for (const price of [...prices, 2 ** 64, 2 ** -64]) {
            expect(solver(price)).toEqual(solve(table, price));
          }
          for (const decision of [DECISION.below, DECISION.atPrice]) {
            solver(prices[0], decision);
            const kept = decisionsOf(table);
            solve(table, prices[0], undefined, decision);
            expect(kept).toEqual(decisionsOf(table));
          }
        },
      ),
    );
  });
});
