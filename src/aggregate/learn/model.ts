import { type Answers, KNOWN, type PrefixCounts, type Table } from "./counts.ts";
import { LEVEL, LEVELS, type Prefixes, SHAPES } from "./prefixes.ts";

/** How many answers the estimate of the prefix above counts for: what has predicted best, of these. */
const SHRINKAGES = [0.1, 0.3, 1, 3, 10, 30] as const;
const FIRST_SHRINKAGE = 3;
const SHRINKAGE_OF_ORIGINAL = 0.3;
/** How much better another must have predicted, for each step from the first, in nats. */
const DOUBT = 0.5;
/** How much what holds for all archives says about one. */
const POOLED = 0.1;

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

/** What is known of an original before it is predicted. */
export interface Facts {
  readonly path: Prefixes;
  /** The row of each prefix, or -1. */
  readonly rows: Int32Array;
  readonly counts: PrefixCounts;
  readonly answers: Answers;
  /** The row of the original, or -1, and from 0 to 1 how far its answers still hold. */
  readonly answer: number;
  readonly trust: number;
  /** What the list of archives says: the chance where nothing else is known, and from which length of prefix on. */
  readonly priors: Float64Array;
  readonly priorStarts: Int32Array;
}

/** A prefix in an estimate: its answers without those of the next, and the estimate above it. */
interface Step {
  readonly level: number;
  readonly asked: number;
  readonly hits: number;
  readonly above: number;
}

/**
 * The chance that archives have an original, from what they answered along the key tree.
 *
 * The estimate of a prefix is shrunk toward that of the prefix above it. A logistic regression, learnt
 * with each answer, corrects the estimate of the longest prefix: by how long it is, how much is known of
 * it, and the depth of the path. Each weight is the sum of one for all archives and one for this.
 */
export class HitModel {
  readonly archives: number;
  /** The logits of the last prediction, by archive. */
  readonly logits: Float64Array;
  /** How many answers the last prediction rests on, by archive. */
  readonly known: Float64Array;
  /** Those for all archives come first. */
  readonly weights: Table & { readonly data: Float64Array };
  readonly squares: Table & { readonly data: Float64Array };
  /** By level: what each shrinkage would have lost, in nats, for all archives and then for each. */
  readonly losses: Table & { readonly data: Float64Array };
  /** Logits before the regression, by archive, and their cells. */
  readonly #xs: Float64Array;
  readonly #cells: Uint8Array;
  /** By archive and level. */
  readonly #shrinkages: Float64Array;
  /** The prefixes of the last estimate for one archive, and the estimate above each. */
  #steps: readonly Step[] = [];

  constructor(archives: number) {
    const data = (): Float64Array => new Float64Array((archives + 1) * WEIGHTS);
    this.archives = archives;
    this.logits = new Float64Array(archives);
    this.known = new Float64Array(archives);
    this.weights = { data: data(), own: WEIGHTS, each: WEIGHTS };
    this.squares = { data: data().fill(FIRST_SQUARES), own: WEIGHTS, each: WEIGHTS };
    this.weights.data[SLOPE] = 1;
    this.#shrinkages = new Float64Array(archives * LEVELS).fill(FIRST_SHRINKAGE);
    const width = LEVELS * SHRINKAGES.length;
    this.losses = { data: new Float64Array(width * (archives + 1)), own: width, each: width };
    this.#xs = new Float64Array(archives);
    this.#cells = new Uint8Array(archives);
  }

  /** Predicts for all archives, or for one. */
  predict(facts: Facts, only?: number): void {
    const { data } = this.weights;
    const shape = SHAPE_BIAS + facts.path.shape;
    const end = only === undefined ? this.archives : only + 1;
    for (let archive = only ?? 0; archive < end; archive++) {
      const x = logitOf(this.#estimate(archive, facts, only === undefined ? undefined : []));
      const own = (archive + 1) * WEIGHTS;
      const bias = CELL_BIAS + this.#cells[archive];
      this.#xs[archive] = x;
      this.logits[archive] =
        (data[own + SLOPE] + data[SLOPE]) * x +
        data[own + bias] +
        data[bias] +
        data[own + shape] +
        data[shape];
    }
  }

  /**
   * The share of hits below the longest prefix that is known, shrunk toward those above it. What is known of
   * a prefix is counted without the next: otherwise the same answers would count once for each prefix. What
   * was answered for the original itself is the longest prefix.
   */
  #estimate(archive: number, facts: Facts, steps?: Step[]): number {
    const { path, rows, counts, answers, answer, trust } = facts;
    const start = facts.priorStarts[archive];
    let estimate = facts.priors[archive];
    let [asked, hits, level] = [0, 0, -1];
    const shrinkages = this.#shrinkages;
    const first = archive * LEVELS;
    for (let place = 0; place < rows.length && place < path.texts.length; place++) {
      const row = rows[place];
      if (row < 0 || path.texts[place].length < start) continue;
      const at = counts.at(row, archive);
      const below = counts.data[at];
      if (below === 0) continue;
      const hitsBelow = counts.data[at + 1];
      if (asked > below) {
        if (level > LEVEL.all) {
          steps?.push({ level, asked: asked - below, hits: hits - hitsBelow, above: estimate });
        }
        estimate = shrunk(estimate, asked - below, hits - hitsBelow, shrinkages[first + level]);
      }
      asked = below;
      hits = hitsBelow;
      level = path.levels[place];
    }
    if (steps !== undefined) this.#steps = steps;
    const state = answer < 0 ? KNOWN.nothing : answers.of(answer, archive);
    if (state === KNOWN.nothing) {
      this.known[archive] = asked;
      this.#cells[archive] = level < 0 ? 0 : level * AMOUNTS + amountOf(asked);
      if (level > LEVEL.all) steps?.push({ level, asked, hits, above: estimate });
      return level < 0 ? estimate : shrunk(estimate, asked, hits, shrinkages[first + level]);
    }
    const hit = state === KNOWN.hit ? 1 : 0;
    if (level >= 0) estimate = shrunk(estimate, asked - 1, hits - hit, shrinkages[first + level]);
    this.known[archive] = Math.max(asked, trust);
    this.#cells[archive] = LEVEL.original * AMOUNTS + hit;
    return shrunk(estimate, trust, hit * trust, SHRINKAGE_OF_ORIGINAL);
  }

