import type { PowerLaw } from "../weight-policy.ts";
import { MementoMapError } from "../../../errors.ts";

/** A point to fit: y was seen at x. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A fitted law, and how much of the variance of y it explains. */
export interface PowerLawFit extends PowerLaw {
  readonly r2: number;
  /** How many points it was fitted to. */
  readonly points: number;
}

const MAX_STEPS = 200;

/**
 * Fits y = a · x^-k to points by least squares of y itself, not of its logarithm.
 *
 * For a given k the best a is known in closed form, so this is a search over k alone: Gauss–Newton
 * from the log–log fit, with the step halved while it does not help (variable projection).
 *
 * @throws MM_BAD_INPUT for fewer than two points, or points that are not positive.
 */
export function fitPowerLaw(points: readonly Point[]): PowerLawFit {
  if (points.length < 2 || points.some(({ x, y }) => !(x > 0) || !(y > 0))) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `a power law needs at least two positive points, not ${points.length}`,
    );
  }
  let k = logLogSlope(points);
  let error = squaredError(points, k);
  for (let step = 0; step < MAX_STEPS; step++) {
    let move = newtonMove(points, k);
    while (Math.abs(move) > 1e-14 && squaredError(points, k + move) > error) move /= 2;
    if (Math.abs(move) <= 1e-12) break;
    k += move;
    error = squaredError(points, k);
  }
  const mean = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const spread = points.reduce((sum, { y }) => sum + (y - mean) ** 2, 0);
  const r2 = spread === 0 ? 1 : 1 - error / spread;
  return { a: bestScale(points, k), k, r2, points: points.length };
}

/** The a that fits best for this k. */
function bestScale(points: readonly Point[], k: number): number {
  let top = 0;
  let bottom = 0;
  for (const { x, y } of points) {
    const power = x ** -k;
    top += y * power;
    bottom += power * power;
  }
  return top / bottom;
}

function squaredError(points: readonly Point[], k: number): number {
  const a = bestScale(points, k);
  return points.reduce((sum, { x, y }) => sum + (y - a * x ** -k) ** 2, 0);
}

/** The Gauss–Newton step for k, with a eliminated numerically. */
function newtonMove(points: readonly Point[], k: number): number {
  const delta = 1e-6;
  const [a, aNext] = [bestScale(points, k), bestScale(points, k + delta)];
  let top = 0;
  let bottom = 0;
  for (const { x, y } of points) {
    const value = a * x ** -k;
    const slope = (aNext * x ** -(k + delta) - value) / delta;
    top += slope * (y - value);
    bottom += slope * slope;
  }
  return bottom === 0 ? 0 : top / bottom;
}

function logLogSlope(points: readonly Point[]): number {
  const logs = points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const meanX = logs.reduce((sum, { x }) => sum + x, 0) / logs.length;
  const meanY = logs.reduce((sum, { y }) => sum + y, 0) / logs.length;
  const covariance = logs.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const variance = logs.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return variance === 0 ? 0 : -covariance / variance;
}
