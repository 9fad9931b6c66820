import { chanceOf } from "./hit-model.ts";

/** Chances are told apart by logits: classes of this width, from the lowest on. */
const CLASSES_PER_LOGIT = 3;
const LOWEST_LOGIT = -11;
export const CLASSES = 48;

/** Hits below all classes before any answer, and those by which what is counted is smoothed. */
const PRIOR_HITS = 0.5;
const POOLED_HITS = 2;
/** Where hits are as seldom, an archive may have more or fewer of them in general. */
const SELDOM = 0.1;
const FACTOR_HITS = 2;
/** Hits by which a mean of mementos is smoothed. */
const MEAN_HITS = 5;

/** The lookups after which what was predicted, and what was answered, counts half. */
const SEEN_HALF_LIFE = 8192;
const ANSWERED_HALF_LIFE = 32_768;
const MEASURED_HALF_LIFE = 16_384;

/** Nothing is spared before this many hits: there is nothing to go by. */
const LEAST_HITS = 30;

/** Standard errors by which the recall is to be above what was promised. */
const CAUTION = 0.4;

/** How many hits exploration is to find in a half-life, and what it may cost of all requests. */
const WANTED_HITS = 60;
const EXPLORED_SHARE = 0.012;
const MOST_EXPLORED = 0.2;
const LEAST_PROPENSITY = 0.004;

/** Explored hits by which their comparison with those that were expected is smoothed. */
const BIAS_HITS = 40;
/** Where others said what to expect: how many times as many are lost, until explored answers say better. */
const DOUBT_OF_OTHERS = 1.5;

const Z = 1.959964;

/** The first parts of the state are by archive and class. */
export const BY_CLASS = 4;

/** A recall as it was measured, with an interval of 95 %. */
export interface MeasuredRecall {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Decides by chances which archives are asked, such that a share of all hits is kept.
 *
 * Counts, for each archive and class of chances, how often it was predicted, how often the archive was
 * asked and what it answered. The classes with the fewest hits are spared, up to as many as the
 * promise allows, less what the counts may be wrong by; the same holds for mementos. Of what is
 * spared, some is asked all the same: the likelier, the more often. From those answers follows what
 * is lost, and so the recall that is measured.
 *
 * Deterministic but for `random`. A few kilobytes an archive.
 */
export class RecallPolicy {
  readonly recall: number;
  readonly archives: number;
  /** By archive and class: lookups, answers, hits and their mementos; older ones count less. */
  readonly seen: Float64Array;
  readonly answered: Float64Array;
  readonly hits: Float64Array;
  readonly mementos: Float64Array;
  /** By archive and class: 1 for those that are asked, else how likely they are explored. */
  readonly propensities: Float64Array;
  /**
   * What was kept and lost: hits, the estimate of lost ones, its square and largest weight; the same of
   * mementos; explored hits that were expected, and that there were.
   */
  readonly measured: Float64Array = new Float64Array(10);
  /** Hits of requests that were made to learn, lately, and their mementos. */
  readonly aside: Float64Array = new Float64Array(2);
  lookups = 0;
  /** The share of hits of the best class that is spared. */
  marginal = 0;
  /** Whether chances rest on what others learnt, too. */
  restsOnOthers = false;
  /** Told of each count, where others decide by the same. */
  counted: { add(cell: number, expected: number): void } | undefined;
  /** By archive and class: the share of hits; 0 before there is anything to go by. */
  readonly rates: Float64Array;
  /** By class: the share of hits, of all archives. */
  readonly #pooled = new Float64Array(CLASSES);
  /** Classes that were taken together: the first, their answers and hits. */
  readonly #pools = Array.from({ length: 3 }, () => new Float64Array(CLASSES));
  /** By archive and class: the mementos of a hit. */
  readonly #perHit: Float64Array;
  /** Cells in the order of their rates: every other word of numbers that are sorted. */
  readonly #sorted: Float64Array;
  readonly #order: Uint32Array;
  #nextPlan = 1;

