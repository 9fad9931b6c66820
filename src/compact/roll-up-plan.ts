import { formatAmount } from "../format.ts";
import { MementoMapError } from "../errors.ts";
import type { Exclusions } from "./exclusions.ts";
import { FIELD, type NodeTable } from "./node-table.ts";
import type { TreeSurvey } from "./tree-survey.ts";

/** The roll-ups and exclusions that keep a map within a number of rows. */
export interface Plan {
  /** The price of a row, in expected wrong answers. */
  readonly price: number;
  /** Rows of the planned map. */
  readonly rows: number;
  /** Expected false positives, in units of the prior. */
  readonly expectedFalsePositives: number;
  /** Names of the nodes to roll up. */
  readonly chosen: readonly number[];
  /** Branches to exclude, in the order of the branch list. */
  readonly excluded: readonly number[];
}

/** The task that remains below a node. */
const STATE = {
  /** Roll up the nodes rolled up at the price. */
  open: 0,
  /** Roll up the nodes rolled up below the price. */
  openBelow: 1,
  /** Roll up every child, or open it if there is room. */
  rolledUp: 2,
  /** Nothing: the node or one above is rolled up. */
  covered: 3,
} as const;
/** The fraction of the rows that may stay unused if any node can be opened. */
const MAX_SLACK = 0.02;

/**
 * Finds the map of at most `maxRows` rows with the fewest expected false positives.
 *
 * Every node is rolled up or left open, whichever is cheaper at the price of a row; the number of rows
 * falls as the price grows, and a binary search finds the price. If many nodes change at the same price,
 * as many of them as fit are left open, in key order.
 *
 * @param exclusions the candidates.
 * @throws MM_BUDGET if no map is small enough
 */
export function planRollUps(
  survey: TreeSurvey,
  maxRows: number,
  exclusions: Exclusions | undefined,
): Plan {
  const { table } = survey;
  const allRows = survey.fixedRows + survey.heldRows;
  if (allRows <= maxRows) {
    return { price: 0, rows: allRows, expectedFalsePositives: 0, chosen: [], excluded: [] };
  }
  const fixed = survey.fixedRows + survey.topSingles;
  const least = leastRows(survey);
  if (least > maxRows) {
    throw new MementoMapError(
      "MM_BUDGET",
      `the map cannot be made smaller than ${formatAmount(least, "row")}; ` +
        `allow that many instead of ${maxRows}`,
    );
  }
  const { within, beyond } = searchPrice(
    (price) => fixed + solve(table, price, exclusions?.rewind(price)).rows <= maxRows,
  );
  const decide = (price: number, decision: Decision): Solution =>
    solve(table, price, exclusions?.rewind(within), decision);
  decide(beyond, DECISION.below);
  const { rows } = decide(within, DECISION.atPrice);
  const search = { table, price: within, rowsAtPrice: fixed + rows, maxRows, exclusions };
  const plan = choose(search, false);
  return plan.rows < maxRows * (1 - MAX_SLACK) ? choose(search, true) : plan;
}

/** The number of rows if every possible node is rolled up. */
export function leastRows({ table, fixedRows, topSingles }: TreeSurvey): number {
  return fixedRows + topSingles + solve(table, HIGHEST_PRICE).rows;
}

/** The size and expected accuracy of a map. */
export interface MapOutlook {
  readonly rows: number;
  /** Expected false positives, in units of the prior. */
  readonly expectedFalsePositives: number;
}

/** Number of prices tried, each half of the previous one. */
const OUTLOOKS = 32;

/**
 * The cheapest maps at prices from `highest` down, and the map of all rows, in order of size.
 */
export function outlooks(survey: TreeSurvey, highest: number): MapOutlook[] {
  const fixed = survey.fixedRows + survey.topSingles;
  const found: MapOutlook[] = [];
  for (let i = 0; i < OUTLOOKS; i++) {
    const { rows, misses } = solve(survey.table, highest * 2 ** -i);
    if (fixed + rows <= (found.at(-1)?.rows ?? -1)) continue;
    found.push({ rows: fixed + rows, expectedFalsePositives: misses });
  }
  const allRows = survey.fixedRows + survey.heldRows;
  if ((found.at(-1)?.rows ?? -1) < allRows)
    found.push({ rows: allRows, expectedFalsePositives: 0 });
  return found;
}

interface Search {
  readonly table: NodeTable;
  readonly price: number;
  readonly rowsAtPrice: number;
  readonly maxRows: number;
  readonly exclusions: Exclusions | undefined;
}

