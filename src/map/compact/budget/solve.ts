import type { Exclusions } from "./exclusions.ts";
import { FIELD } from "./node-table.ts";
import type { NodeTable } from "./node-table.ts";

/** A map, leaving out rows that stay whatever is rolled up. */
export interface Solution {
  /** Its rows, and those of them that had a price: exclusions have none. */
  readonly rows: number;
  readonly pricedRows: number;
  /** The missed lookups that it is expected to call present. */
  readonly misses: number;
}

/** What a record keeps of a solution. */
export const DECISION = { none: 0, atPrice: 1, below: 2 } as const;
export type Decision = (typeof DECISION)[keyof typeof DECISION];

/** Finds the cheapest map of a table at a price of a row; see {@link solve}. */
export type Solve = (price: number, decision?: Decision) => Solution;

/** For each slot, sums over the children that were passed. */
interface Sums {
  /** Rows of the cheapest map that have a price, its misses and its exclusions. */
  readonly rows: Float64Array;
  readonly misses: Float64Array;
  readonly voids: Float64Array;
  /** All exclusions worth their row. */
  readonly allVoids: Float64Array;
}

/**
 * Finds the cheapest map at a price of a row, in one pass over the table, children first:
 *
 *     best(v) = min(price + fp(v), price · rows(v) + Σ best(children))
 *
 * A decision that is to be kept goes into the records. `below` also leaves the rows of each sub-tree
 * in `scratch`, and `atPrice` those that it has if it is rolled up.
 *
 * @param exclusions those worth their row, from the first record on.
 */
export function solve(
  table: NodeTable,
  price: number,
  exclusions?: Exclusions,
  decision: Decision = DECISION.none,
): Solution {
  const { slots } = table;
  const sums: Sums = {
    rows: new Float64Array(slots),
    misses: new Float64Array(slots),
    voids: new Float64Array(slots),
    allVoids: new Float64Array(slots),
  };
  table.forEachPage((page, first, count) => {
    if (decision === DECISION.none && exclusions === undefined) {
      solvePage(page, count, price, sums.rows, sums.misses);
    } else {
      decidePage(page, first, count, price, sums, exclusions, decision);
    }
  });
  const { rows, misses, voids } = sums;
  return { rows: rows[0] + voids[0], pricedRows: rows[0], misses: misses[0] };
}

/** A page of the many passes that keep nothing: everything is in local variables. */
function solvePage(
  page: Float64Array,
  count: number,
  price: number,
  rows: Float64Array,
  misses: Float64Array,
): void {
  for (let at = 0; at < count; at++) {
    const slot = page[at + FIELD.slot];
    const parent = page[at + FIELD.parent];
    const open = page[at + FIELD.rows] + page[at + FIELD.singles] + rows[slot];
    const openMisses = misses[slot];
    const missesWithin = page[at + FIELD.missesWithin];
    rows[slot] = misses[slot] = 0;
    const isRolledUp = missesWithin < price * (open - 1) + openMisses;
    rows[parent] += isRolledUp ? 1 : open;
    misses[parent] += isRolledUp ? missesWithin : openMisses;
  }
}

function decidePage(
  page: Float64Array,
  first: number,
  count: number,
  price: number,
  { rows, misses, voids, allVoids }: Sums,
  exclusions: Exclusions | undefined,
  decision: Decision,
): void {
  const isBelow = decision === DECISION.below;
  const keptRows = isBelow ? FIELD.scratch : FIELD.rolledUpRows;
  for (let at = 0; at < count; at++) {
    const slot = page[at + FIELD.slot];
    const parent = page[at + FIELD.parent];
    const open = page[at + FIELD.rows] + page[at + FIELD.singles] + rows[slot];
    const missesWithin = page[at + FIELD.missesWithin];
    const isRolledUp = missesWithin < price * (open - 1) + misses[slot];
    const worthy = allVoids[slot] + (exclusions?.countOf(first + at) ?? 0);
    const left = isRolledUp ? worthy : voids[slot];
    rows[parent] += isRolledUp ? 1 : open;
    misses[parent] += isRolledUp ? missesWithin : misses[slot];
    allVoids[parent] += worthy;
    voids[parent] += left;
    rows[slot] = misses[slot] = allVoids[slot] = voids[slot] = 0;
    if (decision === DECISION.none) continue;
    const others = page[at + FIELD.decision] & ~decision;
    page[at + FIELD.decision] = isRolledUp ? others | decision : others;
    page[at + keptRows] = isBelow ? left + (isRolledUp ? 1 : open) : 1 + worthy;
  }
}
