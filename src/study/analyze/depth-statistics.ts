import type { DepthNodes } from "./holdings-tree.ts";
import type { CurvePoint } from "./histogram.ts";

/** A row of the paper's table of host and path depths. */
export interface DepthRow {
  /** `H3`: hosts of three labels; `P1`: the first path segment. */
  readonly depth: string;
  /** Distinct prefixes of this depth. */
  readonly count: number;
  /** Keys of this depth or deeper. */
  readonly sum: number;
  /** Keys that share the commonest prefix. */
  readonly max: number;
  readonly mean: number;
  readonly median: number;
  readonly standardDeviation: number;
  /** What share of all keys would go if keys were cut at this depth. */
  readonly reductionQuotient: number;
  /** Nodes of the depth above that have children. */
  readonly parents: number;
  /** Distinct nodes of this depth. */
  readonly children: number;
  readonly meanChildren: number;
}

/** How far rolling up the largest sub-trees, or families, of one depth shrinks the keys. */
export interface ReductionCurve {
  readonly depth: string;
  /** x: nodes rolled up, largest first; y: the share that is gone. */
  readonly points: readonly CurvePoint[];
  /** Heaps' law over the curve, as the paper proposes; none for fewer than two points. */
  readonly heaps: HeapsFit | undefined;
}

/** Equation 1 of the paper: (keys at least this deep - distinct prefixes) / all keys. */
export function reductionQuotient(sum: number, count: number, allKeys: number): number {
  return allKeys === 0 ? 0 : (sum - count) / allKeys;
}

/** The paper's MeanChld. */
export function meanChildren(children: number, parents: number): number {
  return parents === 0 ? 0 : children / parents;
}

/** The rows of hosts (from H1) or of paths (from P0). */
export function depthRows(
  layer: "H" | "P",
  depths: readonly DepthNodes[],
  allKeys: number,
): DepthRow[] {
  const rows: DepthRow[] = [];
  for (const [depth, { sizes, families }] of depths.entries()) {
    const { count, sum, max, mean, median, standardDeviation } = sizes.summary();
    if (count === 0) continue;
    // The tree has one root; and every host has exactly one path root.
    const isRoot = layer === "H" ? depth === 1 : depth === 0;
    const rootParents = layer === "H" ? 1 : count;
    const parents = isRoot ? rootParents : families.count;
    rows.push({
      depth: `${layer}${depth}`,
      count,
      sum,
      max,
      mean,
      median,
      standardDeviation,
      reductionQuotient: reductionQuotient(sum, count, allKeys),
      parents,
      children: count,
      meanChildren: meanChildren(count, parents),
    });
  }
  return rows;
}

/** What rolling up whole sub-trees saves, of all keys. */
export function globalReduction(
  layer: "H" | "P",
  depths: readonly DepthNodes[],
  allKeys: number,
): ReductionCurve[] {
  return depths.flatMap(({ sizes }, depth) =>
    sizes.count === 0 ? [] : [curve(`${layer}${depth}`, sizes.reduction(allKeys))],
  );
}

/** What rolling up children into their parents saves, of all nodes of the depth. */
export function incrementalReduction(
  layer: "H" | "P",
  depths: readonly DepthNodes[],
): ReductionCurve[] {
  return depths.flatMap(({ families }, depth) =>
    families.count === 0 ? [] : [curve(`${layer}${depth}`, families.reduction(families.sum))],
  );
}

function curve(depth: string, points: readonly CurvePoint[]): ReductionCurve {
  return { depth, points, heaps: fitHeaps(points) };
}

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
