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
const LEAST_ODDS = LEAST / (1 - LEAST);
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
    this.#takeRows(path, slots, evidence);
    this.#takePopularity(path, slots, evidence);
    const { halves } = evidence.table;
    const { weights, logits } = this;
    const cells = this.#cells;
    const { shape } = path;
    const [domain, host] = this.#popular;
    const all = this.archives * WEIGHTS;
    const shared =
      weights[all + SHAPE_BIAS + shape] +
      weights[all + POPULAR] * domain +
      weights[all + POPULAR + 1] * host;
    const end = only < 0 ? this.archives : only + 1;
    for (let archive = only < 0 ? 0 : only; archive < end; archive++) {
      const state = answer < 0 ? KNOWN.nothing : answers.of(answer, archive);
      const x = Math.log(this.#odds(archive, halves, state, trust));
      const own = archive * WEIGHTS;
      const ownCell = own + CELL_BIAS + cells[archive];
      const allCell = all + CELL_BIAS + cells[archive];
      this.#xs[archive] = x;
      logits[archive] =
        (weights[own + SLOPE] + weights[all + SLOPE]) * x +
        weights[ownCell] +
        weights[allCell] +
        (weights[ownCell + CELLS] + weights[allCell + CELLS]) * (x + CENTRE) +
        weights[own + SHAPE_BIAS + shape] +
        weights[own + POPULAR] * domain +
        weights[own + POPULAR + 1] * host +
        shared;
    }
  }

  /** The prefixes that anything is known of, from everything on. */
  #takeRows(path: KeyPath, slots: Int32Array, evidence: Evidence): void {
    let rows = 0;
    for (let place = 0; place < path.length - 1; place++) {
      if (slots[place] < 0) continue;
      this.#rowStarts[rows] = evidence.countsOf(slots[place]);
      this.#rowLevels[rows] = path.levels[place];
      rows++;
    }
    this.#rows = rows;
  }

  /**
   * The odds of a hit by the longest prefix, shrunk toward those above it. What is known of a prefix is counted
   * without the next: otherwise the same answers would count once for each prefix. What was answered for the
   * original itself, one of `KNOWN`, is the longest prefix.
   *
   * Holds odds as two numbers, of which only the proportion counts: that needs one division in place of one for
   * each prefix.
   */
  #odds(archive: number, counts: Uint16Array, state: number, trust: number): number {
    const shrinkages = this.#shrinkages;
    const starts = this.#rowStarts;
    const levels = this.#rowLevels;
    const rows = this.#rows;
    let hit = this.priors[archive];
    let miss = 1 - hit;
    let asked = 0;
    let hits = 0;
    let weight = 0;
    let level = -1;
    for (let row = 0; row < rows; row++) {
      const at = starts[row] + archive * 2;
      const below = counts[at];
      if (below === 0) continue;
      const hitsBelow = counts[at + 1];
      if (asked > below) {
        const others = asked - below;
        const found = within(hits - hitsBelow, others);
        const sum = hit + miss;
        hit = found * sum + weight * hit;
        miss = (others - found) * sum + weight * miss;
      }
      asked = below;
      hits = hitsBelow;
      level = levels[row];
      weight = UNIT * shrinkages[archive * LEVELS + level];
    }
    if (state === KNOWN.nothing) {
      this.known[archive] = asked / UNIT;
      this.#cells[archive] = level < 0 ? 0 : level * AMOUNTS + amountOf(asked);
    } else {
      const isHit = state === KNOWN.hit;
      const others = asked - UNIT;
      if (others > 0) {
        const found = within(hits - (isHit ? UNIT : 0), others);
        const sum = hit + miss;
        hit = found * sum + weight * hit;
        miss = (others - found) * sum + weight * miss;
      }
      this.known[archive] = Math.max(asked / UNIT, trust);
      asked = trust;
      hits = isHit ? trust : 0;
      weight = shrinkages[archive * LEVELS + LEVEL.original];
      this.#cells[archive] = LEVEL.original * AMOUNTS + (isHit ? 1 : 0);
    }
    if (asked > 0) {
      const sum = hit + miss;
      hit = hits * sum + weight * hit;
      miss = (asked - hits) * sum + weight * miss;
    }
    const odds = hit / miss;
    return odds < LEAST_ODDS ? LEAST_ODDS : odds > 1 / LEAST_ODDS ? 1 / LEAST_ODDS : odds;
  }

  /** How many times as many hits as expected all archives have at the domain and the host. */
  #takePopularity(path: KeyPath, slots: Int32Array, evidence: Evidence): void {
    let [domain, host] = [0, 0];
    for (let place = 0; place < path.length - 1; place++) {
      const level = path.levels[place];
      const slot = slots[place];
      if (slot < 0) continue;
      if (level === LEVEL.domain) domain = Math.log(evidence.popularity(slot));
      else if (level === LEVEL.host) host = Math.log(evidence.popularity(slot));
    }
    this.#popular[0] = domain;
    this.#popular[1] = host;
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
        estimate = shrunk(estimate, this.#shrinkages[archive * LEVELS + level], others, otherHits);
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

function firstShrinkage(level: number): (typeof SHRINKAGES)[number] {
  if (level === LEVEL.all) return PRIOR_WEIGHT;
  return level === LEVEL.original ? FIRST_OF_ORIGINAL : FIRST_SHRINKAGE;
}

/** An estimate that counts for `weight` answers, after so many more. */
function shrunk(estimate: number, weight: number, asked: number, hits: number): number {
  return (within(hits, asked) + weight * estimate) / (asked + weight);
}

function within(hits: number, asked: number): number {
  return hits < 0 ? 0 : hits > asked ? asked : hits;
}

/** A class of amounts of answers, which are in sixteenths. */
function amountOf(asked: number): number {
  return asked < 1.5 * UNIT ? 0 : asked < 3.5 * UNIT ? 1 : asked < 15.5 * UNIT ? 2 : 3;
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
