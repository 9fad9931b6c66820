/** A point of a curve. */
export interface CurvePoint {
  readonly x: number;
  readonly y: number;
}

/** What describes a distribution, as the paper's tables do. */
export interface DistributionSummary {
  /** How many values there are. */
  readonly count: number;
  readonly sum: number;
  readonly max: number;
  readonly mean: number;
  /** The middle value; the mean of the two in the middle for an even count. */
  readonly median: number;
  /** Of the whole population, not of a sample. */
  readonly standardDeviation: number;
}

const SMALL_VALUES = 1024;
/** Curves are thinned to steps of at least this share of either axis. */
const CURVE_STEP = 1 / 120;

/**
 * How often each positive whole number was seen: a distribution without loss.
 *
 * Values that add up to N have at most √(2N) distinct ones, so memory grows with the square root of
 * what is counted: under 10,000 entries for 50 million mementos. All that is derived is exact.
 */
export class Histogram {
  readonly #small = new Float64Array(SMALL_VALUES);
  readonly #large = new Map<number, number>();
  count = 0;
  sum = 0;

  add(value: number): void {
    this.count++;
    this.sum += value;
    if (value < SMALL_VALUES) this.#small[value]++;
    else this.#large.set(value, (this.#large.get(value) ?? 0) + 1);
  }

  /** Distinct values with how often they were seen, smallest first. */
  groups(): [value: number, times: number][] {
    const groups: [number, number][] = [];
    for (const [value, times] of this.#small.entries()) if (times > 0) groups.push([value, times]);
    const large = [...this.#large].sort(([a], [b]) => a - b);
    return groups.concat(large);
  }

  summary(): DistributionSummary {
    const { count, sum } = this;
    const groups = this.groups();
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

  /** 0 where all values are equal, near 1 where one has nearly everything. */
  gini(): number {
    const { count, sum } = this;
    let rank = 0;
    let weighted = 0;
    for (const [value, times] of this.groups()) {
      weighted += value * times * (2 * rank + times - count);
      rank += times;
    }
    return count === 0 || sum === 0 ? 0 : weighted / (count * sum);
  }

  /**
   * The Lorenz curve: the share of the sum (y) that the smallest values up to a share of all (x)
   * have.
   */
  lorenz(): CurvePoint[] {
    return thinned(cumulative(this.groups(), this.count, this.sum));
  }

  /** The share of the sum (y) that the largest values up to a share of all (x) have. */
  concentration(): CurvePoint[] {
    return thinned(cumulative(this.groups().reverse(), this.count, this.sum));
  }

  /** The share x of all, largest first, that has the share 1 - x of the sum: 0.3 is "70/30". */
  paretoShare(): number {
    let last: CurvePoint = { x: 0, y: 0 };
    for (const point of cumulative(this.groups().reverse(), this.count, this.sum)) {
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
   * What is saved when each value, largest first, is replaced by 1: x is how many were, y the share
   * of `total` that is gone.
   */
  reduction(total: number): CurvePoint[] {
    const points: CurvePoint[] = [{ x: 0, y: 0 }];
    let [n, saved] = [0, 0];
    for (const [value, times] of this.groups().reverse()) {
      // Straight over a linear axis; over a logarithmic one it takes points in between.
      for (let x = Math.max(1, n * 2); x < n + times; x *= 2) {
        points.push({ x, y: total === 0 ? 0 : (saved + (x - n) * (value - 1)) / total });
      }
      n += times;
      saved += times * (value - 1);
      points.push({ x: n, y: total === 0 ? 0 : saved / total });
    }
    return thinnedByRatio(points);
  }
}

/** The value of the given rank, counted from 1; ranks between two round down. */
function valueAt(groups: readonly (readonly [number, number])[], rank: number): number {
  let seen = 0;
  for (const [value, times] of groups) {
    seen += times;
    if (seen >= Math.floor(rank)) return value;
  }
  return 0;
}

function cumulative(
  groups: readonly (readonly [number, number])[],
  count: number,
  sum: number,
): CurvePoint[] {
  const points: CurvePoint[] = [{ x: 0, y: 0 }];
  let [n, total] = [0, 0];
  for (const [value, times] of groups) {
    n += times;
    total += value * times;
    points.push({ x: n / count, y: total / sum });
  }
  return points;
}

function thinned(points: readonly CurvePoint[]): CurvePoint[] {
  const kept: CurvePoint[] = [];
  for (const [i, point] of points.entries()) {
    const last = kept.at(-1);
    const isFar =
      last === undefined || point.x - last.x >= CURVE_STEP || point.y - last.y >= CURVE_STEP;
    if (isFar || i === points.length - 1) kept.push(point);
  }
  return kept;
}

/** For curves drawn over a logarithmic axis. */
function thinnedByRatio(points: readonly CurvePoint[]): CurvePoint[] {
  const kept: CurvePoint[] = [];
  for (const [i, point] of points.entries()) {
    const last = kept.at(-1);
    const isFar =
      last === undefined || point.x >= last.x * 1.2 || point.y - last.y >= CURVE_STEP * 2;
    if (isFar || i === points.length - 1) kept.push(point);
  }
  return kept;
}
