import type { Solution } from "./solve.ts";

/** Prices of a row, a little apart: the map is within a budget at one, and not at the other. */
export interface PriceRange {
  readonly within: number;
  readonly beyond: number;
}

/** Nothing is rolled up at the one, and all that can be at the other. */
const LEAST_PRICE = 2 ** -64;
export const HIGHEST_PRICE: number = 2 ** 64;
/** Prices that differ by no more than this part of them are taken for one. */
const PRECISION = 2 ** -30;
/** Every so many steps the range is halved, whatever the lines in it look like. */
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
