import { rowOf, type Table } from "./counts.ts";
import { recallOf, type Share } from "./intervals.ts";
import { chanceOf } from "./model.ts";

/** Probabilities are divided into classes of this width in logits, from the lowest on. */
const CLASSES_PER_LOGIT = 3;
const LOWEST_LOGIT = -11;
const CLASSES = 48;

/** Hits assumed below all classes before any answer, and used to smooth counts. */
const PRIOR_HITS = 0.5;
const POOLED_HITS = 2;
/** Below this rate, an archive's overall hit rate may differ from the others'. */
const RARE = 0.1;
const FACTOR_HITS = 2;

/** Half-life, in lookups, of predictions, answers and measurements. */
const SEEN_HALF_LIFE = 8192;
const ANSWERED_HALF_LIFE = 32_768;
const MEASURED_HALF_LIFE = 16_384;

/** Nothing is saved before this many hits. */
const MIN_HITS = 30;

/** This fraction of hits is kept for each archive with at least so many recent ones. */
const FLOOR_HITS = 20;
const FLOOR = 0.7;

/** The fraction of the permitted loss that is used: the loss is an estimate. */
const USED = 0.9;

/** Hits that exploration should find per half-life, and its maximum cost as a fraction of all requests. */
const WANTED_HITS = 60;
const EXPLORED_SHARE = 0.012;
const MAX_EXPLORED = 0.2;
const MIN_PROPENSITY = 0.004;
const MAX_PROPENSITY = 0.5;

/** Measurements per archive: kept, estimated lost, its square and largest weight; hits, then mementos. */
const HITS = 0;
const MEMENTOS = 4;
const POSSIBLE = 8;
const MADE = 9;
const MEASURED = 10;

/**
 * Selects archives by the probability of a hit, such that a promised fraction of all hits is found.
 *
 * Counts predictions, queries and answers for each archive and class of probabilities. Requests are saved in
 * the classes with the lowest hit rates, up to the number of hits that the promise permits to lose, and for
 * each archive down to a floor. Some of these requests are made to explore, more often where hits are more
 * likely. Their answers yield an estimate of the loss, and so the measured recall.
 */
export class RecallPolicy {
  readonly recall: number;
  readonly archives: number;
  /** By archive and class: lookups, answers, hits; older ones count less. */
  readonly seen: Table;
  readonly answered: Table;
  readonly hits: Table;
  readonly measured: Table;
  /** Recent hits of requests made to learn. */
  toLearn = 0;
  lookups = 0;
  /** By archive and class: 1 if queried, otherwise the probability of exploration. */
  readonly propensities: Float64Array;
  /** By archive and class: the hit rate; 0 before anything is known. */
  readonly rates: Float64Array;
  /** The highest hit rate of a class in which requests are saved. */
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

  /** Starts a lookup. */
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

  /** The index of an archive and the class of a logit. */
  cell(archive: number, logit: number): number {
    const place = Math.floor((logit - LOWEST_LOGIT) * CLASSES_PER_LOGIT);
    return archive * CLASSES + Math.min(CLASSES - 1, Math.max(0, place));
  }

  /** Records a decision; `cell` only if the probability decided. */
  decided(archive: number, isAsked: boolean, cell?: number): void {
    const at = archive * MEASURED;
    this.measured.data[at + POSSIBLE]++;
    if (isAsked) this.measured.data[at + MADE]++;
    if (cell !== undefined) this.seen.data[cell]++;
  }

  /** Records an answer to a query made for other reasons than its probability. */
  noteAside(archive: number, propensity: number, mementos: number): void {
    if (mementos === 0) return;
    this.#measure(archive, propensity, mementos);
    if (propensity >= 1) this.toLearn++;
  }

  /** Records an answer to a query made with this propensity because of its probability. */
  note(archive: number, logit: number, propensity: number, mementos: number): void {
    const cell = this.cell(archive, logit);
    this.answered.data[cell]++;
    if (mementos === 0) return;
    this.hits.data[cell]++;
    this.#measure(archive, propensity, mementos);
  }

  /** Records an answer to a query made regardless of its probability: it calibrates the model. */
  noteOutside(archive: number, logit: number, isHit: boolean): void {
    const cell = this.cell(archive, logit);
    this.seen.data[cell]++;
    this.answered.data[cell]++;
    if (isHit) this.hits.data[cell]++;
  }

  /** A hit counts as kept; an explored one also stands for lost ones. */
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

  /** Recent recall of hits, of all archives or of one; undefined before the first hit. */
  recallOfHits(archive?: number): Share | undefined {
    const [kept, lost, squares, max] = this.#sums(HITS, archive);
    return recallOf(kept, lost, squares, Math.max(max, this.#exploredWeight(archive)));
  }

  /** Recent recall of mementos. */
  recallOfMementos(): Share | undefined {
    const [hits] = this.#sums(HITS);
    const [kept, lost, squares, max] = this.#sums(MEMENTOS);
    const each = hits === 0 ? 1 : kept / hits;
    return recallOf(kept, lost, squares, Math.max(max, each * this.#exploredWeight()));
  }

  /** Kept, lost, squares and the largest weight, of all archives or of one. */
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
   * Estimated number of lost hits per explored one, by rates; 0 if every request is made. It is the only bound
   * on lost hits until exploration finds one.
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

  /** Recent fraction of requests to an archive that were saved; undefined before the first decision. */
  savedShare(archive: number): number | undefined {
    const at = archive * MEASURED;
    const possible = this.measured.data[at + POSSIBLE];
    return possible === 0 ? undefined : 1 - this.measured.data[at + MADE] / possible;
  }

  /** The probability below which an archive is not queried; 0 if it is always queried. */
  threshold(archive: number): number {
    for (let each = CLASSES - 1; each >= 0; each--) {
      if (this.propensities[archive * CLASSES + each] < 1) return chanceOf(middle(each + 0.5));
    }
    return 0;
  }

  /** Selects the classes in which requests are saved from now on. */
  plan(): void {
    const { propensities, seen, rates } = this;
    propensities.fill(1);
    this.marginal = 0;
    if (this.recall >= 1 || this.toLearn + sum(this.hits.data) < MIN_HITS) return;
    this.#estimateRates(this.#pooledRates());
    const saved = this.#save();
    for (const cell of saved) this.marginal = Math.max(this.marginal, rates[cell]);
    // Propensities proportional to the root of the rate minimize the variance of the estimated loss for its cost.
    const all = sum(seen.data);
    const roots = sum(saved.map((cell) => seen.data[cell] * Math.sqrt(rates[cell])));
    const lost = sum(saved.map((cell) => seen.data[cell] * rates[cell] ** 1.5));
    // The counts cover about this many lookups.
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
   * Hit rates by class, of all archives together. A class that the model ranks higher has no lower rate:
   * classes that contradict this are merged (pool adjacent violators).
   */
  #pooledRates(): Float64Array {
    const pools: { start: number; asked: number; hits: number }[] = [];
    for (let each = 0; each < CLASSES; each++) {
      // The model counts as one answer in each class.
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

  /** Hit rates by archive and class: shrunk toward that of all archives times a factor of the archive. */
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

  /** The cells in which requests are saved: those with the lowest rates, as far as promise and floor permit. */
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
