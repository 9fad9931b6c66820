import fc from "fast-check";
import { FIELD, type NodeTable } from "../../src/compact/node-table.ts";

/** A node of a key tree: its rows, its children of one row, the misses that leave at it. */
export interface Tree {
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

/** A tree of at most four levels. */
export const tree: fc.Arbitrary<Tree> = treeOf(3);

/** Adds a tree to a table, children first. */
export function pushTree(table: NodeTable, node: Tree, level: number = 0): void {
  for (const child of node.children) pushTree(table, child, level + 1);
  const { page, at } = table.push(level + 1);
  page[at + FIELD.parent] = level;
  page[at + FIELD.rows] = node.rows;
  page[at + FIELD.singles] = node.singles;
  page[at + FIELD.children] = node.singles + node.children.length;
  page[at + FIELD.missesWithin] = allMisses(node);
}

/** The misses in all of a tree. */
export function allMisses(node: Tree): number {
  return node.children.reduce((sum, child) => sum + allMisses(child), node.misses);
}
