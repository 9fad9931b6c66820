import { OriginalKey } from "../analyze/original-key.ts";
import { surtBytes } from "../../surt/uri-to-surt.ts";
import { isSurtText } from "../../lookup/lookup-list.ts";
import type { MadeBy, TracePoint } from "./paper-maps.ts";
import type { Predictor } from "./predictor.ts";

/** Percent-encoding makes three bytes of one. */
const SURT_GROWTH = 3;

/** Distinct texts, in the order in which they came. */
class TextSet {
  readonly texts: string[] = [];
  readonly #places = new Map<string, number>();

  /** @returns the place of a text, which is added where it is new */
  add(text: string): number {
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    this.#places.set(text, this.texts.length);
    return this.texts.push(text) - 1;
  }

  placeOf(text: string): number | undefined {
    return this.#places.get(text);
  }
}

/**
 * Lookups, by the keys that maps are asked for, which have no query, and by the URIs themselves
 * (URI-Rs), which are distinct by their SURT with its query.
 *
 * Holds all of them.
 */
export class AskedLookups {
  readonly keys: TextSet = new TextSet();
  readonly uris: TextSet = new TextSet();
  /** For each of the URIs, which of the keys is its own. */
  readonly keyOfUri: number[] = [];
  readonly #original = new OriginalKey();
  readonly #encoder = new TextEncoder();
  #surt = new Uint8Array(1 << 12);