  constructor(archives: number, recall: number) {
    this.archives = archives;
    this.recall = recall;
    const cells = archives * CLASSES;
    this.seen = new Float64Array(cells);
    this.answered = new Float64Array(cells);
    this.hits = new Float64Array(cells);
    this.mementos = new Float64Array(cells);
    this.propensities = new Float64Array(cells).fill(1);
    this.rates = new Float64Array(cells);
    this.#perHit = new Float64Array(cells);
    this.#sorted = new Float64Array(cells);
    this.#order = new Uint32Array(this.#sorted.buffer);
  }

  /** Call it before the decisions of a lookup, or for some that others decided. */
  begin(lookups = 1): void {
    this.lookups += lookups;
    if (this.lookups < this.#nextPlan) return;
    const next = Math.min(1024, Math.max(8, this.lookups >> 5));
    const late = this.lookups - this.#nextPlan;
    this.#nextPlan = this.lookups + next;
    this.#forget(next + late);
    this.plan();
  }

  /** Where an archive and the class of a chance are. */
  cellOf(archive: number, logit: number): number {
    return archive * CLASSES + classOf(logit);
  }

  /** An archive was asked, or not, as its chance says. */
  count(cell: number, propensity: number): void {
    this.seen[cell]++;
    const expected = propensity < 1 ? propensity * this.rates[cell] : 0;
    this.measured[8] += expected;
    this.counted?.add(cell, expected);
  }

  /** Others that learn the same decided so often about an archive, by class, and expected to explore so many hits. */
  take(archive: number, seen: readonly (readonly [number, number])[], expected: number): void {
    for (const [each, times] of seen) this.seen[archive * CLASSES + each] += times;
    this.measured[8] += expected;
  }

  /** An archive answered that was asked for other reasons than its chance. */
  noteAside(propensity: number, mementos: number): void {
    if (mementos === 0) return;
    this.#measure(propensity, mementos);
    if (propensity < 1) return;
    this.aside[0]++;
    this.aside[1] += mementos;
  }

  /** An archive answered that was asked with that chance and likelihood to be asked. */
  note(archive: number, logit: number, propensity: number, mementos: number): void {
    const cell = this.cellOf(archive, logit);
    this.answered[cell]++;
    if (mementos === 0) return;
    if (propensity < 1) this.measured[9]++;
    this.hits[cell]++;
    this.mementos[cell] += mementos;
    this.#measure(propensity, mementos);
  }

  /** An archive answered that was asked whatever its chance: it tells how often chances are right. */
  noteOutside(archive: number, logit: number, mementos: number): void {
    const cell = this.cellOf(archive, logit);
    this.seen[cell]++;
    this.answered[cell]++;
    if (mementos === 0) return;
    this.hits[cell]++;
    this.mementos[cell] += mementos;
  }

  /** Counts hits in earlier answers that were given again, how many of them are aside, and the mementos of each. */
  keep(hits: number, aside: number, perHit: number): void {
    this.measured[0] += hits;
    this.measured[4] += hits * perHit;
    this.aside[0] += aside;
    this.aside[1] += aside * perHit;
  }

  /** A hit is kept; one of a sample stands for those that are lost. */
  #measure(propensity: number, mementos: number): void {
    const { measured } = this;
    if (propensity >= 1) {
      measured[0]++;
      measured[4] += mementos;
      return;
    }
    const weight = 1 / propensity;
    measured[1] += weight;
    measured[2] += weight * weight;
    measured[3] = Math.max(measured[3], weight);
    measured[5] += weight * mementos;
    measured[6] += (weight * mementos) ** 2;
    measured[7] = Math.max(measured[7], weight * mementos);
  }

  /** All that was counted: by archive and class, and then for all archives. */
  get state(): readonly Float64Array[] {
    const { seen, answered, hits, mementos, measured } = this;
    return [seen, answered, hits, mementos, measured, this.aside];
  }

