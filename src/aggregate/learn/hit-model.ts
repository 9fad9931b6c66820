import { KNOWN, type Answers, type Evidence, UNIT } from "./evidence.ts";
import { type KeyPath, LEVEL, LEVELS, SHAPES } from "./key-path.ts";

/** How many answers the estimate of the prefix above counts for: one of these, whichever predicts best. */
const SHRINKAGES = [0.1, 0.3, 1, 3, 10, 30, 100] as const;
const FIRST_SHRINKAGE = 3;
/** What an archive answered for the same original counts for more from the first. */
const FIRST_OF_ORIGINAL = 0.3;
/** How much what holds for other archives says about this one. */
const POOLED_SHARE = 0.1;
/** How much better another shrinkage must have predicted, for each step from the first, in nats. */
const DOUBT = 0.5;

/** How many answers are known for the longest prefix: 1, 2 to 3, 4 to 15, more. */
const AMOUNTS = 4;
const CELLS = LEVELS * AMOUNTS;

/** Where the weights of each kind begin. */
const SLOPE = 0;
const CELL_BIAS = 1;
const CELL_SLOPE = CELL_BIAS + CELLS;
const SHAPE_BIAS = CELL_SLOPE + CELLS;
const POPULAR = SHAPE_BIAS + SHAPES;
const MAP_BIAS = POPULAR + 2;
const MAP_SLOPE = MAP_BIAS + 1;
const WEIGHTS = MAP_SLOPE + 1;

const SHARED_RATE = 0.05;
const OWN_RATE = 0.02;
const FIRST_SQUARES = 0.01;

/** Chances are kept away from 0 and 1. */
const LEAST = 1e-6;
/** The middle of the scale of slopes, so that they change no chance on average. */
const CENTRE = 3;

/** What is known of an archive before any answer: how many answers its probability counts for. */
const PRIOR_WEIGHT = 3;

/**
 * The chance that archives have an original, from what they answered along the key tree.
 *
 * The estimate of a prefix is shrunk toward that of the prefix above it, by as many answers as have
 * predicted best so far, for each archive and kind of prefix. A logistic regression, learnt with each
 * answer, corrects the estimate of the longest prefix: by how long it is and how much is known of it,
 * the depth of the path, and how popular the domain and the host are with all archives. Each weight is
 * the sum of one for all archives and one for this.
 *
 * Deterministic. A few kilobytes an archive.
 */
export class HitModel {
  readonly archives: number;
  /** The logits of the last prediction, by archive. */
  readonly logits: Float64Array;
  /** How many answers the last prediction is worth, by archive. */
  readonly known: Float64Array;
  /** The place in the path of the longest prefix of which anything is known, by archive. */
  readonly deepest: Int8Array;
  /** By archive: how likely it is to have something nothing is known of. */
  readonly priors: Float64Array;
  readonly weights: Float64Array;
  readonly squares: Float64Array;
  readonly losses: Float64Array;
  readonly #shrinkages: Float64Array;
  /** The logits of estimates before the regression, by archive. */
  readonly #xs: Float64Array;
  readonly #cells: Uint8Array;
  readonly #rowStarts = new Int32Array(16);
  readonly #rowPlaces = new Uint8Array(16);
  readonly #rowLevels = new Uint8Array(16);
  #rows = 0;
  readonly #popular = new Float64Array(2);
  #updates = 0;

