import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FIELD, NodeTable } from "../../src/compact/node-table.ts";
import { searchPrice, solve } from "../../src/compact/roll-up-plan.ts";

/** A node of a key tree: its rows, its children of one row, the misses that leave at it. */
interface Tree {
  readonly rows: number;
  readonly singles: number;
  readonly misses: number;
  readonly children: readonly Tree[];
}

function treeOf(depth: number): fc.Arbitrary<Tree> {
  return fc.record({
    rows: fc.integer({ min: 0, max: 1 }),
    singles: fc.integer({ min: 0, max: 4 }),
    misses: fc.integer({ min: 0, max: 12 }),
    children: depth === 0 ? fc.constant([]) : fc.array(treeOf(depth - 1), { maxLength: 3 }),
  });
}

function tableOf(tree: Tree): NodeTable {
  const table = new NodeTable();
  const push = (node: Tree, level: number): void => {
    for (const child of node.children) push(child, level + 1);
    const { page, at } = table.push(level + 1);
    page[at + FIELD.parent] = level;
    page[at + FIELD.rows] = node.rows;
    page[at + FIELD.singles] = node.singles;
    page[at + FIELD.children] = node.singles + node.children.length;
    page[at + FIELD.missesWithin] = allMisses(node);
  };
  push(tree, 0);
  return table;
}

function allMisses(node: Tree): number {
  return node.children.reduce((sum, child) => sum + allMisses(child), node.misses);
}

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

/** Of at most four levels. */
const tree = treeOf(3);

describe("the price of a row", () => {
  it("leads to the cheapest of all maps that can be made of a tree", () => {
    fc.assert(
      fc.property(tree, fc.double({ min: 0.01, max: 20, noNaN: true }), (root, price) => {
        const least = Math.min(...everyMap(root).map(({ rows, misses }) => rows * price + misses));
        const { rows, misses } = solve(tableOf(root), price);
        expect(rows * price + misses).toBeCloseTo(least, 6);
      }),
    );
  });

  it("is found where the map comes within a budget", () => {
    fc.assert(
      fc.property(tree, fc.double({ min: 0, max: 1, noNaN: true }), (root, share) => {
        const table = tableOf(root);
        const [least, most] = [solve(table, 2 ** 64).rows, rowsOf(root)];
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
