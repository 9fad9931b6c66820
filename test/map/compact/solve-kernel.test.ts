import fc from "fast-check";
import { describe, expect, it } from "vitest";
// The kernel exists only in the build.
import { NodeTable } from "../../../src/map/compact/budget/budget-survey.ts";
import { solve } from "../../../src/map/compact/budget/solve.ts";
import { openSolver } from "../../../src/map/compact/run/budget-kernels.ts";
import { pushTree, tree } from "./budget/tree-arbitrary.ts";

describe("the kernel that solves at a price", () => {
  it("finds what TypeScript finds, to the last bit, at many prices at once and at one after the other", () => {
    fc.assert(
      fc.property(
        fc.array(tree, { minLength: 1, maxLength: 5 }),
        fc.array(fc.double({ min: 0.01, max: 20, noNaN: true }), { minLength: 1, maxLength: 70 }),
        (trees, prices) => {
          const table = new NodeTable();
          for (const root of trees) pushTree(table, root);
          const all = [...prices, 2 ** 64, 2 ** -64];
          const expected = all.map((price) => solve(table, price));
          // With the table in the kernel, and page by page.
          for (const solver of [openSolver(table), openSolver(table, 0)]) {
            if (solver === undefined)
              throw new Error("the kernel has not been built: npm run build");
            expect(solver(all)).toEqual(expected);
            expect(all.map((price) => solver([price])[0])).toEqual(expected);
          }
        },
      ),
    );
  });
});