  constructor(priors: readonly number[]) {
    const archives = priors.length;
    this.archives = archives;
    this.priors = Float64Array.from(priors);
    this.logits = new Float64Array(archives);
    this.known = new Float64Array(archives);
    this.deepest = new Int8Array(archives);
    // The last is for all archives.
    this.weights = new Float64Array((archives + 1) * WEIGHTS);
    this.squares = new Float64Array((archives + 1) * WEIGHTS).fill(FIRST_SQUARES);
    this.weights[archives * WEIGHTS + SLOPE] = 1;
    this.losses = new Float64Array((archives + 1) * LEVELS * SHRINKAGES.length);
    this.#shrinkages = Float64Array.from({ length: (archives + 1) * LEVELS }, (_, i) =>
      firstShrinkage(i % LEVELS),
    );
    this.#xs = new Float64Array(archives);
    this.#cells = new Uint8Array(archives);
  }

  /**
   * Predicts for all archives, or for one.
   *
   * @param slots the slot of each prefix but the original, -1 for one nothing is known of.
   * @param answer the slot of the original, or -1.
   * @param trust from 0 to 1: how far what was answered for the original still holds.
   */
  predict(
    path: KeyPath,
    slots: Int32Array,
    evidence: Evidence,
    answers: Answers,
    answer: number,
    trust: number,
    only = -1,
  ): void {
    this.#takeRows(path, slots);
    this.#takePopularity(path, slots, evidence);
    const end = only < 0 ? this.archives : only + 1;
    for (let archive = only < 0 ? 0 : only; archive < end; archive++) {
      const state = answer < 0 ? KNOWN.nothing : answers.of(answer, archive);
      const x = logitOf(this.#estimate(archive, evidence.counts, state, trust, path.length));
      this.#xs[archive] = x;
      this.logits[archive] = this.#logit(archive, path.shape, x, this.#cells[archive]);
    }
  }

  /** The prefixes that anything is known of, from everything on. */
  #takeRows(path: KeyPath, slots: Int32Array): void {
    let rows = 0;
    for (let place = 0; place < path.length - 1; place++) {
      if (slots[place] < 0) continue;
      this.#rowStarts[rows] = slots[place] * this.archives * 2;
      this.#rowPlaces[rows] = place;
      this.#rowLevels[rows] = path.levels[place];
      rows++;
    }
    this.#rows = rows;
  }

  /**
   * The estimate of the longest prefix, shrunk toward those above it. What is known of a prefix is counted without
   * the next: otherwise the same answers would count once for each prefix. What was answered for the original
   * itself, one of `KNOWN`, is the longest prefix.
   */
  #estimate(
    archive: number,
    counts: Uint16Array,
    state: number,
    trust: number,
    length: number,
  ): number {
    let estimate = this.priors[archive];
    let [asked, hits, weight, last] = [0, 0, 0, -1];
    for (let row = 0; row < this.#rows; row++) {
      const at = this.#rowStarts[row] + archive * 2;
      const below = counts[at];
      if (below === 0) continue;
      const hitsBelow = counts[at + 1];
      if (asked > below) estimate = shrunk(estimate, weight, asked - below, hits - hitsBelow);
      asked = below;
      hits = hitsBelow;
      last = row;
      weight = UNIT * this.#shrinkageOf(archive, this.#rowLevels[row]);
    }
    const answers = asked / UNIT;
    if (state === KNOWN.nothing) {
      this.known[archive] = answers;
      this.deepest[archive] = last < 0 ? 0 : this.#rowPlaces[last];
      this.#cells[archive] = last < 0 ? 0 : this.#rowLevels[last] * AMOUNTS + amountOf(answers);
    } else {
      const isHit = state === KNOWN.hit;
      const others = asked - UNIT;
      if (others > 0) estimate = shrunk(estimate, weight, others, hits - (isHit ? UNIT : 0));
      asked = trust;
      hits = isHit ? trust : 0;
      weight = this.#shrinkages[archive * LEVELS + LEVEL.original];
      this.known[archive] = Math.max(answers, trust);
      this.deepest[archive] = length - 1;
      this.#cells[archive] = LEVEL.original * AMOUNTS + (isHit ? 1 : 0);
    }
    return asked === 0 ? estimate : shrunk(estimate, weight, asked, hits);
  }

  #shrinkageOf(archive: number, level: number): number {
    return level === LEVEL.all ? PRIOR_WEIGHT : this.#shrinkages[archive * LEVELS + level];
  }

  /** How many times as many hits as expected all archives have at the domain and the host. */
  #takePopularity(path: KeyPath, slots: Int32Array, { totals }: Evidence): void {
    const popular = this.#popular;
    popular.fill(0);
    for (let place = 0; place < path.length - 1; place++) {
      const level = path.levels[place];
      const slot = slots[place];
      if (slot < 0 || (level !== LEVEL.domain && level !== LEVEL.host)) continue;
      const ratio = Math.log((totals[slot * 2] + 0.5) / (totals[slot * 2 + 1] + 0.5));
      popular[level === LEVEL.host ? 1 : 0] = ratio;
    }
  }

  #logit(archive: number, shape: number, x: number, cell: number): number {
    const { weights } = this;
    const own = archive * WEIGHTS;
    const all = this.archives * WEIGHTS;
    const popular = this.#popular;
    return (
      (weights[own] + weights[all]) * x +
      weights[own + CELL_BIAS + cell] +
      weights[all + CELL_BIAS + cell] +
      (weights[own + CELL_SLOPE + cell] + weights[all + CELL_SLOPE + cell]) * (x + CENTRE) +
      weights[own + SHAPE_BIAS + shape] +
      weights[all + SHAPE_BIAS + shape] +
      (weights[own + POPULAR] + weights[all + POPULAR]) * popular[0] +
      (weights[own + POPULAR + 1] + weights[all + POPULAR + 1]) * popular[1]
    );
  }

  /** As many answers as the estimate of the host rests on. */
  strengthAt(archive: number, level: number, asked: number): number {
    return asked + this.#shrinkages[archive * LEVELS + level];
  }

  /** The logit of an archive whose map says present, with a likelihood; after `predict`. */
  withMap(archive: number, likelihood: number): number {
    const { weights } = this;
    const own = archive * WEIGHTS;
    const all = this.archives * WEIGHTS;
    return (
      this.logits[archive] +
      weights[own + MAP_BIAS] +
      weights[all + MAP_BIAS] +
      (weights[own + MAP_SLOPE] + weights[all + MAP_SLOPE]) * logitOf(likelihood)
    );
  }

  /** All that was learnt: for each part, as many numbers for every archive, and last for all. */
  get state(): readonly Float64Array[] {
    return [this.weights, this.squares, this.losses, this.#shrinkages];
  }

  /** Takes what another model learnt; `numbers` are the archives as this one counts them, or -1. */
  restore(state: readonly Float64Array[], numbers: readonly number[]): void {
    for (const [i, part] of this.state.entries()) {
      const width = part.length / (this.archives + 1);
      for (const [old, number] of [...numbers, this.archives].entries()) {
        if (number < 0) continue;
        part.set(state[i].subarray(old * width, (old + 1) * width), number * width);
      }
    }
  }

  /**
   * Learns from an answer for what was predicted last, before the evidence has it.
   *
   * @param mapLikelihood where the map of the archive says present, how likely it makes it.
   */
  update(
    archive: number,
    isHit: boolean,
    weight: number,
    path: KeyPath,
    mapLikelihood: number | undefined,
  ): void {
    const cell = this.#cells[archive];
    const x = this.#xs[archive];
    const logit =
      mapLikelihood === undefined ? this.logits[archive] : this.withMap(archive, mapLikelihood);
    const error = weight * (chanceOf(logit) - (isHit ? 1 : 0));
    this.#step(archive, SLOPE, error * x);
    this.#step(archive, CELL_BIAS + cell, error);
    this.#step(archive, CELL_SLOPE + cell, error * (x + CENTRE));
    this.#step(archive, SHAPE_BIAS + path.shape, error);
    this.#step(archive, POPULAR, error * this.#popular[0]);
    this.#step(archive, POPULAR + 1, error * this.#popular[1]);
    if (mapLikelihood === undefined) return;
    this.#step(archive, MAP_BIAS, error);
    this.#step(archive, MAP_SLOPE, error * logitOf(mapLikelihood));
  }

  /** AdaGrad, for the weight of the archive and that of all. */
  #step(archive: number, weight: number, gradient: number): void {
    if (gradient === 0) return;
    const { weights, squares } = this;
    const own = archive * WEIGHTS + weight;
    const all = this.archives * WEIGHTS + weight;
    const square = gradient * gradient;
    squares[own] += square;
    squares[all] += square;
    weights[own] -= (OWN_RATE * gradient) / Math.sqrt(squares[own]);
    weights[all] -= (SHARED_RATE * gradient) / Math.sqrt(squares[all]);
  }

  /** Learns by how much estimates of an archive are to be shrunk, before the evidence has the answer. */
  learnShrinkage(
    archive: number,
    isHit: boolean,
    path: KeyPath,
    slots: Int32Array,
    evidence: Evidence,
    known: number,
  ): void {
    // Seven logarithms for each prefix: later on, a part of the answers is enough.
    this.#updates++;
    if (this.#updates > 20_000 && this.#updates % 4 !== 0) return;
    let estimate = this.priors[archive];
    let [asked, hits, level] = [0, 0, -1];
    for (let place = 0; place < path.length; place++) {
      const isOriginal = path.levels[place] === LEVEL.original;
      if (!isOriginal && slots[place] < 0) continue;
      const isKnown = known !== KNOWN.nothing;
      const below = isOriginal ? (isKnown ? 1 : 0) : evidence.asked(slots[place], archive);
      if (below === 0) continue;
      const hitsBelow = isOriginal
        ? known === KNOWN.hit
          ? 1
          : 0
        : evidence.hits(slots[place], archive);
      if (asked > below) {
        const others = asked - below;
        const otherHits = Math.min(others, Math.max(0, hits - hitsBelow));
        if (level !== LEVEL.all) this.#compare(archive, level, isHit, others, otherHits, estimate);
        estimate = shrunk(estimate, this.#shrinkageOf(archive, level), others, otherHits);
      }
      asked = below;
      hits = hitsBelow;
      level = path.levels[place];
    }
    if (level > LEVEL.all) this.#compare(archive, level, isHit, asked, hits, estimate);
  }

  #compare(
    archive: number,
    level: number,
    isHit: boolean,
    asked: number,
    hits: number,
    above: number,
  ): void {
    const { losses, archives } = this;
    const width = SHRINKAGES.length;
    const own = (archive * LEVELS + level) * width;
    const all = (archives * LEVELS + level) * width;
    for (let i = 0; i < width; i++) {
      const weight = SHRINKAGES[i];
      const estimate = clipped((hits + weight * above) / (asked + weight));
      const loss = -Math.log(isHit ? estimate : 1 - estimate);
      losses[own + i] += loss;
      losses[all + i] += loss;
    }
    this.#choose(archive, level);
  }

  /** Takes the shrinkage with the least loss so far. */
  #choose(archive: number, level: number): void {
    const { losses, archives } = this;
    const width = SHRINKAGES.length;
    const own = (archive * LEVELS + level) * width;
    const all = (archives * LEVELS + level) * width;
    const first = SHRINKAGES.indexOf(firstShrinkage(level));
    let best: number = firstShrinkage(level);
    let least = Infinity;
    for (let i = 0; i < width; i++) {
      const doubt = DOUBT * Math.abs(i - first);
      const total = doubt + losses[own + i] + POOLED_SHARE * losses[all + i];
      if (total >= least) continue;
      least = total;
      best = SHRINKAGES[i];
    }
    this.#shrinkages[archive * LEVELS + level] = best;
  }
}

function firstShrinkage(level: number): typeof FIRST_SHRINKAGE | typeof FIRST_OF_ORIGINAL {
  return level === LEVEL.original ? FIRST_OF_ORIGINAL : FIRST_SHRINKAGE;
}

/** An estimate that counts for `weight` answers, after so many more. */
function shrunk(estimate: number, weight: number, asked: number, hits: number): number {
  const counted = hits < 0 ? 0 : hits > asked ? asked : hits;
  return (counted + weight * estimate) / (asked + weight);
}

function amountOf(asked: number): number {
  return asked < 1.5 ? 0 : asked < 3.5 ? 1 : asked < 15.5 ? 2 : 3;
}

function clipped(chance: number): number {
  return chance < LEAST ? LEAST : chance > 1 - LEAST ? 1 - LEAST : chance;
}

function logitOf(chance: number): number {
  const safe = clipped(chance);
  return Math.log(safe / (1 - safe));
}

export function chanceOf(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}