  /**
   * Takes what another policy counted; `numbers` are the archives as this one counts them, or -1.
   * What was measured for another promise says nothing about this one.
   */
  restore(
    state: readonly Float64Array[],
    numbers: readonly number[],
    lookups: number,
    recall: number,
  ): void {
    for (const [i, part] of this.state.entries()) {
      if (i < BY_CLASS) {
        for (const [old, number] of numbers.entries()) {
          if (number < 0) continue;
          part.set(state[i].subarray(old * CLASSES, (old + 1) * CLASSES), number * CLASSES);
        }
      } else if (recall === this.recall) part.set(state[i]);
    }
    this.lookups = lookups;
    this.plan();
  }

  /** The share of hits that was kept lately; undefined before the first hit. */
  get recallOfHits(): MeasuredRecall | undefined {
    const [kept, lost, squares, most] = this.measured;
    return recallOf(kept, lost, squares, Math.max(most, this.exploredWeight()));
  }

  /** The share of mementos that was kept lately. */
  get recallOfMementos(): MeasuredRecall | undefined {
    const [hits, , , , kept, lost, squares, most] = this.measured;
    const each = hits === 0 ? 1 : kept / hits;
    return recallOf(kept, lost, squares, Math.max(most, this.exploredWeight() * each));
  }

  /**
   * How many spared hits an explored one stands for, of all archives or of some, as far as rates tell; 0 where
   * nothing is spared. Until exploration finds a hit, only this tells how many may be lost.
   */
  exploredWeight(first = 0, end: number = this.archives): number {
    let [spared, explored] = [0, 0];
    for (let cell = first * CLASSES; cell < end * CLASSES; cell++) {
      const propensity = this.propensities[cell];
      if (propensity >= 1) continue;
      const hits = this.seen[cell] * this.rates[cell];
      spared += hits;
      explored += hits * propensity;
    }
    return explored === 0 ? 0 : spared / explored;
  }

  /** The chance below which an archive is spared, 0 where it is always asked. */
  thresholdOf(archive: number): number {
    for (let each = CLASSES - 1; each >= 0; each--) {
      if (this.propensities[archive * CLASSES + each] < 1) return chanceOf(middleOf(each + 0.5));
    }
    return 0;
  }

  /** Decides which classes are asked from now on. Allocates nothing: it is done again and again. */
  plan(): void {
    const { hits, propensities } = this;
    let [found] = this.aside;
    for (let cell = 0; cell < hits.length; cell++) found += hits[cell];
    propensities.fill(1);
    this.marginal = 0;
    if (this.recall >= 1 || found < LEAST_HITS) return;
    this.#poolRates();
    this.#estimateRates();
    this.#estimateMementos();
    this.#sortCells();
    const spared = this.#spare();
    if (spared > 0) this.marginal = this.rates[this.#order[(spared - 1) * 2]];
    this.#explore(spared);
  }

  #forget(passed: number): void {
    const { seen, answered, hits, mementos, measured } = this;
    const seenKept = 2 ** (-passed / SEEN_HALF_LIFE);
    const answeredKept = 2 ** (-passed / ANSWERED_HALF_LIFE);
    for (let cell = 0; cell < seen.length; cell++) {
      seen[cell] *= seenKept;
      answered[cell] *= answeredKept;
      hits[cell] *= answeredKept;
      mementos[cell] *= answeredKept;
    }
    this.aside[0] *= seenKept;
    this.aside[1] *= seenKept;
    const measuredKept = 2 ** (-passed / MEASURED_HALF_LIFE);
    for (let i = 0; i < measured.length; i++) measured[i] *= measuredKept;
  }

