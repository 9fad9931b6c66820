import { MementoMapError } from "../../errors.ts";
import { enlarged } from "../node-stack.ts";
import type { Exclusions } from "./exclusions.ts";
import { FIELD } from "./node-table.ts";
import type { NodeTable } from "./node-table.ts";
import type { Survey } from "./survey.ts";

/** What to roll up, and what to exclude, to keep a map within a number of rows. */
export interface Plan {
  /** The price of a row, in expected wrong answers. */
  readonly price: number;
  /** Rows of the map that follows from the plan. */
  readonly rows: number;
  /** Missed lookups that the map is expected to call present, in units of the prior. */
  readonly expectedFalsePositives: number;
  /** Names of the nodes to roll up. */
  readonly chosen: Set<number>;
  /** Branches to exclude, in the order of the branch list. */
  readonly excluded: readonly number[];
}

/** Rolled up at the price found; rolled up at the next lower one, where the map is too large. */
const DECISION = { none: 0, atPrice: 1, below: 2 } as const;
/** What is left to do below a node. */
const STATE = {
  /** Roll up what is rolled up at the price. */
  open: 0,
  /** Roll up what is rolled up below it. */
  openBelow: 1,
  /** Roll up every child, or open it where there is room. */
  rolledUp: 2,
  /** Nothing: the node or one above is rolled up. */
  covered: 3,
} as const;
const LEAST_PRICE = 2 ** -64;
const HIGHEST_PRICE = 2 ** 64;
/** Halvings of the logarithm: the two prices that are left differ by a part in a thousand million. */
const SEARCH_STEPS = 37;
const INITIAL_SLOTS = 64;
/** The share of the rows that may stay unused where any node can be opened. */
const MAX_SLACK = 0.02;

/**
 * Finds the map of at most `maxRows` rows with the fewest expected false positives.
 *
 * Every node is rolled up or left open, whichever is cheaper at the price of a row:
 *
 *     best(v) = min(price + fp(v), price · rows(v) + Σ best(children))
 *
 * solved in one pass over the table, children first. The rows fall as the price grows, so the price
 * is searched by halving. Where many nodes change at the same price, as many of them are left open,
 * in key order, as there is room for.
 *
 * @throws MM_USAGE when no map is so small
 */
export function planRollUps(survey: Survey, maxRows: number, exclusions?: Exclusions): Plan {
  const { table } = survey;
  const allRows = survey.fixedRows + survey.heldRows;
  if (allRows <= maxRows) {
    return { price: 0, rows: allRows, expectedFalsePositives: 0, chosen: new Set(), excluded: [] };
  }
  const fixed = survey.fixedRows + survey.topSingles;
  const rowsAt = (price: number): number =>
    fixed + solve(table, price, DECISION.none, exclusions?.rewind(price)).rows;
  let [low, high] = [LEAST_PRICE, HIGHEST_PRICE];
  const least = leastRows(survey);
  if (least > maxRows) {
    throw new MementoMapError(
      "MM_USAGE",
      `the map cannot be made smaller than ${least} rows; the budget is ${maxRows}`,
    );
  }
  for (let step = 0; step < SEARCH_STEPS; step++) {
    const price = Math.sqrt(low * high);
    const rows = rowsAt(price);
    if (rows <= maxRows) high = price;
    else low = price;
    if (rows === maxRows) break;
  }
  solve(table, low, DECISION.below, exclusions?.rewind(high));
  const rowsAtPrice = fixed + solve(table, high, DECISION.atPrice, exclusions?.rewind(high)).rows;
  const search: Search = { table, price: high, rowsAtPrice, maxRows, exclusions };
  const plan = choose(search, false);
  return plan.rows < maxRows * (1 - MAX_SLACK) ? choose(search, true) : plan;
}

/** The rows that are left when all is rolled up that can be. */
export function leastRows(survey: Survey): number {
  return survey.fixedRows + survey.topSingles + cheapestAt(survey.table, HIGHEST_PRICE).rows;
}

/** The cheapest map at a price of a row, leaving out rows that stay whatever is rolled up. */
export function cheapestAt(table: NodeTable, price: number): Solution {
  return solve(table, price, DECISION.none, undefined);
}

/** A map: its rows, and what it costs: their price and the expected false positives. */
export interface Solution {
  readonly rows: number;
  readonly cost: number;
}

