import { MementoMapError } from "../../errors.ts";
import { type LearntReason, learntReasonText } from "./learnt-reason.ts";
import { Answers, hashOf, KNOWN, PrefixCounts, type Table } from "./counts.ts";
import { MapTrust, type MapWord, type StaleMap } from "./map-trust.ts";
import { chanceOf, HitModel, type Prior } from "./model.ts";
import type { Share } from "./intervals.ts";
import { RecallPolicy } from "./policy.ts";
import { LEVEL, type Prefixes, prefixesOf } from "./prefixes.ts";
import { Teaching } from "./teaching.ts";

/** An archive's entry in the list, as far as it predicts holdings. */
export interface LearntArchive {
  readonly id: string;
  /** The probability, from 0 to 1, of holding an original about which nothing else is known. */
  readonly probability?: number | undefined;
  /** Its collection: prefixes of keys, such as `pt,` and `com,example)/a/`; default anything. */
  readonly scope?: readonly string[] | undefined;
}

export interface LearnerOptions {
  /** The fraction of hits to find; default 1, which makes every request. */
  readonly recall?: number | undefined;
  /** Default 58 MiB. */
  readonly memoryBytes?: number | undefined;
  /** From 0 to 1; default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Milliseconds since 1970; default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Called when answers contradict the map of an archive. */
  readonly onStaleMap?: ((archive: string, stale: StaleMap) => void) | undefined;
}

/** A decision about an archive. With a propensity below 1 it is queried only to explore. */
export interface LearntDecision {
  readonly logit: number;
  /** The probability of being queried. */
  readonly propensity: number;
  readonly isAsked: boolean;
  /** Whether it is queried to learn about its host or folder. */
  readonly isAside: boolean;
  /** The probability by the archive's map, if the map has the URI. */
  readonly mapLikelihood: number | undefined;
}

/** An archive's answer, and why it was queried: by default with certainty, with the logit predicted now. */
export interface Observation extends Partial<LearntDecision> {
  /** The id of the archive. */
  readonly archive: string;
  /** The SURT of the original, with its query. */
  readonly surt: string;
  /** 0 for a miss. */
  readonly mementos: number;
  /** Whether every archive was queried, as in a log: the measured recall is not affected. */
  readonly isOutside?: boolean | undefined;
  /** Whether it teaches about more than this original; default true. */
  readonly isTeaching?: boolean | undefined;
  /** The verdict of the archive's map, if it has a fresh one. */
  readonly map?: MapWord | undefined;
}

/** Savings and recall up to a number of lookups. */
export interface LearningMark {
  readonly lookups: number;
  /** The fraction of requests saved since the previous mark. */
  readonly share: number;
  /** Recent recall of hits, and of mementos, as measured then. */
  readonly hits?: Share | undefined;
  readonly mementos?: Share | undefined;
}

/** Promised recall, measured recall, and savings. */
export interface LearningReport {
  /** The promised recall of hits. */
  readonly promised: number;
  /** Lookups decided, and answers learnt from. */
  readonly lookups: number;
  readonly answers: number;
  /** Recent recall of hits; undefined before the first. */
  readonly hits: Share | undefined;
  /** Recent recall of mementos, which is not promised. */
  readonly mementos: Share | undefined;
  /** Savings and recall up to 100, 200, 500, 1000 lookups and so on, each since the previous mark. */
  readonly spared: readonly LearningMark[];
  readonly archives: readonly ArchiveLearning[];
}

/** Recent recall and savings of an archive. */
interface ArchiveLearning {
  readonly id: string;
  /** The fraction of requests saved; undefined before the first decision. */
  readonly spared: number | undefined;
  /** Recall of its hits. */
  readonly hits: Share | undefined;
  /** The minimum probability of a hit for a query; 0 if it is always queried. */
  readonly threshold: number;
}

/** State of a learner besides its tables. Plain data. */
export interface LearnerState {
  readonly archives: readonly string[];
  /** The keys of the first two tables. */
  readonly prefixes: readonly string[];
  readonly originals: readonly number[];
  readonly recall: number;
  readonly seed: number;
  readonly epoch: number;
  readonly lookups: number;
  readonly toLearn: number;
  readonly observations: number;
  readonly history: readonly LearningMark[];
  readonly taken: readonly string[];
  readonly maps: Readonly<Record<string, unknown>>;
}