  /**
   * The share of hits by class, of all archives. What is likelier by the model has no lower share:
   * classes that contradict it are taken together (pool adjacent violators).
   */
  #poolRates(): void {
    const { answered, hits } = this;
    const pooled = this.#pooled;
    const [starts, askedSums, hitSums] = this.#pools;
    let pools = 0;
    for (let each = 0; each < CLASSES; each++) {
      // The model counts for one answer in each class, and for a hit below all of them.
      let asked = 1;
      let found = chanceOf(middleOf(each)) + (each === 0 ? PRIOR_HITS : 0);
      for (let cell = each; cell < hits.length; cell += CLASSES) {
        asked += answered[cell];
        found += hits[cell];
      }
      let start = each;
      while (pools > 0 && hitSums[pools - 1] * asked >= found * askedSums[pools - 1]) {
        pools--;
        asked += askedSums[pools];
        found += hitSums[pools];
        start = starts[pools];
      }
      starts[pools] = start;
      askedSums[pools] = asked;
      hitSums[pools] = found;
      pools++;
    }
    for (let pool = 0; pool < pools; pool++) {
      pooled.fill(hitSums[pool] / askedSums[pool], starts[pool]);
    }
  }

  /** The share of hits by archive and class: shrunk toward that of all archives times a factor of its own. */
  #estimateRates(): void {
    const { answered, hits, rates } = this;
    const pooled = this.#pooled;
    for (let start = 0; start < rates.length; start += CLASSES) {
      let found = FACTOR_HITS;
      let expected = FACTOR_HITS;
      for (let each = 0; each < CLASSES && pooled[each] < SELDOM; each++) {
        found += hits[start + each];
        expected += answered[start + each] * pooled[each];
      }
      const factor = found / expected;
      for (let each = 0; each < CLASSES; each++) {
        const rate = pooled[each] * (pooled[each] < SELDOM ? factor : 1);
        const cell = start + each;
        rates[cell] = (hits[cell] + POOLED_HITS) / (answered[cell] + POOLED_HITS / rate);
      }
    }
  }

  /**
   * The mementos of a hit by archive and class, shrunk toward those of classes whose hits are as seldom,
   * and these toward those of the archive: what is popular has more.
   */
  #estimateMementos(): void {
    const { mementos, hits, rates } = this;
    const perHit = this.#perHit;
    for (let start = 0; start < rates.length; start += CLASSES) {
      let [allMementos, allHits] = [1, 1];
      let [seldomMementos, seldomHits, oftenMementos, oftenHits] = [0, 0, 0, 0];
      for (let cell = start; cell < start + CLASSES; cell++) {
        allMementos += mementos[cell];
        allHits += hits[cell];
        if (rates[cell] < SELDOM) {
          seldomMementos += mementos[cell];
          seldomHits += hits[cell];
        } else {
          oftenMementos += mementos[cell];
          oftenHits += hits[cell];
        }
      }
      const prior = MEAN_HITS * (allMementos / allHits);
      const seldom = (seldomMementos + prior) / (seldomHits + MEAN_HITS);
      const often = (oftenMementos + prior) / (oftenHits + MEAN_HITS);
      for (let cell = start; cell < start + CLASSES; cell++) {
        const mean = rates[cell] < SELDOM ? seldom : often;
        perHit[cell] = (mementos[cell] + MEAN_HITS * mean) / (hits[cell] + MEAN_HITS);
      }
    }
  }

  /**
   * Puts cells into the order of their rates. They are sorted as numbers, with the cell in the lower half of
   * each, which counts only where rates are the same to a part in a million.
   */
  #sortCells(): void {
    const order = this.#order;
    this.#sorted.set(this.rates);
    for (let cell = 0; cell < this.rates.length; cell++) order[cell * 2] = cell;
    this.#sorted.sort();
  }

  /** How many classes to spare: those with the lowest rates, as many as the promise allows. */
  #spare(): number {
    const { seen, answered, rates, measured } = this;
    const perHit = this.#perHit;
    const order = this.#order;
    let total = 0;
    let totalMementos = 0;
    for (let i = 0; i < order.length; i += 2) {
      const cell = order[i];
      total += seen[cell] * rates[cell];
      totalMementos += seen[cell] * rates[cell] * perHit[cell];
    }
    total += this.aside[0];
    totalMementos += this.aside[1];
    // Hits that were explored, in proportion to what was expected.
    const doubt = this.restsOnOthers ? DOUBT_OF_OTHERS : 1;
    const bias = (measured[9] + BIAS_HITS * doubt) / (measured[8] + BIAS_HITS);
    const allowed = (1 - this.recall) / Math.max(0.5, bias);
    let [lost, variance, lostMementos, varianceMementos] = [0, 0, 0, 0];
    for (let spared = 0; spared < rates.length; spared++) {
      const cell = order[spared * 2];
      const hits = seen[cell] * rates[cell];
      const weight = perHit[cell];
      // As of a count of hits: that of the class, and those it was smoothed by.
      const square = (hits * hits) / (rates[cell] * answered[cell] + POOLED_HITS);
      lost += hits;
      variance += square;
      lostMementos += hits * weight;
      varianceMementos += square * weight * weight;
      if (lost + CAUTION * Math.sqrt(variance) > allowed * total) return spared;
      if (lostMementos + CAUTION * Math.sqrt(varianceMementos) > allowed * totalMementos) {
        return spared;
      }
    }
    return rates.length;
  }

  /** Propensities as the root of the rate: so the estimate of what is lost varies least for its cost. */
  #explore(spared: number): void {
    const { seen, rates, propensities } = this;
    const order = this.#order;
    let [all, roots, hits] = [0, 0, 0];
    for (let cell = 0; cell < seen.length; cell++) all += seen[cell];
    for (let i = 0; i < spared; i++) {
      const cell = order[i * 2];
      const root = Math.sqrt(rates[cell]);
      roots += seen[cell] * root;
      hits += seen[cell] * rates[cell] * root;
    }
    if (all === 0) return;
    // What was seen is of about this many lookups.
    const lookups = Math.max(1, all / this.archives);
    const memory = Math.min(this.lookups, MEASURED_HALF_LIFE) / lookups;
    const affordable = Math.max(
      EXPLORED_SHARE,
      Math.min(MOST_EXPLORED, 4 / Math.sqrt(this.lookups)),
    );
    const scale = Math.min(WANTED_HITS / (hits * memory), (affordable * all) / roots);
    for (let i = 0; i < spared; i++) {
      const cell = order[i * 2];
      const propensity = scale * Math.sqrt(rates[cell]);
      propensities[cell] = Math.min(0.5, Math.max(LEAST_PROPENSITY, propensity));
    }
  }
}