/**
 * Decides on every node at a price of a row. The decision, if there is one to keep, is added to the
 * record; the rows of a decision below the price are left in its `scratch`.
 */
function solve(
  table: NodeTable,
  price: number,
  decision: number,
  exclusions: Exclusions | undefined,
): Solution {
  let slots = INITIAL_SLOTS;
  let cost = new Float64Array(slots);
  let rows = new Float64Array(slots);
  let misses = new Float64Array(slots);
  let voids = new Float64Array(slots);
  table.forEachPage((page, first, count) => {
    for (let at = 0; at < count; at++) {
      const slot = page[at + FIELD.slot];
      const parent = page[at + FIELD.parent];
      if (slot >= slots) {
        slots = slot * 2;
        cost = enlarged(new Float64Array(slots), cost);
        rows = enlarged(new Float64Array(slots), rows);
        misses = enlarged(new Float64Array(slots), misses);
        voids = enlarged(new Float64Array(slots), voids);
      }
      const open = page[at + FIELD.rows] + page[at + FIELD.singles];
      const openCost = open * price + cost[slot];
      const allMisses = page[at + FIELD.newMisses] + misses[slot];
      const allVoids =
        (exclusions === undefined ? 0 : exclusions.countOf(first + at)) + voids[slot];
      const isRolledUp = price + allMisses < openCost;
      const left = isRolledUp ? 1 + allVoids : open + rows[slot];
      if (decision !== DECISION.none) {
        const others = page[at + FIELD.decision] & ~decision;
        page[at + FIELD.decision] = isRolledUp ? others | decision : others;
        if (decision === DECISION.below) page[at + FIELD.scratch] = left;
        else page[at + FIELD.rolledUpRows] = 1 + allVoids;
      }
      cost[parent] += isRolledUp ? price + allMisses : openCost;
      rows[parent] += left;
      misses[parent] += allMisses;
      voids[parent] += allVoids;
      cost[slot] = rows[slot] = misses[slot] = voids[slot] = 0;
    }
  });
  return { rows: rows[0], cost: cost[0] };
}

interface Search {
  readonly table: NodeTable;
  readonly price: number;
  readonly rowsAtPrice: number;
  readonly maxRows: number;
  readonly exclusions: Exclusions | undefined;
}

/**
 * Collects what both solutions roll up, and of what only the dearer one does as much as must be.
 *
 * A node that cannot be opened as far as the cheaper solution would is opened with all below it
 * rolled up, where there is room; `fillsUp` does so with other nodes too.
 */
function choose(search: Search, fillsUp: boolean): Plan {
  const { table, price, maxRows, exclusions } = search;
  const chosen = new Set<number>();
  const excluded: number[] = [];
  const state: number[] = [STATE.open];
  let rows = search.rowsAtPrice;
  let expectedFalsePositives = 0;
  table.forEachBackwards((page, at, index) => {
    const slot = page[at + FIELD.slot];
    const above = state[page[at + FIELD.parent]];
    state[slot] = above;
    if (above === STATE.covered) {
      expectedFalsePositives += page[at + FIELD.newMisses];
      exclusions?.listOf(index, excluded);
      return;
    }
    const decision = page[at + FIELD.decision];
    const isOpenBelow = (decision & DECISION.below) === 0;
    const rule = above === STATE.openBelow ? DECISION.below : DECISION.atPrice;
    if (above !== STATE.rolledUp && (decision & rule) === 0) return;
    const whole = page[at + FIELD.scratch] - page[at + FIELD.rolledUpRows];
    if (isOpenBelow && rows + whole <= maxRows) {
      rows += whole;
      state[slot] = STATE.openBelow;
      return;
    }
    const own = exclusions?.listOf(index, []).length ?? 0;
    const lone = page[at + FIELD.rows] + page[at + FIELD.children] - 1 - own;
    if ((isOpenBelow || fillsUp) && rows + lone <= maxRows) {
      rows += lone;
      state[slot] = STATE.rolledUp;
      return;
    }
    chosen.add(page[at + FIELD.name]);
    state[slot] = STATE.covered;
    expectedFalsePositives += page[at + FIELD.newMisses];
    exclusions?.listOf(index, excluded);
  });
  return { price, rows, expectedFalsePositives, chosen, excluded: excluded.toReversed() };
}
