import { rowOf, type Table } from "./counts.ts";
import { recallOf, type Share } from "./intervals.ts";
import { chanceOf } from "./model.ts";

/** Chances are told apart by logits: classes of this width, from the lowest on. */
const CLASSES_PER_LOGIT = 3;
const LOWEST_LOGIT = -11;
const CLASSES = 48;

/** Hits below all classes before any answer, and those by which what is counted is smoothed. */
const PRIOR_HITS = 0.5;
const POOLED_HITS = 2;
/** Where hits are as rare, an archive may have more or fewer of them in general. */
const RARE = 0.1;
const FACTOR_HITS = 2;

/** The lookups after which what was predicted, what was answered and what was measured count half. */
const SEEN_HALF_LIFE = 8192;
const ANSWERED_HALF_LIFE = 32_768;
const MEASURED_HALF_LIFE = 16_384;

/** Nothing is saved before this many hits. */
const MIN_HITS = 30;

/** Of the hits of an archive that has had as many lately, this share is kept. */
const FLOOR_HITS = 20;
const FLOOR = 0.7;

/** Of what the promise allows to lose, this much is used: what is lost is an estimate. */
const USED = 0.9;

/** How many hits exploration is to find in a half-life, and what it may cost of all requests. */
const WANTED_HITS = 60;
const EXPLORED_SHARE = 0.012;
const MAX_EXPLORED = 0.2;
const MIN_PROPENSITY = 0.004;
const MAX_PROPENSITY = 0.5;

/** What is measured of an archive: kept, estimate of lost, its square and largest part; hits, then mementos. */
const HITS = 0;
const MEMENTOS = 4;
const POSSIBLE = 8;
const MADE = 9;
const MEASURED = 10;

/**
 * Decides by chances which archives are queried, such that a share of all hits is kept.
 *
 * Counts, for each archive and class of chances, how often it was predicted, how often the archive was
 * queried and what it answered. Requests are saved in the classes with the fewest hits, up to as many hits as
 * the promise allows, and for each archive down to a floor. Some of these requests are made all the same: the
 * likelier, the more often. From those answers follows what is lost, and so the recall that is measured.
 */
export class RecallPolicy {
  readonly recall: number;
  readonly archives: number;
  /** By archive and class: lookups, answers, hits; older ones count less. */
  readonly seen: Table;
  readonly answered: Table;
  readonly hits: Table;
  readonly measured: Table;
  /** Hits of requests that were made to learn, lately. */
  toLearn = 0;
  lookups = 0;
  /** By archive and class: 1 for those that are queried, else how likely they are explored. */
  readonly propensities: Float64Array;
  /** By archive and class: the share of hits; 0 before anything is known. */
  readonly rates: Float64Array;
  /** The highest share of hits of a class in which requests are saved. */
  marginal = 0;
  #nextPlan = 1;

  constructor(archives: number, recall: number) {
    this.archives = archives;
    this.recall = recall;
    this.seen = rowOf(archives, CLASSES);
    this.answered = rowOf(archives, CLASSES);
    this.hits = rowOf(archives, CLASSES);
    this.measured = rowOf(archives, MEASURED);
    this.propensities = new Float64Array(archives * CLASSES).fill(1);
    this.rates = new Float64Array(archives * CLASSES);
  }

