export interface CurvePoint {
  readonly x: number;
  readonly y: number;
}

/** Summary statistics of a distribution, as in the paper's tables. */
export interface DistributionSummary {
  readonly count: number;
  readonly sum: number;
  readonly max: number;
  readonly mean: number;
  /** The middle value; for an even count, the mean of the two middle values. */
  readonly median: number;
  /** Of the whole population, not of a sample. */
  readonly standardDeviation: number;
}

/** Curves are thinned to steps of at least this share of either axis. */
const CURVE_STEP = 1 / 120;

type Groups = (readonly [value: number, times: number])[];

/**
 * The frequency of each positive integer: an exact distribution.
 *
 * Values that add up to N have at most √(2N) distinct ones, so memory grows with the square root of
 * N: less than 10,000 entries for 50 million mementos. All derived numbers are exact.
 */
export class Histogram {
  readonly #times = new Map<number, number>();
  count = 0;
  sum = 0;

  add(value: number): void {
    this.count++;
    this.sum += value;
    this.#times.set(value, (this.#times.get(value) ?? 0) + 1);
  }

  /** Distinct values with their frequencies, smallest first. */
  #groups(): Groups {
    return [...this.#times].sort(([a], [b]) => a - b);
  }

  summary(): DistributionSummary {
    const { count, sum } = this;
    const groups = this.#groups();
    const mean = count === 0 ? 0 : sum / count;
    let squares = 0;
    for (const [value, times] of groups) squares += times * (value - mean) ** 2;
    return {
      count,
      sum,
      max: groups.at(-1)?.[0] ?? 0,
      mean,
      median: (valueAt(groups, Math.ceil(count / 2)) + valueAt(groups, count / 2 + 1)) / 2,
      standardDeviation: count === 0 ? 0 : Math.sqrt(squares / count),
    };
  }

  /** 0 if all values are equal, near 1 if one dominates. */
  gini(): number {
    const { count, sum } = this;
    let rank = 0;
    let weighted = 0;
    for (const [value, times] of this.#groups()) {
      weighted += value * times * (2 * rank + times - count);
      rank += times;
    }
    return count === 0 || sum === 0 ? 0 : weighted / (count * sum);
  }

