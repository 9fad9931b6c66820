import { monthName } from "../analyze/datetime-check.ts";
import type { AskedLookups } from "./asked-lookups.ts";
import type { TracePoint } from "./paper-maps.ts";
import type { MadeBy, Predictor } from "./predictor.ts";

/** The accuracy of a map. */
export interface Evaluation extends AnswerCounts {
  readonly map: string;
  readonly lines: number;
  readonly bytes: number;
  readonly gzipBytes: number;
  /** Lines for each original of the truth, or for each key: `costBasis` says which. */
  readonly relativeCost: number;
  readonly costBasis: "originals" | "keys";
  /** The number of originals or keys in the truth. */
  readonly costDivisor: number;
  /** The same as `keyAccuracy`. */
  readonly accuracy: number | null;
  /** The share of correct answers for keys, which have no query; for URIs with a map with queries. */
  readonly keyAccuracy: number | null;
  /** The share of correct answers for URIs (URI-Rs), as in the paper; null if unknown. */
  readonly uriAccuracy: number | null;
  /** Answers for URIs; null if the truth has only keys. */
  readonly uris: AnswerCounts | null;
  /** Answers for lookups whose host is held, by key and by URI. */
  readonly heldHosts: KeyAndUriCounts;
  /** The share of all held keys that it reports present; less than 1 is an error. */
  readonly recall: number;
  /**
   * The share of later items that it reports present: keys of a list, or originals first captured after
   * a date. Null without either.
   */
  readonly freshness: number | null;
  readonly asOf?: AsOfFreshness | undefined;
  readonly made?: MadeBy | undefined;
}

/** A comparison of answers with the holdings. */
export interface AnswerCounts {
  readonly lookups: number;
  readonly truePositives: number;
  readonly falsePositives: number;
  readonly trueNegatives: number;
  readonly falseNegatives: number;
  /** The share of correct answers; null without lookups. */
  readonly accuracy: number | null;
}

interface KeyAndUriCounts {
  readonly keys: AnswerCounts;
  readonly uris: AnswerCounts | null;
}

export interface EvaluationReport {
  readonly all: readonly Evaluation[];
  readonly truth: TruthSummary;
  /** The map with all keys, from which a sweep starts. */
  readonly base: Evaluation | undefined;
  /** Processed and produced rows of a compaction of the base, if requested. */
  readonly trace: readonly TracePoint[] | undefined;
  /** The number of skipped lines of the lists, which are neither URIs nor SURTs. */
  readonly oddLines: number;
}

export interface TruthSummary {
  readonly kind: "map" | "index";
  readonly keys: number;
  readonly originals: number | null;
  /** Why accuracy by URI is unknown; null if it is known. */
  readonly noUris: string | null;
}

/** Facts about a predictor besides its answers. */
export type PredictorFacts = Pick<
  Evaluation,
  "recall" | "freshness" | "asOf" | "costBasis" | "costDivisor"
>;

/** Lookups, and for each whether it is held: 1 for yes. */
export interface JudgedLookups {
  readonly asked: AskedLookups;
  readonly keyIsHeld: Uint8Array;
  /** Whether the host of the key is held. */
  readonly keyIsOnHeldHost: Uint8Array;
  /** Undefined if the truth has only keys. */
  readonly uriIsHeld: Uint8Array | undefined;
}

/** The answers of a predictor: 1 for present. */
interface Answers {
  readonly keys: Uint8Array;
  readonly uris: Uint8Array;
}

/**
 * Looks up every key, whose answer applies to all its URIs; or, with queries, every URI: then a key is
 * present if one of its URIs is.
 */
function answersOf(predictor: Predictor, asked: AskedLookups): Answers {
  const says = (text: string): number => (predictor.says(Buffer.from(text, "latin1")) ? 1 : 0);
  const places = [...asked.uris.values()];
  if (!predictor.queries) {
    const keys = Uint8Array.from(asked.keys.keys(), says);
    return { keys, uris: Uint8Array.from(places, (key) => keys[key]) };
  }
  const uris = Uint8Array.from(asked.uris.keys(), says);
  const keys = new Uint8Array(asked.keys.size);
  for (const [uri, key] of places.entries()) keys[key] |= uris[uri];
  return { keys, uris };
}

/** Compares the answers of a predictor with the holdings. */
export function evaluation(
  predictor: Predictor,
  judged: JudgedLookups,
  { asOf, ...facts }: PredictorFacts,
): Evaluation {
  const answers = answersOf(predictor, judged.asked);
  const { name: map, lines, bytes, gzipBytes, made, queries } = predictor;
  const { keys, uris } = answerCounts(queries, judged, answers, () => true);
  const { recall, freshness, costBasis, costDivisor } = facts;
  return {
    map,
    lines,
    bytes,
    gzipBytes,
    relativeCost: lines / Math.max(1, costDivisor),
    costBasis,
    costDivisor,
    ...keys,
    keyAccuracy: keys.accuracy,
    uriAccuracy: uris?.accuracy ?? null,
    uris,
    heldHosts: answerCounts(queries, judged, answers, (key) => judged.keyIsOnHeldHost[key] === 1),
    recall,
    freshness,
    ...(asOf && { asOf }),
    ...(made && { made }),
  };
}