  /** Takes the shrinkage with the least loss so far. */
  #choose(archive: number, level: number): void {
    const { data, own } = this.losses;
    const all = level * SHRINKAGES.length;
    const start = own * (archive + 1) + all;
    const first = SHRINKAGES.indexOf(FIRST_SHRINKAGE);
    let least = Infinity;
    for (let i = 0; i < SHRINKAGES.length; i++) {
      const loss = DOUBT * Math.abs(i - first) + data[start + i] + POOLED * data[all + i];
      if (loss >= least) continue;
      least = loss;
      this.#shrinkages[archive * LEVELS + level] = SHRINKAGES[i];
    }
  }

  /** Call it when `losses` are those of another model. */
  chooseAll(): void {
    for (let archive = 0; archive < this.archives; archive++) {
      for (let level: number = LEVEL.tld; level < LEVEL.original; level++)
        this.#choose(archive, level);
    }
  }

  #learnShrinkage(archive: number, isHit: boolean): void {
    const { data, own } = this.losses;
    for (const { level, asked, hits, above } of this.#steps) {
      const all = level * SHRINKAGES.length;
      for (let i = 0; i < SHRINKAGES.length; i++) {
        const estimate = clipped(shrunk(above, asked, hits, SHRINKAGES[i]));
        const loss = -Math.log(isHit ? estimate : 1 - estimate);
        data[all + i] += loss;
        data[own * (archive + 1) + all + i] += loss;
      }
      this.#choose(archive, level);
    }
  }

  /** How many answers an estimate rests on. */
  strength(archive: number, level: number, asked: number): number {
    return asked + this.#shrinkages[archive * LEVELS + level];
  }

  /** The logit of an archive; with a likelihood where its map says present. */
  logit(archive: number, mapLikelihood?: number): number {
    if (mapLikelihood === undefined) return this.logits[archive];
    const { data } = this.weights;
    const own = (archive + 1) * WEIGHTS;
    const slope = data[own + MAP_SLOPE] + data[MAP_SLOPE];
    return (
      this.logits[archive] + data[own + MAP_BIAS] + data[MAP_BIAS] + slope * logitOf(mapLikelihood)
    );
  }

  /** Learns from an answer for what was predicted last. */
  update(archive: number, isHit: boolean, { shape }: Prefixes, mapLikelihood?: number): void {
    this.#learnShrinkage(archive, isHit);
    const cell = this.#cells[archive];
    const x = this.#xs[archive];
    const error = chanceOf(this.logit(archive, mapLikelihood)) - (isHit ? 1 : 0);
    this.#step(archive, SLOPE, error * x);
    this.#step(archive, CELL_BIAS + cell, error);
    this.#step(archive, SHAPE_BIAS + shape, error);
    if (mapLikelihood === undefined) return;
    this.#step(archive, MAP_BIAS, error);
    this.#step(archive, MAP_SLOPE, error * logitOf(mapLikelihood));
  }

  /** AdaGrad, for the weight of the archive and that of all. */
  #step(archive: number, weight: number, gradient: number): void {
    const { data } = this.weights;
    const squares = this.squares.data;
    const own = (archive + 1) * WEIGHTS + weight;
    squares[own] += gradient * gradient;
    squares[weight] += gradient * gradient;
    data[own] -= (OWN_RATE * gradient) / Math.sqrt(squares[own]);
    data[weight] -= (SHARED_RATE * gradient) / Math.sqrt(squares[weight]);
  }
}

/** An estimate that counts for `weight` answers, after so many more. */
function shrunk(estimate: number, asked: number, hits: number, weight: number): number {
  if (asked <= 0) return estimate;
  const found = hits < 0 ? 0 : hits > asked ? asked : hits;
  return (found + weight * estimate) / (asked + weight);
}

function amountOf(asked: number): number {
  return asked < 1.5 ? 0 : asked < 3.5 ? 1 : asked < 15.5 ? 2 : 3;
}

function logitOf(chance: number): number {
  const safe = clipped(chance);
  return Math.log(safe / (1 - safe));
}

function clipped(chance: number): number {
  return Math.min(1 - MIN_CHANCE, Math.max(MIN_CHANCE, chance));
}

export function chanceOf(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}
