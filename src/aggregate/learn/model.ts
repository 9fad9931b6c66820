import { type Answers, KNOWN, type PrefixCounts, rowOf, type Table } from "./counts.ts";
import { LEVEL, LEVELS, type Prefixes, SHAPES } from "./prefixes.ts";

/** How many answers the estimate of the prefix above counts for. */
const SHRINKAGE = 6;
const SHRINKAGE_OF_ORIGINAL = 0.3;

/** How many answers are known for the longest prefix: 1, 2 to 3, 4 to 15, more. */
const AMOUNTS = 4;
const CELLS = LEVELS * AMOUNTS;

/** Where the weights of each kind begin. */
const SLOPE = 0;
const CELL_BIAS = 1;
const SHAPE_BIAS = CELL_BIAS + CELLS;
const MAP_BIAS = SHAPE_BIAS + SHAPES;
const MAP_SLOPE = MAP_BIAS + 1;
const WEIGHTS = MAP_SLOPE + 1;

const SHARED_RATE = 0.05;
const OWN_RATE = 0.02;
const FIRST_SQUARES = 0.01;

/** Chances are kept away from 0 and 1. */
const MIN_CHANCE = 1e-6;

/** What the list of archives says: the chance where nothing else is known, and from which length of prefix on. */
export interface Prior {
  readonly chance: number;
  readonly start: number;
}

/** What is known of an original before it is predicted. */
export interface Facts {
  readonly path: Prefixes;
  /** The row of each prefix, or -1. */
  readonly rows: readonly number[];
  readonly counts: PrefixCounts;
  readonly answers: Answers;
  /** The row of the original, or -1, and from 0 to 1 how far its answers still hold. */
  readonly answer: number;
  readonly trust: number;
  /** By archive. */
  readonly priors: readonly Prior[];
}

/**
 * The chance that archives have an original, from what they answered along the key tree.
 *
 * The estimate of a prefix is shrunk toward that of the prefix above it. A logistic regression, learnt
 * with each answer, corrects the estimate of the longest prefix: by how long it is, how much is known of
 * it, and the depth of the path. Each weight is the sum of one for all archives and one for this.
 */
export class HitModel {
  /** The logits of the last prediction, by archive. */
  readonly logits: Float64Array;
  /** Those for all archives come first. */
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

  /** The weight of an archive and that of all. */
  #weight(archive: number, weight: number): number {
    const { data } = this.weights;
    return data[(archive + 1) * WEIGHTS + weight] + data[weight];
  }

  /**
   * The share of hits below the longest prefix that is known, shrunk toward those above it. What is known of
   * a prefix is counted without the next: otherwise the same answers would count once for each prefix. What
   * was answered for the original itself is the longest prefix.
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

  /** How many answers the estimate of a prefix rests on. */
  strength(asked: number): number {
    return asked + SHRINKAGE;
  }

  /** The logit of an archive; with a likelihood where its map says present. */
  logit(archive: number, mapLikelihood?: number): number {
    if (mapLikelihood === undefined) return this.logits[archive];
    const bias = this.#weight(archive, MAP_BIAS);
    const slope = this.#weight(archive, MAP_SLOPE);
    return this.logits[archive] + bias + slope * logitOf(mapLikelihood);
  }

  /** Learns from an answer for what was predicted last. */
  update(archive: number, isHit: boolean, { shape }: Prefixes, mapLikelihood?: number): void {
    const error = chanceOf(this.logit(archive, mapLikelihood)) - (isHit ? 1 : 0);
    this.#step(archive, SLOPE, error * this.#xs[archive]);
    this.#step(archive, CELL_BIAS + this.#cells[archive], error);
    this.#step(archive, SHAPE_BIAS + shape, error);
    if (mapLikelihood === undefined) return;
    this.#step(archive, MAP_BIAS, error);
    this.#step(archive, MAP_SLOPE, error * logitOf(mapLikelihood));
  }

  /** AdaGrad, for the weight of the archive and that of all. */
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

/** An estimate that counts for `weight` answers, after so many more. */
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