/**
 * Collects the roll-ups of both solutions, and as few as possible of those only in the solution at the
 * higher price.
 *
 * A node that cannot be opened as far as at the lower price is opened with all below it rolled up, if
 * there is room; `fillsUp` does so with other nodes too.
 */
function choose(search: Search, fillsUp: boolean): Plan {
  const { table, price, maxRows } = search;
  const exclusions = search.exclusions?.rewind(price, true);
  const chosen: number[] = [];
  const excluded: number[] = [];
  const state: number[] = [STATE.open];
  let rows = search.rowsAtPrice;
  let expectedFalsePositives = 0;
  table.forEachPageBackwards((page, first, count) => {
    for (let at = count - 1; at >= 0; at--) {
      const slot = page[at + FIELD.slot];
      const above = state[page[at + FIELD.parent]];
      state[slot] = above;
      const own = exclusions?.listOf(first + at) ?? [];
      if (above === STATE.covered) {
        excluded.push(...own);
        continue;
      }
      const decision = page[at + FIELD.decision];
      const isOpenBelow = (decision & DECISION.below) === 0;
      const rule = above === STATE.openBelow ? DECISION.below : DECISION.atPrice;
      if (above !== STATE.rolledUp && (decision & rule) === 0) continue;
      const whole = page[at + FIELD.scratch] - page[at + FIELD.rolledUpRows];
      if (isOpenBelow && rows + whole <= maxRows) {
        rows += whole;
        state[slot] = STATE.openBelow;
        continue;
      }
      const lone = page[at + FIELD.rows] + page[at + FIELD.children] - 1 - own.length;
      if ((isOpenBelow || fillsUp) && rows + lone <= maxRows) {
        rows += lone;
        state[slot] = STATE.rolledUp;
        continue;
      }
      chosen.push(page[at + FIELD.name]);
      state[slot] = STATE.covered;
      expectedFalsePositives += page[at + FIELD.missesWithin];
      excluded.push(...own);
    }
  });
  return { price, rows, expectedFalsePositives, chosen, excluded: excluded.toReversed() };
}

/** Two nearby prices of a row: the map is within a budget at one, and not at the other. */
export interface PriceRange {
  readonly within: number;
  readonly beyond: number;
}

/** Nothing is rolled up at the lower price, and every possible node at the higher one. */
const LEAST_PRICE = 2 ** -64;
const HIGHEST_PRICE: number = 2 ** 64;
/** Prices that differ by at most this fraction are treated as equal. */
const PRECISION = 2 ** -30;

/** Finds the price of a row from which on the cheapest map is within a budget, by bisecting its logarithm. */
export function searchPrice(isWithin: (price: number) => boolean): PriceRange {
  let [beyond, within] = [LEAST_PRICE, HIGHEST_PRICE];
  while (within > beyond * (1 + PRECISION)) {
    const price = Math.sqrt(beyond * within);
    if (isWithin(price)) within = price;
    else beyond = price;
  }
  return { within, beyond };
}

/** A map, not counting rows that never change. */
export interface Solution {
  readonly rows: number;
  /** Expected false positives. */
  readonly misses: number;
}

/** The decisions of solutions, as stored in a record. */
const DECISION = { none: 0, atPrice: 1, below: 2 } as const;
export type Decision = (typeof DECISION)[keyof typeof DECISION];

/**
 * Finds the cheapest map at a price of a row, in one pass over the table, children first:
 *
 *     best(v) = min(price + fp(v), price · rows(v) + Σ best(children))
 *
 * Decisions to be stored go into the records. `below` also stores the rows of each sub-tree in `scratch`,
 * and `atPrice` its rows if it is rolled up.
 *
 * @param exclusions rewound to the first record.
 */
export function solve(
  table: NodeTable,
  price: number,
  exclusions?: Exclusions,
  decision: Decision = DECISION.none,
): Solution {
  // For each slot, sums over the children visited so far: rows of the cheapest map that have a price, its
  // misses and its exclusions, and all exclusions worth their row.
  const column = (): Float64Array => new Float64Array(table.slots);
  const [rows, misses, voids, allVoids] = [column(), column(), column(), column()];
  const keptRows = decision === DECISION.below ? FIELD.scratch : FIELD.rolledUpRows;
  table.forEachPage((page, first, count) => {
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
      const isBelow = decision === DECISION.below;
      page[at + keptRows] = isBelow ? left + (isRolledUp ? 1 : open) : 1 + worthy;
    }
  });
  return { rows: rows[0] + voids[0], misses: misses[0] };
}