/** The middle of a class, as a logit. */
function middleOf(number: number): number {
  return LOWEST_LOGIT + (number + 0.5) / CLASSES_PER_LOGIT;
}

function classOf(logit: number): number {
  const place = (logit - LOWEST_LOGIT) * CLASSES_PER_LOGIT;
  return place < 0 ? 0 : place >= CLASSES ? CLASSES - 1 : Math.trunc(place);
}

/**
 * A recall of what was kept and an estimate of what was lost, which is a sum of weights of Poisson
 * counts: the interval of Fay and Feuer.
 *
 * @param most the largest weight that a count may have; 0 where nothing can be lost.
 */
export function recallOf(
  kept: number,
  lost: number,
  squares: number,
  most: number,
): MeasuredRecall | undefined {
  if (kept + lost === 0) return undefined;
  const of = (missing: number): number => kept / (kept + missing);
  const low = lost === 0 ? 0 : (squares / lost / 2) * chiSquare((2 * lost * lost) / squares, -Z);
  const next = lost + most;
  const nextSquares = squares + most * most;
  const high =
    next === 0 ? 0 : (nextSquares / next / 2) * chiSquare((2 * next * next) / nextSquares, Z);
  return { value: of(lost), low: of(high), high: of(low) };
}

/** A quantile of the chi-square distribution (Wilson and Hilferty). */
function chiSquare(freedom: number, z: number): number {
  const part = 2 / (9 * freedom);
  return freedom * Math.max(0, 1 - part + z * Math.sqrt(part)) ** 3;
}
