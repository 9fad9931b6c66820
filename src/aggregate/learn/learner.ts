import { MementoMapError } from "../../errors.ts";
import { Answers, EPOCHS_PER_HALF_LIFE, Evidence, KNOWN } from "./evidence.ts";
import { chanceOf, HitModel } from "./hit-model.ts";
import { KeyPath, LEVEL } from "./key-path.ts";
import { type LearntReason, learntReasonText } from "../../page/learnt-reason.ts";
import { ArchiveRecalls } from "./archive-recalls.ts";
import { DecisionCounts, type Decisions } from "./decision-counts.ts";
import { MapTrust, type MapWord, type StaleMap } from "./map-trust.ts";
import { PrefixNames } from "./prefix-names.ts";
import { type MeasuredRecall, RecallPolicy } from "./recall-policy.ts";

/** What a learner knows of an archive before any answer. */
export interface LearntArchive {
  readonly id: string;
  /** How likely it is, from 0 to 1, to have an original nothing else is known about. */
  readonly probability?: number | undefined;
  /** Prefixes of keys that it collects, such as `pt,` and `com,example)/a/`; default anything. */
  readonly scope?: readonly string[] | undefined;
  /** Whether it left the list, and may come back; default false. */
  readonly isGone?: boolean | undefined;
}

export interface LearnerOptions {
  /** The share of hits, and of mementos, that is to be kept; default 1, which spares nothing. */
  readonly recall?: number | undefined;
  /** Default 58 MiB. */
  readonly memoryBytes?: number | undefined;
  /** After this time, what was answered counts half; default 180 days. */
  readonly halfLifeMs?: number | undefined;
  /** From 0 to 1; default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Milliseconds since 1970; default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Called with each observation of this process, for others that learn the same. */
  readonly onObservation?: ((observation: Observation) => void) | undefined;
  /** Called when answers contradict the map of an archive. */
  readonly onStaleMap?: ((archive: string, stale: StaleMap) => void) | undefined;
}

/** What an archive answered. Plain data: it can be sent to other processes. */
export interface Observation {
  /** The id of the archive. */
  readonly archive: string;
  /** The SURT of the original, with its query. */
  readonly surt: string;
  /** 0 for a miss. */
  readonly mementos: number;
  /** How likely the archive was to be asked; default 1. */
  readonly propensity?: number | undefined;
  /** The logit that was predicted; default what would be predicted now. */
  readonly logit?: number | undefined;
  /** Whether the archive was asked for what can be learnt, and is not part of a sample. */
  readonly isAside?: boolean | undefined;
  /** Whether every archive was asked, whatever its chance: nothing follows for what is kept. */
  readonly isOutside?: boolean | undefined;
  /** Where a map of the archive said present, how likely that made it. */
  readonly mapLikelihood?: number | undefined;
  /** What the map of the archive said, where it has one that is fresh. */
  readonly map?: MapWord | undefined;
  /** Milliseconds since 1970; default now. */
  readonly time?: number | undefined;
}

/** What is decided about an archive. With a propensity below 1 it is asked to explore only. */
export interface LearntDecision {
  readonly logit: number;
  /** How likely it was to be asked. */
  readonly propensity: number;
  readonly isAsked: boolean;
  /** Whether it is asked for what can be learnt about its host or folder. */
  readonly isAside: boolean;
  /** Where the map of the archive said present, how likely that made it. */
  readonly mapLikelihood: number | undefined;
}

/** A hit in an earlier answer that was given again. */
export interface KeptHit {
  /** The number of the archive. */
  readonly archive: number;
  /** Whether the archive would be asked for other reasons than its chance. */
  readonly isAside: boolean;
}

/** How much was spared and kept, up to a number of lookups. */
export interface LearningMark {
  readonly lookups: number;
  /** The share of requests that were spared since the mark before. */
  readonly share: number;
  /** The share of hits, and of mementos, that was kept lately, as it was measured then. */
  readonly hits?: MeasuredRecall | undefined;
  readonly mementos?: MeasuredRecall | undefined;
}

/** How the names of maps begin that were taken. */
export const MAP_TAKEN = "map ";

