/** A proportion and its 95 % confidence interval. */
export interface Share {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

const Z = 1.959964;

/** The Wilson interval, which is sound for rates near 0, as rates of missed hits should be. */
export function wilson(successes: number, trials: number): Share {
  const value = successes / trials;
  const z2 = (Z * Z) / trials;
  const middle = (value + z2 / 2) / (1 + z2);
  const half = (Z / (1 + z2)) * Math.sqrt((value * (1 - value)) / trials + z2 / (4 * trials));
  return { value, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** A bound on the mean of a Poisson count, by a quantile of chi-square (Wilson and Hilferty). */
function poisson(count: number, z: number): number {
  if (count === 0) return 0;
  const part = 1 / (9 * count);
  return count * Math.max(0, 1 - part + z * Math.sqrt(part)) ** 3;
}

/** The lower bound on the mean of a Poisson count. */
export function lowerMean(count: number): number {
  return poisson(count, -Z);
}

/**
 * Recall from the hits found and an estimate of the hits lost, which is a weighted sum of Poisson counts:
 * the interval of Fay and Feuer.
 *
 * @param squares the sum of the squares of these weights.
 * @param max the largest weight of a count; 0 if nothing can be lost.
 */
export function recallOf(
  kept: number,
  lost: number,
  squares: number,
  max: number,
): Share | undefined {
  if (kept + lost === 0) return undefined;
  const share = (missing: number): number => kept / (kept + missing);
  return {
    value: share(lost),
    low: share(bound(lost + max, squares + max * max, Z)),
    high: share(bound(lost, squares, -Z)),
  };
}

/** A bound on a weighted sum of counts. */
function bound(weights: number, squares: number, z: number): number {
  return weights === 0 ? 0 : (squares / weights) * poisson(weights ** 2 / squares, z);
}