/** The factor by which the benefit of a request made to learn must exceed its cost: lookups may stop. */
const MIN_BENEFIT = 4;

const DAY_MS = 86_400_000;
/** The half-life of the weight of answers. */
const HALF_LIFE_MS = 180 * DAY_MS;
/** Number of decay steps per half-life. */
const EPOCHS = 4;
const DEFAULT_MEMORY = 58 * 2 ** 20;
const PREFIX_SHARE = 0.65;

/** The hit rate in three years of MemGator's requests to 14 archives (the paper's table). */
const DEFAULT_PROBABILITY = 0.0544;
/** The probability that an archive has an original within its scope, and outside of it. */
const WITHIN_SCOPE = 0.5;
const BEYOND_SCOPE = 0.002;

/** An archive is always queried until it has this many answers. */
const MIN_ANSWERS = 30;

/** A reason names the longest prefix with at least this many answers. */
const MIN_REASON_ANSWERS = 3;

/**
 * Learns from answers which archives have an original.
 *
 * Call `look` with the SURT of an original; `chanceOf`, `begin`, `decide` and `explain` refer to it until the
 * next call. `observe` records an answer. Memory is bounded for any lookups, and so is the influence of
 * one network.
 *
 * Deterministic for the same options, clock, random numbers and calls.
 */
export class Learner {
  readonly options: LearnerOptions;
  archives!: readonly LearntArchive[];
  counts!: PrefixCounts;
  answers!: Answers;
  model!: HitModel;
  policy!: RecallPolicy;
  /** Detects maps that answers contradict. */
  readonly maps: MapTrust;
  /** Logs already learnt from. */
  readonly taken = new Set<string>();
  /** Number of answers learnt from. */
  observations = 0;
  /** Savings and recall up to 100, 200, 500, 1000 lookups and so on. */
  history: LearningMark[] = [];
  readonly #teaching = new Teaching();
  #made = 0;
  #possible = 0;
  #numbers!: ReadonlyMap<string, number>;
  #seed = Math.trunc(Math.random() * 2 ** 31);
  /** The decay step and the day of the last count. */
  #epoch = -1;
  #day = 0;
  #path: Prefixes = prefixesOf("");
  /** The row of each prefix of the path, and of the original; -1 if there is none. */
  #rows: number[] = [];
  #answer = -1;

  /** @throws MM_USAGE for a recall outside the range. */
  constructor(archives: readonly LearntArchive[], options: LearnerOptions = {}) {
    const { recall = 1 } = options;
    if (!(recall > 0 && recall <= 1)) {
      throw new MementoMapError(
        "MM_USAGE",
        `recall is ${recall}; it must be above 0 and at most 1`,
      );
    }
    this.options = options;
    this.maps = new MapTrust(options.onStaleMap);
    this.#start(archives);
  }