  /** A lookup begins. */
  begin(): void {
    this.lookups++;
    if (this.lookups < this.#nextPlan) return;
    const step = Math.min(1024, Math.max(8, this.lookups >> 5));
    this.#nextPlan = this.lookups + step;
    decay(this.seen, step / SEEN_HALF_LIFE);
    decay(this.answered, step / ANSWERED_HALF_LIFE);
    decay(this.hits, step / ANSWERED_HALF_LIFE);
    decay(this.measured, step / MEASURED_HALF_LIFE);
    this.toLearn *= 2 ** (-step / SEEN_HALF_LIFE);
    this.plan();
  }

  /** Where an archive and the class of a chance are. */
  cell(archive: number, logit: number): number {
    const place = Math.floor((logit - LOWEST_LOGIT) * CLASSES_PER_LOGIT);
    return archive * CLASSES + Math.min(CLASSES - 1, Math.max(0, place));
  }

  /** It was decided about an archive; `cell` only where its chance decided. */
  decided(archive: number, isAsked: boolean, cell?: number): void {
    const at = archive * MEASURED;
    this.measured.data[at + POSSIBLE]++;
    if (isAsked) this.measured.data[at + MADE]++;
    if (cell !== undefined) this.seen.data[cell]++;
  }

  /** An archive answered that was queried for other reasons than its chance. */
  noteAside(archive: number, propensity: number, mementos: number): void {
    if (mementos === 0) return;
    this.#measure(archive, propensity, mementos);
    if (propensity >= 1) this.toLearn++;
  }

  /** An archive answered that was queried with that propensity because of its chance. */
  note(archive: number, logit: number, propensity: number, mementos: number): void {
    const cell = this.cell(archive, logit);
    this.answered.data[cell]++;
    if (mementos === 0) return;
    this.hits.data[cell]++;
    this.#measure(archive, propensity, mementos);
  }

  /** An archive answered that was queried whatever its chance: it tells how often chances are right. */
  noteOutside(archive: number, logit: number, isHit: boolean): void {
    const cell = this.cell(archive, logit);
    this.seen.data[cell]++;
    this.answered.data[cell]++;
    if (isHit) this.hits.data[cell]++;
  }

  /** A hit is kept; an explored one stands for those that are lost. */
  #measure(archive: number, propensity: number, mementos: number): void {
    const { data } = this.measured;
    for (const [kind, amount] of [
      [HITS, 1],
      [MEMENTOS, mementos],
    ]) {
      const at = archive * MEASURED + kind;
      if (propensity >= 1) {
        data[at] += amount;
        continue;
      }
      const weight = amount / propensity;
      data[at + 1] += weight;
      data[at + 2] += weight * weight;
      data[at + 3] = Math.max(data[at + 3], weight);
    }
  }

  /** The share of hits that was kept lately, of all archives or of one; undefined before the first hit. */
  recallOfHits(archive?: number): Share | undefined {
    const [kept, lost, squares, max] = this.#sums(HITS, archive);
    return recallOf(kept, lost, squares, Math.max(max, this.#exploredWeight(archive)));
  }

  /** The same share of mementos. */
  recallOfMementos(): Share | undefined {
    const [hits] = this.#sums(HITS);
    const [kept, lost, squares, max] = this.#sums(MEMENTOS);
    const each = hits === 0 ? 1 : kept / hits;
    return recallOf(kept, lost, squares, Math.max(max, each * this.#exploredWeight()));
  }

  /** Kept, lost, squares and the largest, of all archives or of one. */
  #sums(kind: number, only?: number): readonly number[] {
    const all = [0, 0, 0, 0];
    for (let archive = 0; archive < this.archives; archive++) {
      if (only !== undefined && archive !== only) continue;
      const at = archive * MEASURED + kind;
      const [kept, lost, squares, max] = this.measured.data.subarray(at, at + 4);
      all[0] += kept;
      all[1] += lost;
      all[2] += squares;
      all[3] = Math.max(all[3], max);
    }
    return all;
  }

  /**
   * How many lost hits an explored one stands for, as far as rates tell; 0 where every request is made. Until
   * exploration finds a hit, only this tells how many may be lost.
   */
  #exploredWeight(only?: number): number {
    let [lost, explored] = [0, 0];
    for (const [cell, propensity] of this.propensities.entries()) {
      if (propensity >= 1 || (only !== undefined && archiveOf(cell) !== only)) continue;
      const hits = this.seen.data[cell] * this.rates[cell];
      lost += hits;
      explored += hits * propensity;
    }
    return explored === 0 ? 0 : lost / explored;
  }

  /** The share of requests to an archive that were saved lately; undefined before the first decision. */
  savedShare(archive: number): number | undefined {
    const at = archive * MEASURED;
    const possible = this.measured.data[at + POSSIBLE];
    return possible === 0 ? undefined : 1 - this.measured.data[at + MADE] / possible;
  }

  /** The chance below which an archive is not queried; 0 where it always is. */
  threshold(archive: number): number {
    for (let each = CLASSES - 1; each >= 0; each--) {
      if (this.propensities[archive * CLASSES + each] < 1) return chanceOf(middle(each + 0.5));
    }
    return 0;
  }

  /** Decides in which classes requests are saved from now on. */
  plan(): void {
    const { propensities, seen, rates } = this;
    propensities.fill(1);
    this.marginal = 0;
    if (this.recall >= 1 || this.toLearn + sum(this.hits.data) < MIN_HITS) return;
    this.#estimateRates(this.#pooledRates());
    const saved = this.#save();
    for (const cell of saved) this.marginal = Math.max(this.marginal, rates[cell]);
    // Propensities as the root of the rate: so the estimate of what is lost varies least for its cost.
    const all = sum(seen.data);
    const roots = sum(saved.map((cell) => seen.data[cell] * Math.sqrt(rates[cell])));
    const lost = sum(saved.map((cell) => seen.data[cell] * rates[cell] ** 1.5));
    // What was seen is of about this many lookups.
    const lookups = Math.max(1, all / this.archives);
    const memory = Math.min(this.lookups, MEASURED_HALF_LIFE) / lookups;
    const share = Math.max(EXPLORED_SHARE, Math.min(MAX_EXPLORED, 4 / Math.sqrt(this.lookups)));
    const scale = Math.min(WANTED_HITS / (lost * memory), (share * all) / roots);
    for (const cell of saved) {
      const propensity = scale * Math.sqrt(rates[cell]);
      propensities[cell] = Math.min(MAX_PROPENSITY, Math.max(MIN_PROPENSITY, propensity));
    }
  }

  /**
   * The share of hits by class, of all archives. What is likelier by the model has no lower share:
   * classes that contradict it are taken together (pool adjacent violators).
   */
  #pooledRates(): Float64Array {
    const pools: { start: number; asked: number; hits: number }[] = [];
    for (let each = 0; each < CLASSES; each++) {
      // The model counts for one answer in each class.
      const pool = { start: each, asked: 1, hits: chanceOf(middle(each)) };
      if (each === 0) pool.hits += PRIOR_HITS;
      for (let cell = each; cell < this.hits.data.length; cell += CLASSES) {
        pool.asked += this.answered.data[cell];
        pool.hits += this.hits.data[cell];
      }
      for (let last = pools.at(-1); last !== undefined; last = pools.at(-1)) {
        if (last.hits * pool.asked < pool.hits * last.asked) break;
        pools.pop();
        pool.start = last.start;
        pool.asked += last.asked;
        pool.hits += last.hits;
      }
      pools.push(pool);
    }
    const pooled = new Float64Array(CLASSES);
    for (const { start, asked, hits } of pools) pooled.fill(hits / asked, start);
    return pooled;
  }

  /** The share of hits by archive and class: shrunk toward that of all archives times a factor of its own. */
  #estimateRates(pooled: Float64Array): void {
    const { rates } = this;
    const [answered, hits] = [this.answered.data, this.hits.data];
    for (let start = 0; start < rates.length; start += CLASSES) {
      let [found, expected] = [FACTOR_HITS, FACTOR_HITS];
      for (let each = 0; each < CLASSES && pooled[each] < RARE; each++) {
        found += hits[start + each];
        expected += answered[start + each] * pooled[each];
      }
      for (let each = 0; each < CLASSES; each++) {
        const rate = pooled[each] * (pooled[each] < RARE ? found / expected : 1);
        const cell = start + each;
        rates[cell] = (hits[cell] + POOLED_HITS) / (answered[cell] + POOLED_HITS / rate);
      }
    }
  }

