import { monthName } from "../analyze/datetime-check.ts";
import type { AskedLookups } from "./asked-lookups.ts";
import type { TracePoint } from "./paper-maps.ts";
import type { MadeBy, Predictor } from "./predictor.ts";

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
  readonly heldHosts: KeyAndUriCounts;
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

interface KeyAndUriCounts {
  readonly keys: AnswerCounts;
  readonly uris: AnswerCounts | null;
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
export interface PredictorFacts extends Pick<
  Evaluation,
  "recall" | "freshness" | "asOf" | "costBasis" | "costDivisor"
> {}

/** Lookups, and for each whether it is held: 1 for yes. */
export interface JudgedLookups {
  readonly asked: AskedLookups;
  readonly keyIsHeld: Uint8Array;
  /** Whether the host of the key is held. */
  readonly keyIsOnHeldHost: Uint8Array;
  /** Undefined if only keys are known. */
  readonly uriIsHeld: Uint8Array | undefined;
}

/** What a predictor says of the lookups: 1 for present. */
interface Answers {
  readonly keys: Uint8Array;
  readonly uris: Uint8Array;
}

/**
 * Asks a predictor for every key, which answers for the URIs that have it; or for every URI, where it
 * tells queries apart: then a key is present if one of its URIs is.
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

/** Compares the answers of a predictor with what is held. */
export function evaluation(
  predictor: Predictor,
  judged: JudgedLookups,
  facts: PredictorFacts,
): Evaluation {
  const answers = answersOf(predictor, judged.asked);
  const isOnHeldHost = (key: number): boolean => judged.keyIsOnHeldHost[key] === 1;
  const { keys, uris } = answerCounts(predictor, judged, answers, () => true);
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
    heldHosts: answerCounts(predictor, judged, answers, isOnHeldHost),
    recall,
    freshness,
    ...(asOf === undefined ? {} : { asOf }),
    ...(made === undefined ? {} : { made }),
  };
}

/** Counts answers to keys, of which some count, and to the URIs of these keys. */
function answerCounts(
  { queries }: Predictor,
  { asked, keyIsHeld, uriIsHeld }: JudgedLookups,
  answers: Answers,
  counts: (key: number) => boolean,
): KeyAndUriCounts {
  const places = [...asked.uris.values()];
  const byKey = confusion(keyIsHeld, answers.keys, counts);
  const byUri =
    uriIsHeld === undefined
      ? null
      : confusion(uriIsHeld, answers.uris, (uri) => counts(places[uri]));
  // The keys of a map with queries are those of URIs.
  return { keys: queries ? (byUri ?? byKey) : byKey, uris: byUri };
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
  /** See `DatetimeCheck`. */
  readonly code: number;
  readonly captures: number;
}

const MOST_MONTHS = 36;

type Counts = { -readonly [Name in keyof LaterCounts]: number };

/**
 * Counts how much of what was captured after a date a predictor calls present.
 *
 * Holds a few numbers for each month.
 */
export class FreshnessCount {
  readonly #predictor: Predictor;
  readonly #months = new Map<number, Counts>();
  readonly #originals = noCounts();

  constructor(predictor: Predictor) {
    this.#predictor = predictor;
  }

  /**
   * Takes an original that was captured after the date.
   *
   * @param isNew whether it had no capture before
   * @param months in order of time
   */
  add(key: Uint8Array, isNew: boolean, months: readonly MonthCaptures[]): void {
    const isPresent = this.#predictor.says(key);
    const count = (counts: Counts, captures: number, newOriginals: number): void => {
      const present = isPresent ? 1 : 0;
      addCounts(counts, {
        captures,
        capturesPresent: present * captures,
        newOriginals,
        newOriginalsPresent: present * newOriginals,
      });
    };
    count(this.#originals, 1, 0);
    for (const [i, { code, captures }] of months.entries()) {
      const counts = this.#months.get(code) ?? noCounts();
      this.#months.set(code, counts);
      count(counts, captures, isNew && i === 0 ? 1 : 0);
    }
  }

  result(date: string): AsOfFreshness {
    const months = [...this.#months].sort(([a], [b]) => a - b);
    const all = noCounts();
    const periods = new Map<string, Counts>();
    for (const [code, counts] of months) {
      const month = monthName(code);
      const name = months.length > MOST_MONTHS ? month.slice(0, 4) : month;
      const period = periods.get(name) ?? noCounts();
      periods.set(name, period);
      addCounts(period, counts);
      addCounts(all, counts);
    }
    const { captures: originals, capturesPresent: originalsPresent } = this.#originals;
    return {
      date,
      ...all,
      originals,
      originalsPresent,
      periods: [...periods].map(([period, counts]) => ({ period, ...counts })),
    };
  }
}

function noCounts(): Counts {
  return { captures: 0, capturesPresent: 0, newOriginals: 0, newOriginalsPresent: 0 };
}

function addCounts(to: Counts, more: LaterCounts): void {
  to.captures += more.captures;
  to.capturesPresent += more.capturesPresent;
  to.newOriginals += more.newOriginals;
  to.newOriginalsPresent += more.newOriginalsPresent;
}