  /** The Lorenz curve: the share of the sum (y) of the smallest values, by their share of all (x). */
  lorenz(): CurvePoint[] {
    return thinned(this.#cumulative(this.#groups()), isFarOff);
  }

  /** The share of the sum (y) of the largest values, by their share of all (x). */
  concentration(): CurvePoint[] {
    return thinned(this.#cumulative(this.#groups().reverse()), isFarOff);
  }

  /** The share x of the largest values whose share of the sum is 1 - x: 0.3 is "70/30". */
  paretoShare(): number {
    let last: CurvePoint = { x: 0, y: 0 };
    for (const point of this.#cumulative(this.#groups().reverse())) {
      if (point.x + point.y >= 1) {
        const before = last.x + last.y;
        const part = (1 - before) / (point.x + point.y - before);
        return last.x + part * (point.x - last.x);
      }
      last = point;
    }
    return 0;
  }

  /**
   * The reduction when values, largest first, are replaced by 1: x is the number of replaced values, y
   * the share of `total` that is saved.
   */
  reduction(total: number): CurvePoint[] {
    const points: CurvePoint[] = [{ x: 0, y: 0 }];
    let [n, saved] = [0, 0];
    for (const [value, times] of this.#groups().reverse()) {
      // Straight on a linear axis; a logarithmic axis needs points in between.
      for (let x = Math.max(1, n * 2); x < n + times; x *= 2) {
        points.push({ x, y: total === 0 ? 0 : (saved + (x - n) * (value - 1)) / total });
      }
      n += times;
      saved += times * (value - 1);
      points.push({ x: n, y: total === 0 ? 0 : saved / total });
    }
    return thinned(points, isFarByRatio);
  }

  /** Shares of all (x) and of the sum (y), up to each group. */
  #cumulative(groups: Groups): CurvePoint[] {
    let [count, sum] = [0, 0];
    const points = groups.map(([value, times]) => {
      count += times;
      sum += value * times;
      return { x: count / this.count, y: sum / this.sum };
    });
    return [{ x: 0, y: 0 }, ...points];
  }
}

/** The value of the given rank, counted from 1; ranks between two round down. */
function valueAt(groups: Groups, rank: number): number {
  let seen = 0;
  for (const [value, times] of groups) {
    seen += times;
    if (seen >= Math.floor(rank)) return value;
  }
  return 0;
}

/** Drops inner points that are close to the previous one. */
function thinned(
  points: readonly CurvePoint[],
  isFar: (point: CurvePoint, last: CurvePoint) => boolean,
): CurvePoint[] {
  const kept = points.slice(0, 1);
  for (const [i, point] of points.entries()) {
    if (i > 0 && (i === points.length - 1 || isFar(point, kept[kept.length - 1]))) kept.push(point);
  }
  return kept;
}

function isFarOff(point: CurvePoint, last: CurvePoint): boolean {
  return point.x - last.x >= CURVE_STEP || point.y - last.y >= CURVE_STEP;
}

/** For curves on a logarithmic axis. */
function isFarByRatio(point: CurvePoint, last: CurvePoint): boolean {
  return point.x >= last.x * 1.2 || point.y - last.y >= CURVE_STEP * 2;
}

/** The nodes of one depth of hosts or paths. */
export class DepthNodes {
  /** Keys in the sub-tree of each node. */
  readonly sizes: Histogram = new Histogram();
  /** Children of each node of the depth above that has any. */
  readonly families: Histogram = new Histogram();
}

/**
 * A row of the paper's table of host and path depths: the distribution of keys of at least this depth
 * over distinct prefixes of this depth.
 */
export interface DepthRow extends DistributionSummary {
  /** `H3`: hosts of three labels; `P1`: the first path segment. */
  readonly depth: string;
  /** The share of all keys that truncation at this depth would save. */
  readonly reductionQuotient: number;
  /** Nodes of the depth above that have children. */
  readonly parents: number;
  /** Distinct nodes of this depth. */
  readonly children: number;
  readonly meanChildren: number;
}

/** The reduction by rolling up the largest sub-trees, or families, of one depth. */
export interface ReductionCurve {
  readonly depth: string;
  /** x: nodes rolled up, largest first; y: the share that is saved. */
  readonly points: readonly CurvePoint[];
  /** Heaps' law fitted to the curve, as the paper proposes; none for fewer than two points. */
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
    const summary = sizes.summary();
    const { count, sum } = summary;
    if (count === 0) continue;
    // The tree has one root, and every host has exactly one path root.
    const isRoot = layer === "H" ? depth === 1 : depth === 0;
    const rootParents = layer === "H" ? 1 : count;
    const parents = isRoot ? rootParents : families.count;
    rows.push({
      depth: `${layer}${depth}`,
      ...summary,
      reductionQuotient: reductionQuotient(sum, count, allKeys),
      parents,
      children: count,
      meanChildren: meanChildren(count, parents),
    });
  }
  return rows;
}

/** The share of all keys saved by rolling up whole sub-trees. */
export function globalReduction(
  layer: "H" | "P",
  depths: readonly DepthNodes[],
  allKeys: number,
): ReductionCurve[] {
  return curves(layer, depths, ({ sizes }) => sizes.reduction(allKeys));
}

/** The share of the depth's nodes saved by rolling up children into their parents. */
export function incrementalReduction(
  layer: "H" | "P",
  depths: readonly DepthNodes[],
): ReductionCurve[] {
  return curves(layer, depths, ({ families }) => families.reduction(families.sum));
}

function curves(
  layer: "H" | "P",
  depths: readonly DepthNodes[],
  of: (nodes: DepthNodes) => CurvePoint[],
): ReductionCurve[] {
  return depths
    .map((nodes, depth) => ({ depth: `${layer}${depth}`, points: of(nodes) }))
    .filter(({ points }) => points.length > 1)
    .map(({ depth, points }) => ({ depth, points, heaps: fitHeaps(points) }));
}

/** Heaps' law, y = K · x^β: the growth of distinct items with all items. */
export interface HeapsFit {
  readonly k: number;
  readonly beta: number;
  /** The share of the variance of log y that it explains. */
  readonly r2: number;
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
