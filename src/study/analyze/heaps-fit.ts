import type { CurvePoint } from "./histogram.ts";

/** Heaps' law, y = K · x^β: how distinct things grow with all things. */
export interface HeapsFit {
  readonly k: number;
  readonly beta: number;
  /** How much of the variance of log y it explains. */
  readonly r2: number;
  /** How many points it was fitted to. */
  readonly points: number;
}

/** Fits by least squares of logarithms; undefined for fewer than two different positive x. */
export function fitHeaps(points: readonly CurvePoint[]): HeapsFit | undefined {
  const logs = points
    .filter(({ x, y }) => x > 0 && y > 0)
    .map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const meanX = logs.reduce((sum, { x }) => sum + x, 0) / logs.length;
  const meanY = logs.reduce((sum, { y }) => sum + y, 0) / logs.length;
  const varianceX = logs.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  const varianceY = logs.reduce((sum, { y }) => sum + (y - meanY) ** 2, 0);
  const covariance = logs.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  if (logs.length < 2 || varianceX === 0) return undefined;
  const beta = covariance / varianceX;
  const k = Math.exp(meanY - beta * meanX);
  const r2 = varianceY === 0 ? 1 : (beta * covariance) / varianceY;
  return { k, beta, r2, points: logs.length };
}