/** How likely an archive has an original, and why. */
export interface Prediction {
  readonly chance: number;
  /** An interval of 95 %, by how many answers the chance rests on. */
  readonly low: number;
  readonly high: number;
  /** `0 of 312 lookups under org,example found anything`. */
  readonly reason: string;
}

/**
 * What was looked up as often is asked of every archive once: few originals are, and one that is missed
 * each time loses as many hits.
 */
const OFTEN = 8;
/** How many times its cost asking must be worth, for a host or folder: what was asked for may not go on. */
const PAYS = 4;

const DAY_MS = 86_400_000;
const DEFAULT_HALF_LIFE_MS = 180 * DAY_MS;
const DEFAULT_MEMORY = 58 * 2 ** 20;
const EVIDENCE_SHARE = 0.56;
const NAMES_SHARE = 0.06;

/** The share of hits in three years of MemGator's requests to 14 archives (the paper's table). */
const DEFAULT_PROBABILITY = 0.0544;
/** How likely an archive has what is within its scope, and what is not. */
const WITHIN_SCOPE = 0.5;
const BEYOND_SCOPE = 0.002;
const SCOPE_ANSWERS = 4;
const BEYOND_ANSWERS = 20;
const NO_HINT = { asked: 0, hits: 0 };

/** A probability is that of anything at all; within its scope an archive has more. */
function withinScope(probability = 0): number {
  return Math.max(probability, WITHIN_SCOPE);
}

/** An answer to what is seldom asked teaches for others that were not, but for no more than these. */
const MOST_WEIGHT = 5;

/** An archive is asked whatever its chance until this many answers are known of it. */
const NEW_ANSWERS = 30;

/** A prefix gets a name once this many answers are known of it, and a hit or as many as make a void. */
const NAMED_ANSWERS = 3;
const NAMED_MISSES = 32;

/** A reason names the longest prefix of which this many answers are known. */
const TELLING = 3;

/**
 * Learns from what archives answer which of them have an original.
 *
 * Call `look` with the SURT of an original; `chanceOf`, `decide` and `explain` speak of it until
 * the next. `observe` takes what was answered. Bounded in memory, whatever is asked for.
 *
 * Deterministic for the same options, clock, random numbers and calls. The counts do not depend on the
 * order of observations within a time in which nothing is forgotten; weights do.
 */
export class Learner {
  archives: readonly LearntArchive[];
  evidence: Evidence;
  answers: Answers;
  model: HitModel;
  policy: RecallPolicy;
  /** What is kept and lost, archive by archive. */
  recalls: ArchiveRecalls;
  /** The text of prefixes of which enough is known to be shared. */
  names: PrefixNames;
  /** Which maps answers contradict. */
  readonly maps: MapTrust;
  /** What others knew that was taken: a source and an archive each. */
  taken: Set<string> = new Set();
  readonly options: LearnerOptions;
  /** Answers that were learnt from. */
  observations = 0;
  /** What was spared and kept up to 100, 200, 500, 1000 lookups and so on. */
  history: LearningMark[] = [];
  #made = 0;
  #possible = 0;
  /** No mark is reached before as many lookups. */
  #nextMark = 0;
  /** What was decided here, where others are told of it. */
  #decisions: DecisionCounts | undefined;
  #numbers: ReadonlyMap<string, number>;
  /** Observations that wait while another learner takes over. */
  #held: Observation[] | undefined;
  #holds = 0;
  readonly #halfLifeMs: number;
  readonly #path = new KeyPath();
  readonly #slots = new Int32Array(16).fill(-1);
  #answer = -1;
  /** Below this, nothing can be worth learning for the original that was looked at. */
  #leastRate = 0;
  /** How often the original was looked up before. */
  #repeats = 0;
  #surt: Uint8Array = new Uint8Array(0);
  #room: Uint8Array = new Uint8Array(1024);
  #encodedLength = 0;