  add(text: string): void {
    const bytes = this.#encoder.encode(text);
    let surt = bytes;
    let end = bytes.length;
    if (!isSurtText(text)) {
      const room = bytes.length * SURT_GROWTH + 64;
      if (room > this.#surt.length) this.#surt = new Uint8Array(room * 2);
      surt = this.#surt;
      end = surtBytes(bytes, 0, bytes.length, surt, 0);
    }
    const original = this.#original;
    original.setOriginal(surt, 0, end, 0);
    const key = latin1(original.bytes, original.keyLength);
    const keyPlace = this.keys.add(key);
    const uri = latin1(original.bytes, original.sharedByMonths - 1);
    this.keyOfUri[this.uris.add(uri)] = keyPlace;
  }

  /** The place of an original among the URIs, if it was asked for; see original-key.ts. */
  placeOfOriginal(bytes: Uint8Array, length: number): number | undefined {
    return this.uris.placeOf(latin1(bytes, length));
  }
}

function latin1(bytes: Uint8Array, length: number): string {
  return LATIN1.decode(bytes.subarray(0, length));
}

const LATIN1 = new TextDecoder("latin1");

/** How well a map, or a rival of maps, answers lookups. */
export interface Evaluation extends AnswerCounts {
  readonly map: string;
  readonly lines: number | null;
  readonly bytes: number;
  readonly gzipBytes: number;
  /** Lines for each original of the truth, or for each key: `costBasis` says which. */
  readonly relativeCost: number | null;
  readonly costBasis: "originals" | "keys";
  /** How many of them the truth has. */
  readonly costDivisor: number;
  /** The same as `keyAccuracy`. */
  readonly accuracy: number | null;
  /** The share of right answers to keys, which have no query; to URIs for a map with queries. */
  readonly keyAccuracy: number | null;
  /** The share of right answers to URIs (URI-Rs), as the paper has it; null if not known. */
  readonly uriAccuracy: number | null;
  /** Answers by URI; null if the truth has only keys. */
  readonly uris: AnswerCounts | null;
  /** Answers to lookups whose host is held, by key and by URI. */
  readonly heldHosts: { readonly keys: AnswerCounts; readonly uris: AnswerCounts | null };
  /** The share of all held keys that it calls present; below 1 is a fault. */
  readonly recall: number;
  /**
   * The share of what was archived later that it calls present: keys of a list, or originals first
   * captured after a date. Null without either.
   */
  readonly freshness: number | null;
  readonly asOf?: AsOfFreshness | undefined;
  readonly made?: MadeBy | undefined;
}

export interface JudgedLookups {
  readonly asked: AskedLookups;
  /** For each key, 1 if it is held, and 1 if its host is. */
  readonly keyIsHeld: Uint8Array;
  readonly keyIsOnHeldHost: Uint8Array;
  /** For each URI, 1 if it is held; undefined if only keys are known. */
  readonly uriIsHeld: Uint8Array | undefined;
}

export interface EvaluationReport {
  readonly all: readonly Evaluation[];
  readonly truth: TruthSummary;
  /** The map with all keys: what a sweep starts from. */
  readonly base: Evaluation | undefined;
  /** Processed and produced rows of a compaction of the base, where it was asked for. */
  readonly trace: readonly TracePoint[] | undefined;
  /** Lines of the lists that are neither URIs nor SURTs, and were left out. */
  readonly oddLines: number;
}

export interface TruthSummary {
  readonly kind: "map" | "index";
  readonly keys: number;
  readonly originals: number | null;
  /** Why there is no accuracy by URI; null where there is one. */
  readonly noUris: string | null;
}

/** What is known of a predictor beside its answers to lookups. */
export interface PredictorFacts {
  readonly recall: number;
  readonly freshness: number | null;
  readonly asOf?: AsOfFreshness | undefined;
  readonly costBasis: "originals" | "keys";
  readonly costDivisor: number;
}

/** What a predictor says of the lookups: 1 for present. */
export interface Answers {
  readonly keys: Uint8Array;
  readonly uris: Uint8Array;
}

/**
 * Asks a predictor for every key, which answers for the URIs that have it; or for every URI, where it
 * tells queries apart: then a key is present if one of its URIs is.
 */
export function answersOf(predictor: Predictor, { asked }: JudgedLookups): Answers {
  if (!predictor.queries) {
    const encoder = new TextEncoder();
    const says = (key: string): number => (predictor.says(encoder.encode(key)) ? 1 : 0);
    return answersByKey(Uint8Array.from(asked.keys.texts, says), asked);
  }
  const says = (uri: string): number => (predictor.says(Buffer.from(uri, "latin1")) ? 1 : 0);
  const uris = Uint8Array.from(asked.uris.texts, says);
  const keys = new Uint8Array(asked.keys.texts.length);
  for (const [uri, key] of asked.keyOfUri.entries()) keys[key] |= uris[uri];
  return { keys, uris };
}

/** Answers to keys, which hold for all their URIs. */
export function answersByKey(keys: Uint8Array, { keyOfUri }: AskedLookups): Answers {
  return { keys, uris: Uint8Array.from(keyOfUri, (key) => keys[key]) };
}

/** Compares answers with what is held. */
export function evaluation(
  predictor: Omit<Predictor, "says">,
  lookups: JudgedLookups,
  answers: Answers,
  facts: PredictorFacts,
): Evaluation {
  const count = (onHeldHosts: boolean): { keys: AnswerCounts; uris: AnswerCounts | null } => {
    const counts = countAnswers(lookups, answers, onHeldHosts);
    // The keys of a map with queries are those of URIs.
    return predictor.queries ? { ...counts, keys: counts.uris ?? counts.keys } : counts;
  };
  const { keys, uris } = count(false);
  const { name, lines, bytes, gzipBytes, made } = predictor;
  const { recall, freshness, asOf, costBasis, costDivisor } = facts;
  return {
    map: name,
    lines: lines ?? null,
    bytes,
    gzipBytes,
    relativeCost: lines === undefined ? null : lines / Math.max(1, costDivisor),
    costBasis,
    costDivisor,
    ...keys,
    keyAccuracy: keys.accuracy,
    uriAccuracy: uris?.accuracy ?? null,
    uris,
    heldHosts: count(true),
    recall,
    freshness,
    ...(asOf === undefined ? {} : { asOf }),
    ...(made === undefined ? {} : { made }),
  };
}

function countAnswers(
  { asked, keyIsHeld, keyIsOnHeldHost, uriIsHeld }: JudgedLookups,
  answers: Answers,
  onlyHeldHosts: boolean,
): { keys: AnswerCounts; uris: AnswerCounts | null } {
  const [byKey, byUri] = [new Confusion(), new Confusion()];
  const counts = (key: number): boolean => !onlyHeldHosts || keyIsOnHeldHost[key] === 1;
  for (const key of asked.keys.texts.keys()) {
    if (counts(key)) byKey.add(keyIsHeld[key] === 1, answers.keys[key] === 1);
  }
  if (uriIsHeld === undefined) return { keys: byKey.counts(), uris: null };
  for (const uri of asked.uris.texts.keys()) {
    const key = asked.keyOfUri[uri];
    if (counts(key)) byUri.add(uriIsHeld[uri] === 1, answers.uris[uri] === 1);
  }
  return { keys: byKey.counts(), uris: byUri.counts() };
}

/** Counts how much of what is held predictors call present. */
export class RecallCount {
  #held = 0;
  readonly #predictors: readonly Predictor[];
  readonly #found: Float64Array;

  constructor(predictors: readonly Predictor[]) {
    this.#predictors = predictors;
    this.#found = new Float64Array(predictors.length);
  }

  add(key: Uint8Array): void {
    this.#held++;
    const predictors = this.#predictors;
    for (let i = 0; i < predictors.length; i++) if (predictors[i].says(key)) this.#found[i]++;
  }

  /** The recall of each predictor; 1 when nothing is held. */
  get recalls(): number[] {
    return Array.from(this.#found, (found) => (this.#held === 0 ? 1 : found / this.#held));
  }
}

/** How a set of answers compares with what is held. */
export interface AnswerCounts {
  readonly lookups: number;
  readonly truePositives: number;
  readonly falsePositives: number;
  readonly trueNegatives: number;
  readonly falseNegatives: number;
  /** The share of right answers; null when nothing was asked. */
  readonly accuracy: number | null;
}

class Confusion {
  #truePositives = 0;
  #falsePositives = 0;
  #trueNegatives = 0;
  #falseNegatives = 0;