  #start(archives: readonly LearntArchive[]): void {
    const { memoryBytes = DEFAULT_MEMORY, recall = 1 } = this.options;
    this.archives = archives;
    this.#numbers = new Map(archives.map(({ id }, number) => [id, number]));
    this.counts = new PrefixCounts(archives.length, memoryBytes * PREFIX_SHARE);
    this.answers = new Answers(archives.length, memoryBytes * (1 - PREFIX_SHARE));
    this.model = new HitModel(archives.length);
    this.policy = new RecallPolicy(archives.length, recall);
    this.#path = prefixesOf("");
    this.#rows = [];
    this.#answer = -1;
  }

  /** The index of an archive in the list, or -1. */
  numberOf(id: string): number {
    return this.#numbers.get(id) ?? -1;
  }

  /**
   * Starts the decisions of a lookup: call it once before {@link decide}.
   *
   * @param network of the client; undefined for the operator's own.
   * @returns whether to learn from the lookup: the influence of one network is bounded.
   */
  begin(network?: string): boolean {
    const { texts, levels } = this.#path;
    const textAt = (level: number): string => texts[levels.indexOf(level)] ?? "";
    if (!this.#teaching.admit(network, textAt(LEVEL.domain), textAt(LEVEL.host))) return false;
    this.policy.begin();
    this.#mark();
    for (let place = 1; place < texts.length; place++) {
      if (levels[place] < LEVEL.host) continue;
      const isNew = this.#rows[place] < 0;
      this.counts.data[this.counts.at(this.#rowOf(place))]++;
      if (isNew) break;
    }
    this.answers.data[this.answers.at(this.#rowOfOriginal())]++;
    return true;
  }

  #mark(): void {
    const { lookups } = this.policy;
    if (lookups < 100 || !/^[125]0+$/.test(String(lookups)) || this.#possible === 0) return;
    const share = 1 - this.#made / this.#possible;
    const [hits, mementos] = [this.policy.recallOfHits(), this.policy.recallOfMementos()];
    this.history.push({ lookups, share, hits, mementos });
    this.#made = this.#possible = 0;
  }

  /** The probability of a hit, from 0 to 1. */
  chanceOf(archive: number): number {
    return chanceOf(this.model.logits[archive]);
  }

  /**
   * Decides about an archive, for the original of the last `look`; after {@link begin}.
   *
   * @param mapLikelihood the probability by the archive's map, if the map has the URI.
   */
  decide(archive: number, mapLikelihood?: number): LearntDecision {
    const decision = this.preview(archive, mapLikelihood);
    const { logit, isAsked, isAside } = decision;
    const cell = isAside ? undefined : this.policy.cell(archive, logit);
    this.policy.decided(archive, isAsked, cell);
    this.#possible++;
    if (isAsked) this.#made++;
    return decision;
  }

  /** The decision that would be made; it is not counted. */
  preview(archive: number, mapLikelihood?: number): LearntDecision {
    const { policy } = this;
    const logit = this.model.logit(archive, mapLikelihood);
    const cell = policy.cell(archive, logit);
    const propensity = policy.propensities[cell];
    const asked = { logit, propensity: 1, isAsked: true, isAside: false, mapLikelihood };
    if (propensity >= 1 || this.#isNew(archive)) return asked;
    if (this.#isWorthLearning(archive, policy.rates[cell])) return { ...asked, isAside: true };
    return { ...asked, propensity, isAsked: (this.options.random ?? Math.random)() < propensity };
  }

  #isNew(archive: number): boolean {
    const all = this.#rows[0];
    return all < 0 || this.counts.asked(all, archive) < MIN_ANSWERS;
  }

  /**
   * Whether a request is worth making to learn: whether a hit would make the archive worth querying for future
   * lookups, either of the original, as often as so far, or of others at this host or folder.
   */
  #isWorthLearning(archive: number, rate: number): boolean {
    const { marginal } = this.policy;
    if (marginal === 0) return false;
    const repeats = this.#answer < 0 ? 0 : this.answers.data[this.answers.at(this.#answer)] - 1;
    if (this.known(archive) === KNOWN.nothing && rate * (1 + repeats) >= marginal) return true;
    const { levels, texts } = this.#path;
    for (let place = 1; place < texts.length; place++) {
      const row = this.#rows[place];
      if (row < 0 || levels[place] < LEVEL.host) continue;
      const strength = this.model.strength(this.counts.asked(row, archive));
      const gain = (rate * strength + 1) / (strength + 1) - marginal;
      if (gain <= 0) continue;
      const lookups = this.counts.data[this.counts.at(row)];
      if (rate * (1 + lookups * gain) >= MIN_BENEFIT * marginal) return true;
    }
    return false;
  }

  /** The archive's last answer for the current original, one of `KNOWN`. */
  known(archive: number): number {
    return this.#answer < 0 ? KNOWN.nothing : this.answers.of(this.#answer, archive);
  }

  /** The reason for a probability: `0 of 312 lookups under org,example found anything`. */
  explain(archive: number): string {
    return learntReasonText(this.#reason(archive));
  }

  #reason(archive: number): LearntReason {
    const known = this.known(archive);
    if (known !== KNOWN.nothing) return { kind: known === KNOWN.hit ? "had-it" : "lacked-it" };
    const { texts } = this.#path;
    let [telling, longest] = [-1, -1];
    for (let place = 0; place < texts.length; place++) {
      const asked = this.#rows[place] < 0 ? 0 : this.counts.asked(this.#rows[place], archive);
      if (asked > 0.5) longest = place;
      if (asked >= MIN_REASON_ANSWERS) telling = place;
    }
    const place = telling >= 0 ? telling : longest;
    if (place < 0) return { kind: this.archives[archive].scope?.length ? "hint" : "unknown" };
    const asked = Math.max(1, Math.round(this.counts.asked(this.#rows[place], archive)));
    const hits = Math.min(asked, Math.round(this.counts.hits(this.#rows[place], archive)));
    const prefix = place === 0 ? undefined : texts[place].replace(/[,/?]$/, "");
    return { kind: "others", hits, asked, prefix };
  }

  report(): LearningReport {
    const { policy } = this;
    return {
      promised: policy.recall,
      lookups: policy.lookups,
      answers: this.observations,
      hits: policy.recallOfHits(),
      mementos: policy.recallOfMementos(),
      spared: this.history,
      archives: this.archives.map(({ id }, number) => ({
        id,
        spared: policy.savedShare(number),
        hits: policy.recallOfHits(number),
        threshold: policy.threshold(number),
      })),
    };
  }

  /** Learns from an answer. Failures are not answers: leave them out. */
  observe(observation: Observation): void {
    const { surt, mementos, mapLikelihood, propensity = 1, map } = observation;
    const archive = this.numberOf(observation.archive);
    if (archive < 0) return;
    this.look(surt, archive);
    const isHit = mementos > 0;
    const known = this.known(archive);
    this.answers.note(this.#rowOfOriginal(), archive, isHit, this.#day);
    if (observation.isTeaching === false) return;
    this.observations++;
    const logit = observation.logit ?? this.model.logit(archive, mapLikelihood);
    if (observation.isAside === true) this.policy.noteAside(archive, propensity, mementos);
    else if (observation.isOutside === true) this.policy.noteOutside(archive, logit, isHit);
    else this.policy.note(archive, logit, propensity, mementos);
    this.model.update(archive, isHit, this.#path, mapLikelihood);
    // A repeated answer for the same original teaches nothing about others.
    if (known !== KNOWN.nothing && (known === KNOWN.hit) === isHit) return;
    if (map !== undefined) {
      const time = this.#now();
      this.maps.note(observation.archive, map, { isHit, propensity, surt, time });
    }
    for (const place of this.#rows.keys()) {
      this.counts.add(this.#rowOf(place), archive, 1, isHit ? 1 : 0);
    }
  }

  /** Replaces the list of archives; learnt data is kept by archive id. */
  replaceArchives(archives: readonly LearntArchive[]): void {
    const { state, tables } = this.saved();
    this.#start(archives);
    this.restore(state, tables);
    this.maps.keepOnly(new Set(this.#numbers.keys()));
  }

  /** The complete learnt state, for {@link restore}. */
  saved(): { readonly state: LearnerState; readonly tables: readonly Table[] } {
    const { counts, answers, policy } = this;
    const state = {
      archives: this.archives.map(({ id }) => id),
      prefixes: counts.keys,
      originals: answers.keys,
      recall: policy.recall,
      seed: this.#seed,
      epoch: this.#epoch,
      lookups: policy.lookups,
      toLearn: policy.toLearn,
      observations: this.observations,
      history: this.history,
      taken: [...this.taken],
      maps: this.maps.state,
    };
    return { state, tables: [counts.inUse(), answers.inUse(), ...this.#tables] };
  }

  get #tables(): readonly Table[] {
    const { model, policy } = this;
    const { seen, answered, hits, measured } = policy;
    return [model.weights, model.squares, seen, answered, hits, measured];
  }

  /** Loads the state of another learner into this new one. Measurements for another recall are dropped. */
  restore(state: LearnerState, tables: readonly Table[]): void {
    const { counts, answers, policy } = this;
    const places = state.archives.map((id) => this.numberOf(id));
    const [prefixes, originals, ...others] = tables;
    for (const [row, prefix] of state.prefixes.entries()) {
      copyRow([prefixes, row], [counts, counts.enter(prefix)], places, this.archives.length);
    }
    for (const [row, original] of state.originals.entries()) {
      copyRow([originals, row], [answers, answers.enter(original)], places, this.archives.length);
    }
    for (const [i, table] of this.#tables.entries()) {
      if (state.recall !== policy.recall && table === policy.measured) continue;
      copyRow([others[i], 0], [table, 0], places, this.archives.length);
    }
    this.#seed = state.seed;
    this.#epoch = state.epoch;
    this.observations = state.observations;
    this.history = [...state.history];
    for (const name of state.taken) this.taken.add(name);
    this.maps.restore(state.maps);
    policy.lookups = state.lookups;
    policy.toLearn = state.toLearn;
    policy.plan();
  }

  /** Predicts for an original: for all archives, or for one. */
  look(surt: string, only?: number): void {
    this.#setClock();
    if (surt !== this.#path.surt) this.#path = prefixesOf(surt);
    const { counts, answers } = this;
    this.#rows = this.#path.texts.map((text) => counts.find(text));
    this.#answer = answers.find(hashOf(surt, this.#seed));
    const [path, rows, answer] = [this.#path, this.#rows, this.#answer];
    const days = answer < 0 ? Infinity : answers.age(answer, this.#day);
    const trust = 2 ** ((-days * DAY_MS) / HALF_LIFE_MS);
    const priors = this.archives.map((archive) => priorOf(archive, surt));
    this.model.predict({ path, rows, counts, answers, answer, trust, priors }, only);
  }

  /** The row of a prefix of the path, created if missing. */
  #rowOf(place: number): number {
    if (this.#rows[place] < 0) this.#rows[place] = this.counts.enter(this.#path.texts[place]);
    return this.#rows[place];
  }

  #rowOfOriginal(): number {
    if (this.#answer < 0) {
      this.#answer = this.answers.enter(hashOf(this.#path.surt, this.#seed));
    }
    return this.#answer;
  }

  #now(): number {
    return (this.options.now ?? Date.now)();
  }

  #setClock(): void {
    const time = this.#now();
    this.#day = Math.floor(time / DAY_MS);
    const epoch = Math.floor((time / HALF_LIFE_MS) * EPOCHS);
    if (this.#epoch >= 0 && epoch > this.#epoch) {
      const factor = 2 ** (-(epoch - this.#epoch) / EPOCHS);
      const { data } = this.counts;
      for (let at = 0; at < data.length; at++) data[at] *= factor;
    }
    this.#epoch = Math.max(this.#epoch, epoch);
  }
}

/** The prior of an archive for an original, from its entry in the list. */
function priorOf({ scope = [], probability }: LearntArchive, surt: string): Prior {
  const within = scope.filter((prefix) => surt.startsWith(prefix));
  const start = Math.max(0, ...within.map(({ length }) => length));
  if (scope.length === 0) return { chance: probability ?? DEFAULT_PROBABILITY, start };
  if (within.length === 0) return { chance: BEYOND_SCOPE, start };
  return { chance: Math.max(probability ?? 0, WITHIN_SCOPE), start };
}

/** Copies a row between tables of different archives; `places` maps archives of the first to the second, or to -1. */
function copyRow(
  [from, row]: readonly [table: Table, row: number],
  [to, newRow]: readonly [table: Table, row: number],
  places: readonly number[],
  archives: number,
): void {
  const { own, each } = to;
  const start = row * (own + each * places.length);
  const newStart = newRow * (own + each * archives);
  to.data.set(from.data.subarray(start, start + own), newStart);
  for (const [old, place] of places.entries()) {
    if (place < 0) continue;
    const at = start + own + old * each;
    to.data.set(from.data.subarray(at, at + each), newStart + own + place * each);
  }
}