  constructor(archives: readonly LearntArchive[], options: LearnerOptions = {}) {
    const { recall = 1 } = options;
    if (!(recall > 0 && recall <= 1)) {
      throw new MementoMapError(
        "MM_USAGE",
        `recall is ${recall}; it must be above 0 and at most 1`,
      );
    }
    this.archives = archives;
    this.options = options;
    const memory = options.memoryBytes ?? DEFAULT_MEMORY;
    this.#halfLifeMs = options.halfLifeMs ?? DEFAULT_HALF_LIFE_MS;
    this.#numbers = new Map(archives.map(({ id }, number) => [id, number]));
    this.evidence = new Evidence(archives.length, memory * EVIDENCE_SHARE);
    this.answers = new Answers(archives.length, memory * (1 - EVIDENCE_SHARE - NAMES_SHARE));
    this.names = new PrefixNames(memory * NAMES_SHARE);
    this.recalls = new ArchiveRecalls(archives.length);
    this.maps = new MapTrust(options.onStaleMap);
    this.model = new HitModel(
      archives.map(({ probability, scope }) =>
        scope === undefined ? (probability ?? DEFAULT_PROBABILITY) : BEYOND_SCOPE,
      ),
    );
    this.policy = new RecallPolicy(archives.length, recall);
    this.#setClock(this.#now());
    for (const [number, { scope, probability }] of archives.entries()) {
      if (scope !== undefined) this.#takeScope(number, scope, withinScope(probability));
    }
  }

  /** The place of an archive in the list, or -1. */
  numberOf(id: string): number {
    return this.#numbers.get(id) ?? -1;
  }

  /** Predicts for an original; `surt[0, end)` must not change until the next. */
  look(surt: Uint8Array): void {
    this.#setClock(this.#now());
    this.#look(surt, surt.length);
  }