/** Counts answers for the selected keys, and for their URIs. */
function answerCounts(
  queries: boolean,
  { asked, keyIsHeld, uriIsHeld }: JudgedLookups,
  answers: Answers,
  counts: (key: number) => boolean,
): KeyAndUriCounts {
  const places = [...asked.uris.values()];
  const keys = confusion(keyIsHeld, answers.keys, counts);
  const uris = uriIsHeld && confusion(uriIsHeld, answers.uris, (uri) => counts(places[uri]));
  // The keys of a map with queries are URIs.
  return { keys: queries ? (uris ?? keys) : keys, uris: uris ?? null };
}

function confusion(
  isHeld: Uint8Array,
  says: Uint8Array,
  counts: (place: number) => boolean,
): AnswerCounts {
  const found = [0, 0, 0, 0];
  for (const [place, held] of isHeld.entries()) {
    if (counts(place)) found[2 * held + says[place]]++;
  }
  const [trueNegatives, falsePositives, falseNegatives, truePositives] = found;
  const right = truePositives + trueNegatives;
  const lookups = right + falsePositives + falseNegatives;
  const accuracy = lookups === 0 ? null : right / lookups;
  return { lookups, truePositives, falsePositives, trueNegatives, falseNegatives, accuracy };
}

/** Captures and new originals of a period, and how many of them a map reports present. */
export interface LaterCounts {
  readonly captures: number;
  readonly capturesPresent: number;
  /** Originals first captured after the date, by the time of that capture. */
  readonly newOriginals: number;
  readonly newOriginalsPresent: number;
}

/** The answers of a map as of a date for later captures. */
export interface AsOfFreshness extends LaterCounts {
  /** 4 to 14 digits; the map has captures up to and including this date. */
  readonly date: string;
  /** Distinct originals captured after the date, new or not. */
  readonly originals: number;
  readonly originalsPresent: number;
  /** By month, or by year if there are more than three: `2015-07` or `2015`. */
  readonly periods: readonly (LaterCounts & { readonly period: string })[];
}

/** The captures of an original in a month after the date. */
export interface MonthCaptures {
  /** See `DatetimeCheck`. */
  readonly code: number;
  readonly captures: number;
}

const MAX_MONTHS = 36;

type Counts = { -readonly [Name in keyof LaterCounts]: number };

/**
 * Counts the captures after a date that a predictor reports present.
 *
 * Holds a few numbers per month.
 */
export class FreshnessCount {
  readonly #predictor: Predictor;
  readonly #months = new Map<number, Counts>();
  #originals = 0;
  #originalsPresent = 0;

  constructor(predictor: Predictor) {
    this.#predictor = predictor;
  }

  /**
   * Counts an original that was captured after the date.
   *
   * @param isNew whether it had no earlier capture
   * @param months in chronological order
   */
  add(key: Uint8Array, isNew: boolean, months: readonly MonthCaptures[]): void {
    const isPresent = this.#predictor.says(key);
    this.#originals++;
    if (isPresent) this.#originalsPresent++;
    for (const [i, { code, captures }] of months.entries()) {
      const newOriginals = isNew && i === 0 ? 1 : 0;
      addCounts(countsOf(this.#months, code), {
        captures,
        capturesPresent: isPresent ? captures : 0,
        newOriginals,
        newOriginalsPresent: isPresent ? newOriginals : 0,
      });
    }
  }

  result(date: string): AsOfFreshness {
    const months = [...this.#months].sort(([a], [b]) => a - b);
    const all = noCounts();
    const periods = new Map<string, Counts>();
    for (const [code, counts] of months) {
      const month = monthName(code);
      addCounts(countsOf(periods, months.length > MAX_MONTHS ? month.slice(0, 4) : month), counts);
      addCounts(all, counts);
    }
    return {
      date,
      ...all,
      originals: this.#originals,
      originalsPresent: this.#originalsPresent,
      periods: [...periods].map(([period, counts]) => ({ period, ...counts })),
    };
  }
}

function noCounts(): Counts {
  return { captures: 0, capturesPresent: 0, newOriginals: 0, newOriginalsPresent: 0 };
}

function countsOf<Key>(all: Map<Key, Counts>, key: Key): Counts {
  const counts = all.get(key) ?? noCounts();
  all.set(key, counts);
  return counts;
}

function addCounts(sum: Counts, more: LaterCounts): void {
  sum.captures += more.captures;
  sum.capturesPresent += more.capturesPresent;
  sum.newOriginals += more.newOriginals;
  sum.newOriginalsPresent += more.newOriginalsPresent;
}
