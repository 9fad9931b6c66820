import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NodeTable } from "../../src/compact/node-table.ts";
import { searchPrice, solve } from "../../src/compact/roll-up-plan.ts";
import type { Tree } from "./tree-arbitrary.ts";
import { allMisses, pushTree, tree } from "./tree-arbitrary.ts";

function rowsOf(node: Tree): number {
  return node.children.reduce((sum, child) => sum + rowsOf(child), node.rows + node.singles);
}

/** Every map that can be made of a tree, as rows and false positives. */
function everyMap(node: Tree): { rows: number; misses: number }[] {
  let open = [{ rows: node.rows + node.singles, misses: 0 }];
  for (const child of node.children) {
    const maps = everyMap(child);
    open = open.flatMap((a) =>
      maps.map((b) => ({ rows: a.rows + b.rows, misses: a.misses + b.misses })),
    );
    // The dominated ones cannot be the cheapest at any price.
    open = open.filter(
      (a) => !open.some((b) => b !== a && b.rows <= a.rows && b.misses < a.misses),
    );
    open = [...new Map(open.map((map) => [`${map.rows} ${map.misses}`, map])).values()];
  }
  return [...open, { rows: 1, misses: allMisses(node) }];
}

describe("solve", () => {
  it("finds the cheapest of all maps that can be made of a tree", () => {
    fc.assert(
      fc.property(tree, fc.double({ min: 0.01, max: 20, noNaN: true }), (root, price) => {
        const table = new NodeTable();
        pushTree(table, root);
        const least = Math.min(...everyMap(root).map(({ rows, misses }) => rows * price + misses));
        const { rows, misses } = solve(table, price);
        expect(rows * price + misses).toBeCloseTo(least, 6);
      }),
    );
  });

  it("needs no more rows as their price grows", () => {
    fc.assert(
      fc.property(
        tree,
        fc.double({ min: 0.01, max: 20, noNaN: true }),
        fc.double({ min: 1, max: 3, noNaN: true }),
        (root, price, factor) => {
          const table = new NodeTable();
          pushTree(table, root);
          const { rows } = solve(table, price);
          expect(solve(table, price * factor).rows).toBeLessThanOrEqual(rows);
        },
      ),
    );
  });
});

describe("searchPrice", () => {
  it("finds two prices close together, the map within the budget at the higher one only", () => {
    fc.assert(
      fc.property(tree, fc.double({ min: 0, max: 1, noNaN: true }), (root, share) => {
        const table = new NodeTable();
        pushTree(table, root);
        const smallest = solve(table, 2 ** 64);
        const [least, most] = [smallest.rows, rowsOf(root)];
        fc.pre(least < most);
        const maxRows = Math.min(most - 1, Math.round(least + share * (most - least)));
        // What nobody asks for is rolled up at any price.
        fc.pre(solve(table, 2 ** -64).rows > maxRows);
        const { within, beyond } = searchPrice((price) => solve(table, price).rows <= maxRows);
        expect(solve(table, within).rows).toBeLessThanOrEqual(maxRows);
        expect(solve(table, beyond).rows).toBeGreaterThan(maxRows);
        expect(within / beyond - 1).toBeGreaterThan(0);
        expect(within / beyond - 1).toBeLessThan(1e-8);
      }),
    );
  });
});