  /** Begins the decisions of a lookup: call it once before {@link decide}. */
  begin(): void {
    this.#count(1);
    if (this.#decisions !== undefined) this.#decisions.lookups++;
    if (this.#held !== undefined) return;
    this.#decisions?.look(this.#path);
    const most = this.#countPrefixes();
    this.#weigh(most, this.#countOriginal());
  }

  /** Call it in place of {@link begin} before decisions that are only previewed: it counts nothing. */
  consider(): void {
    const { levels, length } = this.#path;
    let most = 0;
    for (let place = 1; place < length - 1; place++) {
      const slot = this.#slots[place];
      if (slot >= 0 && levels[place] >= LEVEL.host) {
        most = Math.max(most, this.evidence.lookups(slot));
      }
    }
    this.#weigh(1 + most, this.#answer < 0 ? 0 : this.answers.lookups(this.#answer));
  }

  /**
   * @param most how often the host or one of its folders was looked up, including this time.
   * @param repeats how often the original was looked up before.
   */
  #weigh(most: number, repeats: number): void {
    this.#repeats = repeats;
    const worth = Math.max((1 + most) / PAYS, 1 + repeats);
    this.#leastRate = repeats >= OFTEN ? 0 : this.policy.marginal / worth;
  }

  /** Counts a lookup of the host and its folders, down to the first that is new; gives the most that one has. */
  #countPrefixes(): number {
    const { levels, length } = this.#path;
    let most = 0;
    for (let place = 1; place < length - 1; place++) {
      if (levels[place] < LEVEL.host) continue;
      const isNew = this.#slots[place] < 0;
      if (isNew) this.#enterPrefix(place);
      most = Math.max(most, this.evidence.countLookup(this.#slots[place]));
      if (isNew) break;
    }
    return most;
  }

  #enterPrefix(place: number): void {
    const { table } = this.evidence;
    const { moves } = table;
    this.#slots[place] = table.enter(this.#path.highs[place], this.#path.lows[place]);
    if (table.moves !== moves) this.#findSlots();
  }

  #count(lookups: number): void {
    const before = this.policy.lookups;
    this.policy.begin(lookups);
    this.recalls.begin(lookups);
    if (this.policy.lookups < this.#nextMark) return;
    const mark = lastMark(this.policy.lookups);
    this.#nextMark = nextMark(mark);
    if (this.#possible === 0 || mark <= before) return;
    const { recallOfHits, recallOfMementos } = this.policy;
    const share = 1 - this.#made / this.#possible;
    this.history.push({ lookups: mark, share, hits: recallOfHits, mementos: recallOfMementos });
    this.#made = this.#possible = 0;
  }

  /**
   * What this process decided since the last call, for {@link applyDecisions} of others; undefined if nothing.
   * From the first call on it is counted.
   */
  takeDecisions(): Decisions | undefined {
    if (this.#decisions === undefined) this.#countDecisions();
    return this.#decisions?.take(this.archives.map(({ id }) => id));
  }

  #countDecisions(): void {
    this.#decisions = new DecisionCounts(this.archives.length);
    this.policy.counted = this.#decisions;
  }

  /** Counts what another process decided, as if it was decided here. */
  applyDecisions({ lookups, archives, looked }: Decisions): void {
    this.#count(lookups);
    if (this.#held === undefined) this.#countLooked(looked);
    for (const { archive: id, possible, made, seen, expected, kept } of archives) {
      const archive = this.numberOf(id);
      if (archive < 0) continue;
      this.policy.take(archive, seen, expected);
      this.#noteDecided(archive, possible, made);
      // Workers of an older version, during a rolling restart, do not send it.
      if (kept !== undefined) this.#keep(archive, kept.hits, kept.aside, kept.perHit);
    }
  }

  /** As {@link begin} counts lookups of this process. */
  #countLooked(looked: Decisions["looked"]): void {
    const { evidence, answers } = this;
    for (let start = 0; start < looked.length;) {
      const original = start + 1 + (looked[start] - 1) * 2;
      for (let at = start + 1; at < original; at += 2) {
        const slot = evidence.table.find(looked[at], looked[at + 1]);
        evidence.countLookup(slot < 0 ? evidence.table.enter(looked[at], looked[at + 1]) : slot);
        if (slot < 0) break;
      }
      answers.countLookup(answers.table.obtain(looked[original], looked[original + 1]));
      start = original + 2;
    }
  }

  #noteDecided(archive: number, possible: number, made: number): void {
    this.#possible += possible;
    this.#made += made;
    this.recalls.decided(archive, possible, made);
  }

  /** How often the original was looked up before. */
  #countOriginal(): number {
    this.#enterOriginal();
    return this.answers.countLookup(this.#answer);
  }

  #enterOriginal(): void {
    const { highs, lows, length } = this.#path;
    if (this.#answer < 0)
      this.#answer = this.answers.table.enter(highs[length - 1], lows[length - 1]);
  }

  /**
   * Whether asking is worth it for what is learnt: if one hit would make the archive worth asking for
   * what else will be looked up: the original again, as often as so far, or others at this host or
   * folder.
   */
  #isWorthLearning(archive: number, rate: number): boolean {
    const { marginal } = this.policy;
    if (marginal === 0 || rate < this.#leastRate) return false;
    if (this.known(archive) === KNOWN.nothing) {
      if (this.#repeats >= OFTEN || rate * (1 + this.#repeats) >= marginal) return true;
    }
    const { levels, length } = this.#path;
    for (let place = 1; place < length - 1; place++) {
      const slot = this.#slots[place];
      const level = levels[place];
      if (slot < 0 || level < LEVEL.host) continue;
      const asked = this.evidence.asked(slot, archive);
      const strength = this.model.strengthAt(archive, level, asked);
      const gain = (rate * strength + 1) / (strength + 1) - marginal;
      if (gain <= 0) continue;
      if (rate * (1 + this.evidence.lookups(slot) * gain) >= PAYS * marginal) return true;
    }
    return false;
  }

  /** The logit of the chance of a hit; with a likelihood where the map of the archive says present. */
  logitOf(archive: number, mapLikelihood?: number): number {
    return mapLikelihood === undefined
      ? this.model.logits[archive]
      : this.model.withMap(archive, mapLikelihood);
  }

  /** The chance of a hit, from 0 to 1. */
  chanceOf(archive: number): number {
    return chanceOf(this.model.logits[archive]);
  }

  /**
   * Decides about an archive, for the original that was looked at; after {@link begin}.
   *
   * @param mapLikelihood where the map of the archive says present, how likely it makes it.
   */
  decide(archive: number, mapLikelihood?: number): LearntDecision {
    const decision = this.preview(archive, mapLikelihood);
    this.count(archive, decision);
    return decision;
  }

  /** Counts a previewed decision as made. */
  count(archive: number, { logit, propensity, isAsked, isAside }: LearntDecision): void {
    if (!isAside) this.policy.count(this.policy.cellOf(archive, logit), propensity);
    this.#noteDecided(archive, 1, isAsked ? 1 : 0);
    this.#decisions?.decided(archive, isAsked);
  }

  /** What an archive last answered for the original that was looked at, one of `KNOWN`. */
  known(archive: number): number {
    return this.#answer < 0 ? KNOWN.nothing : this.answers.of(this.#answer, archive);
  }

  /** Counts the hits of an earlier answer that was given again, and the mementos of all of them. */
  keep(hits: readonly KeptHit[], mementos: number): void {
    const perHit = mementos / hits.length;
    for (const { archive, isAside } of hits) {
      this.#keep(archive, 1, isAside ? 1 : 0, perHit);
      this.#decisions?.keep(archive, isAside, perHit);
    }
  }

  /** @param perHit how many mementos each of them has. */
  #keep(archive: number, hits: number, aside: number, perHit: number): void {
    this.policy.keep(hits, aside, perHit);
    this.recalls.keep(archive, hits);
  }

  /** What would be decided; it counts as no decision. After {@link begin} or {@link consider}. */
  preview(archive: number, mapLikelihood?: number): LearntDecision {
    const logit = this.logitOf(archive, mapLikelihood);
    const cell = this.policy.cellOf(archive, logit);
    const propensity = this.policy.propensities[cell];
    if (propensity >= 1 || this.#isNew(archive)) {
      return { logit, propensity: 1, isAsked: true, isAside: false, mapLikelihood };
    }
    if (this.#isWorthLearning(archive, this.policy.rates[cell])) {
      return { logit, propensity: 1, isAsked: true, isAside: true, mapLikelihood };
    }
    const isAsked = (this.options.random ?? Math.random)() < propensity;
    return { logit, propensity, isAsked, isAside: false, mapLikelihood };
  }

  #isNew(archive: number): boolean {
    const root = this.#slots[0];
    return root < 0 || this.evidence.asked(root, archive) < NEW_ANSWERS;
  }

