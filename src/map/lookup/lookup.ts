import { lookupKeys } from "../../surt/key.ts";
import type { DatetimeRange } from "../../ukvs/record.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import { olderSpellings } from "./map-row.ts";

/** What a lookup may be told besides the URI. */
export interface LookupOptions {
  /**
   * 4 to 14 digits of YYYYMMDDhhmmss, or a range: only rows that overlap this time may make the URI
   * present. Default all time.
   */
  readonly at?: string | DatetimeRange | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a map says about one URI. */
export interface Answer {
  readonly present: boolean;
  /** The deciding key as the map writes it; none when no key of the map covers the URI. */
  readonly key?: string;
  /** The frequency of the deciding key: its row's own, or the sum when several rows decide. */
  readonly frequency?: string;
  /** How far above the URI the key is: 0 for the URI itself, 1 for the first wildcard, and so on. */
  readonly distance?: number;
}

/** What a map says about one key, wildcards included. */
export interface KeyAnswer {
  readonly present: boolean;
  /**
   * Whether the rows of the key settle the question. If not, they say nothing of the time asked for,
   * or have voids for a part of it only, and the next wider key is to be asked.
   */
  readonly decides: boolean;
  /** The key as the map writes it: `com,cnn)` may answer for `com,cnn)/`. */
  readonly key: string;
  /** None where the rows do not decide. */
  readonly frequency?: string;
}

/** Finds single keys of a map, without falling back to a wider one. */
export interface KeyFinder {
  find(key: string, options?: LookupOptions): Promise<KeyAnswer | undefined>;
}

/**
 * A map that answers whether an archive may hold a URI.
 *
 * The most specific key of the map that covers the URI decides (see `lookupKeys`). A memento count
 * of 0 means absent, and so does a map without such a key; the total `*` is never consulted. Of rows
 * of one key that differ in further key columns (datetime) one present row is enough. Where the rows of a key
 * do not decide for the time asked for, the next wider key is asked.
 *
 * A page of a map throws MM_PAGE where a row of another page may decide.
 */
export interface MapLookup extends KeyFinder {
  readonly headers: UkvsHeaders;
  /** Looks a URI up, through its canonical SURT. */
  lookup(uri: string, options?: LookupOptions): Promise<Answer>;
  /** Looks up what is a SURT already, such as the first column of a CDX file. */
  lookupSurt(surt: string, options?: LookupOptions): Promise<Answer>;
}

/**
 * Finds a key by its spellings, those of older maps after the present one; `find` finds exactly one.
 * The first whose rows decide answers.
 */
export async function findBySpelling(
  key: string,
  find: (spelling: string) => Promise<KeyAnswer | undefined>,
): Promise<KeyAnswer | undefined> {
  let undecided: KeyAnswer | undefined;
  for (const spelling of [key, ...olderSpellings(key)]) {
    const answer = await find(spelling);
    if (answer?.decides === true) return answer;
    undecided ??= answer;
  }
  return undecided;
}

/** Looks a SURT up key by key, where single keys can be found. */
export async function lookupByKeys(
  map: KeyFinder,
  surt: string,
  options: LookupOptions,
): Promise<Answer> {
  for (const { key, distance } of lookupKeys(surt)) {
    const found = await map.find(key, options);
    if (found?.decides === true) return answerAt(found, distance);
  }
  return { present: false };
}

/** The answer of a key that decides. */
export function answerAt({ present, key, frequency }: KeyAnswer, distance: number): Answer {
  return { present, key, ...(frequency === undefined ? {} : { frequency }), distance };
}