  /** The cells in which requests are saved: those with the lowest rates, as many as promise and floor allow. */
  #save(): number[] {
    const { rates } = this;
    const seen = this.seen.data;
    const expected = rates.map((rate, cell) => seen[cell] * rate);
    const left = new Float64Array(this.archives);
    const answered = new Float64Array(this.archives);
    for (const [cell, hits] of expected.entries()) {
      left[archiveOf(cell)] += (1 - FLOOR) * hits;
      answered[archiveOf(cell)] += this.hits.data[cell];
    }
    for (const [archive, hits] of answered.entries())
      if (hits < FLOOR_HITS) left[archive] = Infinity;
    let allowed = USED * (1 - this.recall) * (sum(expected) + this.toLearn);
    const saved: number[] = [];
    for (const cell of [...rates.keys()].sort((a, b) => rates[a] - rates[b])) {
      const hits = expected[cell];
      if (hits > allowed) break;
      if (hits > left[archiveOf(cell)]) continue;
      allowed -= hits;
      left[archiveOf(cell)] -= hits;
      saved.push(cell);
    }
    return saved;
  }
}

function sum(numbers: Iterable<number>): number {
  let all = 0;
  for (const number of numbers) all += number;
  return all;
}

function archiveOf(cell: number): number {
  return Math.floor(cell / CLASSES);
}

function decay({ data }: Table, halfLives: number): void {
  const factor = 2 ** -halfLives;
  for (let at = 0; at < data.length; at++) data[at] *= factor;
}

/** The middle of a class, as a logit. */
function middle(number: number): number {
  return LOWEST_LOGIT + (number + 0.5) / CLASSES_PER_LOGIT;
}
