import { formatAmount } from "../format.ts";
import { MementoMapError } from "../errors.ts";
import { type Decision, DECISION, type Exclusions, type Solution, solve } from "./solve.ts";
import { FIELD, type NodeTable, type Survey } from "./budget-survey.ts";

/** What to roll up, and what to exclude, to keep a map within a number of rows. */
export interface Plan {
  /** The price of a row, in expected wrong answers. */
  readonly price: number;
  /** Rows of the map that follows from the plan. */
  readonly rows: number;
  /** Missed lookups that the map is expected to call present, in units of the prior. */
  readonly expectedFalsePositives: number;
  /** Names of the nodes to roll up. */
  readonly chosen: readonly number[];
  /** Branches to exclude, in the order of the branch list. */
  readonly excluded: readonly number[];
}

export interface PlanOptions {
  /** Exclusions that may be written. */
  readonly exclusions?: Exclusions | undefined;
}

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
/** The share of the rows that may stay unused where any node can be opened. */
const MAX_SLACK = 0.02;

/**
 * Finds the map of at most `maxRows` rows with the fewest expected false positives.
 *
 * Every node is rolled up or left open, whichever is cheaper at the price of a row; the rows fall as
 * the price grows, and the price is searched. Where many nodes change at the same price, as many of
 * them are left open, in key order, as there is room for.
 *
 * @throws MM_BUDGET when no map is so small
 */
export function planRollUps(survey: Survey, maxRows: number, options: PlanOptions = {}): Plan {
  const { table } = survey;
  const { exclusions } = options;
  const allRows = survey.fixedRows + survey.heldRows;
  if (allRows <= maxRows) {
    return { price: 0, rows: allRows, expectedFalsePositives: 0, chosen: [], excluded: [] };
  }
  const fixed = survey.fixedRows + survey.topSingles;
  const smallest = solve(table, HIGHEST_PRICE);
  if (fixed + smallest.rows > maxRows) {
    throw new MementoMapError(
      "MM_BUDGET",
      `the map cannot be made smaller than ${formatAmount(fixed + smallest.rows, "row")}; ` +
        `allow that many instead of ${maxRows}`,
    );
  }
  const { within, beyond } = searchPrice(
    (price) => solve(table, price, exclusions?.rewind(price)),
    smallest,
    allRows - fixed,
    maxRows - fixed,
  );
  const decide = (price: number, decision: Decision): Solution =>
    solve(table, price, exclusions?.rewind(within), decision);
  decide(beyond, DECISION.below);
  const { rows } = decide(within, DECISION.atPrice);
  const search = { table, price: within, rowsAtPrice: fixed + rows, maxRows, exclusions };
  const plan = choose(search, false);
  return plan.rows < maxRows * (1 - MAX_SLACK) ? choose(search, true) : plan;
}

/** The rows that are left when all is rolled up that can be. */
export function leastRows({ table, fixedRows, topSingles }: Survey): number {
  return fixedRows + topSingles + solve(table, HIGHEST_PRICE).rows;
}

/** How large a map is, and what is expected of it. */
export interface MapOutlook {
  readonly rows: number;
  /** Missed lookups that it is expected to call present, in units of the prior. */
  readonly expectedFalsePositives: number;
}

/** Prices tried: each is half of the one before. */
const OUTLOOKS = 32;

/**
 * The cheapest maps at prices from `highest` down, and the map of all rows; each larger than the one
 * before.
 */
export function outlooks(survey: Survey, highest: number): MapOutlook[] {
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
 * Collects what both solutions roll up, and of what only the dearer one does as much as must be.
 *
 * A node that cannot be opened as far as the cheaper solution would is opened with all below it
 * rolled up, where there is room; `fillsUp` does so with other nodes too.
 */
function choose(search: Search, fillsUp: boolean): Plan {
  const { table, price, maxRows, exclusions } = search;
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
      if (above === STATE.covered) {
        exclusions?.listOf(first + at, excluded);
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
      const own = exclusions?.listOf(first + at, []).length ?? 0;
      const lone = page[at + FIELD.rows] + page[at + FIELD.children] - 1 - own;
      if ((isOpenBelow || fillsUp) && rows + lone <= maxRows) {
        rows += lone;
        state[slot] = STATE.rolledUp;
        continue;
      }
      chosen.push(page[at + FIELD.name]);
      state[slot] = STATE.covered;
      expectedFalsePositives += page[at + FIELD.missesWithin];
      exclusions?.listOf(first + at, excluded);
    }
  });
  return { price, rows, expectedFalsePositives, chosen, excluded: excluded.toReversed() };
}

/** Prices of a row, a little apart: the map is within a budget at one, and not at the other. */
export interface PriceRange {
  readonly within: number;
  readonly beyond: number;
}

/** Nothing is rolled up at the one, and all that can be at the other. */
const LEAST_PRICE = 2 ** -64;
const HIGHEST_PRICE: number = 2 ** 64;
/** Prices that differ by no more than this part of them are taken for one. */
const PRECISION = 2 ** -30;
/** After this many steps the range is halved, whatever the lines in it look like. */
const STEPS_TO_HALVING = 4;

/**
 * Finds the price of a row from which on the cheapest map keeps a budget of rows.
 *
 * The cost of a map is a line over the price, and the cheapest maps are the lower edge of all these
 * lines. So the next price to look at is where the lines of the two maps found so far cross. If no
 * other map is cheaper there, the price is found. Exclusions have no price, and come and go at
 * prices of their own; what they leave open is found by halving the logarithm.
 *
 * @param solveAt finds the cheapest map at a price.
 * @param smallest the map at {@link HIGHEST_PRICE}, of no more rows than `maxRows`
 * @param allRows the rows of the map where nothing is rolled up, more than `maxRows`
 */
export function searchPrice(
  solveAt: (price: number) => Solution,
  smallest: Solution,
  allRows: number,
  maxRows: number,
): PriceRange {
  let [beyond, within] = [LEAST_PRICE, HIGHEST_PRICE];
  let large: Solution = { rows: allRows, pricedRows: allRows, misses: 0 };
  let small = smallest;
  const take = (price: number, found: Solution): void => {
    if (price <= beyond || price >= within) return;
    if (found.rows <= maxRows) [within, small] = [price, found];
    else [beyond, large] = [price, found];
  };
  for (let step = 1; within > beyond * (1 + PRECISION); step++) {
    const crossing = (small.misses - large.misses) / (large.pricedRows - small.pricedRows);
    const isHalved = step % STEPS_TO_HALVING === 0 || !(crossing > beyond && crossing < within);
    const price = isHalved ? Math.sqrt(beyond * within) : crossing;
    const found = solveAt(price);
    const isOneOfThem =
      found.pricedRows === large.pricedRows || found.pricedRows === small.pricedRows;
    if (isHalved || !isOneOfThem) {
      take(price, found);
    } else {
      // At the crossing itself maps are equally cheap, and rounding decides between them.
      for (const beside of [price * (1 + PRECISION / 3), price * (1 - PRECISION / 3)]) {
        take(beside, solveAt(beside));
      }
    }
  }
  return { within, beyond };
}
