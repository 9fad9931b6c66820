import { type Answers, KNOWN, type PrefixCounts, rowOf, type Table } from "./counts.ts";
import { LEVEL, LEVELS, type Prefixes, SHAPES } from "./prefixes.ts";

/** The weight, in answers, of the estimate of the parent prefix. */
const SHRINKAGE = 6;
const SHRINKAGE_OF_ORIGINAL = 0.3;

/** Number of classes of answers for the longest prefix: 1, 2 to 3, 4 to 15, more. */
const AMOUNTS = 4;
const CELLS = LEVELS * AMOUNTS;

/** Offsets of the weights of each kind. */
const SLOPE = 0;
const CELL_BIAS = 1;
const SHAPE_BIAS = CELL_BIAS + CELLS;
const MAP_BIAS = SHAPE_BIAS + SHAPES;
const MAP_SLOPE = MAP_BIAS + 1;
const WEIGHTS = MAP_SLOPE + 1;

const SHARED_RATE = 0.05;
const OWN_RATE = 0.02;
const FIRST_SQUARES = 0.01;

/** Probabilities are kept away from 0 and 1. */
const MIN_CHANCE = 1e-6;

/** The prior by the list of archives: the probability, and the length of prefix from which it applies. */
export interface Prior {
  readonly chance: number;
  readonly start: number;
}

/** What is known about an original before the prediction. */
export interface Facts {
  readonly path: Prefixes;
  /** The row of each prefix, or -1. */
  readonly rows: readonly number[];
  readonly counts: PrefixCounts;
  readonly answers: Answers;
  /** The row of the original, or -1, and the remaining validity of its answers, from 0 to 1. */
  readonly answer: number;
  readonly trust: number;
  /** By archive. */
  readonly priors: readonly Prior[];
}

/**
 * The probability that archives have an original, from their answers along the key tree.
 *
 * The estimate of a prefix is shrunk toward that of its parent. An online logistic regression corrects the
 * estimate of the longest prefix: by its length, the number of its answers, and the depth of the path. Each
 * weight is the sum of a shared one and one of the archive.
 */
export class HitModel {
  /** The logits of the last prediction, by archive. */
  readonly logits: Float64Array;
  /** The shared ones come first. */
  readonly weights: Table;
  readonly squares: Table;
  /** Logits before the regression, by archive, and their cells. */
  readonly #xs: Float64Array;
  readonly #cells: Uint8Array;

  constructor(archives: number) {
    this.logits = new Float64Array(archives);
    this.weights = rowOf(archives, WEIGHTS, WEIGHTS);
    this.weights.data[SLOPE] = 1;
    this.squares = rowOf(archives, WEIGHTS, WEIGHTS);
    this.squares.data.fill(FIRST_SQUARES);
    this.#xs = new Float64Array(archives);
    this.#cells = new Uint8Array(archives);
  }

  /** Predicts for all archives, or for one. */
  predict(facts: Facts, only?: number): void {
    const first = only ?? 0;
    const end = only === undefined ? this.logits.length : only + 1;
    for (let archive = first; archive < end; archive++) {
      const x = logitOf(this.#estimate(archive, facts));
      this.#xs[archive] = x;
      this.logits[archive] =
        this.#weight(archive, SLOPE) * x +
        this.#weight(archive, CELL_BIAS + this.#cells[archive]) +
        this.#weight(archive, SHAPE_BIAS + facts.path.shape);
    }
  }

  /** The sum of an archive's weight and the shared one. */
  #weight(archive: number, weight: number): number {
    const { data } = this.weights;
    return data[(archive + 1) * WEIGHTS + weight] + data[weight];
  }

  /**
   * The hit rate below the longest known prefix, shrunk toward those of its parents. The counts of a prefix
   * exclude the next longer one: otherwise the same answers would count once for each prefix. Answers for the
   * original itself count as the longest prefix.
   */
  #estimate(archive: number, { path, rows, counts, answers, ...facts }: Facts): number {
    const { chance, start } = facts.priors[archive];
    let estimate = chance;
    let [asked, hits, level] = [0, 0, -1];
    for (const [place, row] of rows.entries()) {
      if (row < 0 || path.texts[place].length < start) continue;
      const below = counts.asked(row, archive);
      if (below === 0) continue;
      const hitsBelow = counts.hits(row, archive);
      estimate = shrunk(estimate, asked - below, hits - hitsBelow, SHRINKAGE);
      [asked, hits, level] = [below, hitsBelow, path.levels[place]];
    }
    const state = facts.answer < 0 ? KNOWN.nothing : answers.of(facts.answer, archive);
    if (state === KNOWN.nothing) {
      this.#cells[archive] = level < 0 ? 0 : level * AMOUNTS + amountOf(asked);
      return shrunk(estimate, asked, hits, SHRINKAGE);
    }
    const hit = state === KNOWN.hit ? 1 : 0;
    estimate = shrunk(estimate, asked - 1, hits - hit, SHRINKAGE);
    this.#cells[archive] = LEVEL.original * AMOUNTS + hit;
    return shrunk(estimate, facts.trust, hit * facts.trust, SHRINKAGE_OF_ORIGINAL);
  }

  /** The number of answers behind the estimate of a prefix. */
  strength(asked: number): number {
    return asked + SHRINKAGE;
  }

  /** The logit of an archive; with the probability by its map, if the map has the URI. */
  logit(archive: number, mapLikelihood?: number): number {
    if (mapLikelihood === undefined) return this.logits[archive];
    const bias = this.#weight(archive, MAP_BIAS);
    const slope = this.#weight(archive, MAP_SLOPE);
    return this.logits[archive] + bias + slope * logitOf(mapLikelihood);
  }

  /** Learns from an answer to the last prediction. */
  update(archive: number, isHit: boolean, { shape }: Prefixes, mapLikelihood?: number): void {
    const error = chanceOf(this.logit(archive, mapLikelihood)) - (isHit ? 1 : 0);
    this.#step(archive, SLOPE, error * this.#xs[archive]);
    this.#step(archive, CELL_BIAS + this.#cells[archive], error);
    this.#step(archive, SHAPE_BIAS + shape, error);
    if (mapLikelihood === undefined) return;
    this.#step(archive, MAP_BIAS, error);
    this.#step(archive, MAP_SLOPE, error * logitOf(mapLikelihood));
  }

  /** An AdaGrad step for the archive's weight and the shared one. */
  #step(archive: number, weight: number, gradient: number): void {
    for (const [at, rate] of [
      [(archive + 1) * WEIGHTS + weight, OWN_RATE],
      [weight, SHARED_RATE],
    ]) {
      this.squares.data[at] += gradient * gradient;
      this.weights.data[at] -= (rate * gradient) / Math.sqrt(this.squares.data[at]);
    }
  }
}

/** An estimate with a weight of `weight` answers, updated by further answers. */
function shrunk(estimate: number, asked: number, hits: number, weight: number): number {
  if (asked <= 0) return estimate;
  const found = Math.min(asked, Math.max(0, hits));
  return (found + weight * estimate) / (asked + weight);
}

function amountOf(asked: number): number {
  return asked < 1.5 ? 0 : asked < 3.5 ? 1 : asked < 15.5 ? 2 : 3;
}

function logitOf(chance: number): number {
  const safe = Math.min(1 - MIN_CHANCE, Math.max(MIN_CHANCE, chance));
  return Math.log(safe / (1 - safe));
}

export function chanceOf(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}