  /** The chance of a hit with its uncertainty, and what it rests on. */
  explain(archive: number): Prediction {
    const chance = this.chanceOf(archive);
    const answers = this.model.known[archive] + 1;
    const spread =
      1.96 * Math.sqrt((chance * (1 - chance)) / answers + 1 / (4 * answers * answers));
    return {
      chance,
      low: Math.max(0, chance - spread),
      high: Math.min(1, chance + spread),
      reason: learntReasonText(this.#reason(archive)),
    };
  }

  /** Learns from an answer. Failures are not answers: leave them out. */
  observe(observation: Observation): void {
    this.apply(observation);
    this.options.onObservation?.(observation);
  }

  /** Learns from an answer that another process observed. */
  apply(observation: Observation): void {
    const archive = this.numberOf(observation.archive);
    if (this.#held !== undefined) this.#held.push(observation);
    if (archive < 0 || this.#held !== undefined) return;
    const { mementos, mapLikelihood, propensity = 1 } = observation;
    const time = observation.time ?? this.#now();
    this.#setClock(time);
    this.#look(this.#encoded(observation.surt), this.#encodedLength, archive);
    const isHit = mementos > 0;
    const known = this.known(archive);
    const logit = observation.logit ?? this.logitOf(archive, mapLikelihood);
    if (observation.isAside === true) this.policy.noteAside(propensity, mementos);
    else if (observation.isOutside === true) this.policy.noteOutside(archive, logit, mementos);
    else this.policy.note(archive, logit, propensity, mementos);
    if (isHit && observation.isOutside !== true) this.recalls.note(archive, propensity);
    // The same answer for the same original says nothing new about others.
    const isNew = known === KNOWN.nothing || (known === KNOWN.hit) !== isHit;
    if (observation.map !== undefined && isNew) {
      const { surt } = observation;
      this.maps.note(observation.archive, observation.map, { isHit, propensity, surt, time });
    }
    this.model.update(
      archive,
      isHit,
      Math.min(1 / propensity, MOST_WEIGHT),
      this.#path,
      mapLikelihood,
    );
    this.model.learnShrinkage(archive, isHit, this.#path, this.#slots, this.evidence, known);
    if (isNew) this.#addEvidence(archive, isHit);
    this.#enterOriginal();
    this.answers.note(this.#answer, archive, isHit);
    this.observations++;
  }

  /**
   * Takes what others know of a prefix as so many answers, of which so many were hits: a part of
   * `hits / asked`.
   */
  seed(archive: number, prefix: Uint8Array, asked: number, hits: number): void {
    this.#path.take(prefix);
    const last = this.#path.length - 2;
    const slot = this.evidence.table.obtain(this.#path.highs[last], this.#path.lows[last]);
    this.#slots[0] = this.evidence.table.find(this.#path.highs[0], this.#path.lows[0]);
    const expected = this.#expected(archive);
    if (hits > 0) this.evidence.add(slot, archive, true, hits, expected);
    if (asked > hits) this.evidence.add(slot, archive, false, asked - hits, expected);
  }

  /** Remembers that something was taken, so that it is not taken twice: a log, or a map of others. */
  noteTaken(names: Iterable<string>): void {
    for (const name of names) {
      this.taken.add(name);
      if (name.startsWith(MAP_TAKEN)) this.policy.restsOnOthers = true;
    }
  }

  /**
   * Lets observations wait, and nothing change, until the function that is returned is called: once, by each
   * that asked for it.
   */
  hold(): () => void {
    this.#held ??= [];
    this.#holds++;
    return () => {
      this.#holds--;
      if (this.#holds > 0) return;
      const held = this.#held ?? [];
      this.#held = undefined;
      for (const observation of held) this.apply(observation);
    };
  }

  /** Goes on as another learner would: with its archives and what it knows. */
  adopt(other: Learner): void {
    this.archives = other.archives;
    this.#numbers = other.#numbers;
    this.evidence = other.evidence;
    this.answers = other.answers;
    this.model = other.model;
    this.policy = other.policy;
    this.recalls = other.recalls;
    this.names = other.names;
    this.taken = other.taken;
    this.history = other.history;
    this.observations = other.observations;
    this.maps.keepOnly(new Set(this.#numbers.keys()));
    if (this.#decisions !== undefined) this.#countDecisions();
    this.#slots.fill(-1);
    this.#answer = -1;
    this.#nextMark = 0;
  }

  #takeScope(archive: number, scope: readonly string[], probability: number): void {
    this.seed(archive, new Uint8Array(0), BEYOND_ANSWERS, BEYOND_ANSWERS * BEYOND_SCOPE);
    for (const prefix of scope) {
      this.seed(archive, encoder.encode(prefix), SCOPE_ANSWERS, SCOPE_ANSWERS * probability);
    }
  }

  /** Predicts for all archives, or for one. */
  #look(surt: Uint8Array, end: number, only?: number): void {
    const path = this.#path;
    path.take(surt, end);
    this.#surt = surt;
    this.#leastRate = 0;
    this.#repeats = 0;
    const last = path.length - 1;
    this.answers.table.touch(path.lows[last]);
    for (let place = 2; place < last; place++) this.evidence.table.touch(path.lows[place]);
    this.#findSlots();
    this.#answer = this.answers.table.find(path.highs[last], path.lows[last]);
    const { model, evidence, answers } = this;
    model.predict(path, this.#slots, evidence, answers, this.#answer, this.#trust(), only);
  }

  /** The bytes of a SURT, as many as `#encodedLength`: in memory that is used again, as answers come often. */
  #encoded(surt: string): Uint8Array {
    const most = surt.length * 3;
    if (this.#room.length < most) this.#room = new Uint8Array(most * 2);
    this.#encodedLength = encoder.encodeInto(surt, this.#room).written;
    return this.#room;
  }

  #findSlots(): void {
    const { highs, lows, length } = this.#path;
    const { table } = this.evidence;
    for (let place = 0; place < length - 1; place++) {
      this.#slots[place] = table.find(highs[place], lows[place]);
    }
  }

  #trust(): number {
    if (this.#answer < 0) return 0;
    const days = this.answers.daysSince(this.#answer);
    return days === 0 ? 1 : 2 ** ((-days * DAY_MS) / this.#halfLifeMs);
  }

  /** A folder is counted once what is above it is known, so that originals asked for once cost little. */
  #addEvidence(archive: number, isHit: boolean): void {
    const { evidence } = this;
    const path = this.#path;
    const expected = this.#expected(archive);
    let isKnown = true;
    for (let place = 0; place < path.length - 1; place++) {
      const isAboveKnown = isKnown;
      isKnown = this.#slots[place] >= 0;
      if (path.levels[place] > LEVEL.host && !isKnown && !isAboveKnown) break;
      if (!isKnown) this.#enterPrefix(place);
      const slot = this.#slots[place];
      evidence.add(slot, archive, isHit, 1, expected);
      if (evidence.asked(slot, archive) < (isHit ? NAMED_ANSWERS : NAMED_MISSES)) continue;
      this.names.add(this.#surt, path, place);
    }
  }

  /** The share of hits an archive has in general. */
  #expected(archive: number): number {
    const root = this.#slots[0];
    if (root < 0) return this.model.priors[archive];
    const asked = this.evidence.asked(root, archive) + 1;
    return (this.evidence.hits(root, archive) + this.model.priors[archive]) / asked;
  }

  #reason(archive: number): LearntReason {
    const path = this.#path;
    const last = path.length - 1;
    if (this.#answer >= 0) {
      const known = this.answers.of(this.#answer, archive);
      if (known === KNOWN.hit) return { kind: "had-it" };
      if (known === KNOWN.miss) return { kind: "lacked-it" };
    }
    let telling = -1;
    let longest = -1;
    for (let place = 0; place < last; place++) {
      const slot = this.#slots[place];
      const hinted = this.hintedAt(archive, place).asked;
      const asked = slot < 0 ? 0 : this.evidence.asked(slot, archive) - hinted;
      if (asked > 0.5) longest = place;
      if (asked >= TELLING) telling = place;
    }
    const place = telling >= 0 ? telling : longest;
    if (place < 0) return { kind: this.archives[archive].scope === undefined ? "unknown" : "hint" };
    const slot = this.#slots[place];
    const hinted = this.hintedAt(archive, place);
    const asked = Math.max(1, Math.round(this.evidence.asked(slot, archive) - hinted.asked));
    const found = Math.max(0, Math.round(this.evidence.hits(slot, archive) - hinted.hits));
    const hits = Math.min(asked, found);
    const prefix = place === 0 ? undefined : path.textOf(this.#surt, place);
    return { kind: "others", hits, asked, prefix };
  }

  /** What the scope of an archive counts for at a prefix of a path, as if it were answers. */
  hintedAt(
    archive: number,
    place: number,
    { highs, lows }: KeyPath = this.#path,
  ): { readonly asked: number; readonly hits: number } {
    const { scope, probability } = this.archives[archive];
    if (scope === undefined) return NO_HINT;
    if (place === 0) return { asked: BEYOND_ANSWERS, hits: BEYOND_ANSWERS * BEYOND_SCOPE };
    const isHinted = scope.some((prefix) => {
      const path = new KeyPath();
      path.take(encoder.encode(prefix));
      const last = path.length - 2;
      return path.highs[last] === highs[place] && path.lows[last] === lows[place];
    });
    return isHinted
      ? { asked: SCOPE_ANSWERS, hits: SCOPE_ANSWERS * withinScope(probability) }
      : NO_HINT;
  }

  #now(): number {
    return (this.options.now ?? Date.now)();
  }

  #setClock(time: number): void {
    this.evidence.epoch = Math.floor((time / this.#halfLifeMs) * EPOCHS_PER_HALF_LIFE) & 0xffff;
    this.answers.epoch = Math.floor(time / DAY_MS) & 0xffff;
  }
}

/** The last number that is 1, 2 or 5 times a power of ten, from 100 on; 0 before. */
function lastMark(lookups: number): number {
  if (lookups < 100) return 0;
  const power = 10 ** Math.floor(Math.log10(lookups));
  const lead = lookups / power;
  return power * (lead < 2 ? 1 : lead < 5 ? 2 : 5);
}

/** The mark that follows one, or 0. */
function nextMark(mark: number): number {
  if (mark === 0) return 100;
  return mark * (String(mark).startsWith("2") ? 2.5 : 2);
}

const encoder = new TextEncoder();