  add(isHeld: boolean, saysPresent: boolean): void {
    if (isHeld) {
      if (saysPresent) this.#truePositives++;
      else this.#falseNegatives++;
    } else if (saysPresent) this.#falsePositives++;
    else this.#trueNegatives++;
  }

  counts(): AnswerCounts {
    const right = this.#truePositives + this.#trueNegatives;
    const lookups = right + this.#falsePositives + this.#falseNegatives;
    return {
      lookups,
      truePositives: this.#truePositives,
      falsePositives: this.#falsePositives,
      trueNegatives: this.#trueNegatives,
      falseNegatives: this.#falseNegatives,
      accuracy: lookups === 0 ? null : right / lookups,
    };
  }
}

/** Captures and new originals of a time, and how many of them a map calls present. */
export interface LaterCounts {
  readonly captures: number;
  readonly capturesPresent: number;
  /** Originals that had no capture up to the date, by the time of their first one. */
  readonly newOriginals: number;
  readonly newOriginalsPresent: number;
}

/** What a map that was made as of a date says of what was captured after it. */
export interface AsOfFreshness extends LaterCounts {
  /** 4 to 14 digits; the map knows captures up to and including it. */
  readonly date: string;
  /** Distinct originals captured after the date, new or not. */
  readonly originals: number;
  readonly originalsPresent: number;
  /** By month, or by year where there are more than three: `2015-07` or `2015`. */
  readonly periods: readonly (LaterCounts & { readonly period: string })[];
}

/** The captures of an original in a month after the date. */
export interface MonthCaptures {
  /** `2015-07`; or `2015` where the month is not known. */
  readonly month: string;
  readonly captures: number;
}

const MOST_MONTHS = 36;

/**
 * Counts how much of what was captured after a date predictors call present.
 *
 * Holds a few numbers for each predictor and month.
 */
export class FreshnessCount {
  readonly #predictors: readonly Predictor[];
  readonly #months = new Map<string, Tally>();
  readonly #originals: Tally;

  constructor(predictors: readonly Predictor[]) {
    this.#predictors = predictors;
    this.#originals = new Tally(predictors.length);
  }

  /**
   * Takes an original that was captured after the date.
   *
   * @param isNew whether it had no capture before
   * @param months in order of time
   */
  add(key: Uint8Array, isNew: boolean, months: readonly MonthCaptures[]): void {
    const says = this.#predictors.map((predictor) => predictor.says(key));
    this.#originals.add(says, 1, isNew ? 1 : 0);
    for (const [i, { month, captures }] of months.entries()) {
      const tally = this.#months.get(month) ?? new Tally(says.length);
      this.#months.set(month, tally);
      tally.add(says, captures, isNew && i === 0 ? 1 : 0);
    }
  }

  result(predictor: number, date: string): AsOfFreshness {
    const months = [...this.#months].sort(([a], [b]) => (a < b ? -1 : 1));
    const all = new Tally(this.#predictors.length);
    const periods = new Map<string, Tally>();
    for (const [month, tally] of months) {
      all.join(tally);
      const name = months.length > MOST_MONTHS ? month.slice(0, 4) : month;
      const period = periods.get(name) ?? new Tally(this.#predictors.length);
      periods.set(name, period);
      period.join(tally);
    }
    const { captures: originals, capturesPresent } = this.#originals.of(predictor);
    return {
      date,
      ...all.of(predictor),
      originals,
      originalsPresent: capturesPresent,
      periods: [...periods].map(([period, tally]) => ({ period, ...tally.of(predictor) })),
    };
  }
}

/** Counts of one time, for all predictors. */
class Tally {
  #captures = 0;
  #newOriginals = 0;
  readonly #capturesPresent: Float64Array;
  readonly #newPresent: Float64Array;

  constructor(predictors: number) {
    this.#capturesPresent = new Float64Array(predictors);
    this.#newPresent = new Float64Array(predictors);
  }

  add(says: readonly boolean[], captures: number, newOriginals: number): void {
    this.#captures += captures;
    this.#newOriginals += newOriginals;
    for (const [i, isPresent] of says.entries()) {
      if (!isPresent) continue;
      this.#capturesPresent[i] += captures;
      this.#newPresent[i] += newOriginals;
    }
  }

  join(other: Tally): void {
    this.#captures += other.#captures;
    this.#newOriginals += other.#newOriginals;
    for (let i = 0; i < this.#newPresent.length; i++) {
      this.#capturesPresent[i] += other.#capturesPresent[i];
      this.#newPresent[i] += other.#newPresent[i];
    }
  }

  of(predictor: number): LaterCounts {
    return {
      captures: this.#captures,
      capturesPresent: this.#capturesPresent[predictor],
      newOriginals: this.#newOriginals,
      newOriginalsPresent: this.#newPresent[predictor],
    };
  }
}
