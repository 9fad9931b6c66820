import type { KeyAnswer } from "./decide.ts";
import { find, findLoading, type Held, type KeySource, type Verdict } from "./source.ts";
import { coveringKeyText, type Form, MISSING } from "../surt/covering-keys.ts";
import { Key } from "../surt/lookup-key.ts";
import { type DatetimeRange, parseDatetimeKey } from "../ukvs/record.ts";
import type { UkvsHeaders } from "../ukvs/header.ts";
import { MementoMapError, quote } from "../errors.ts";
import { checkSignal } from "../interruption.ts";

/** Options of a lookup. */
export interface LookupOptions {
  /**
   * A moment, 4 to 14 digits of YYYYMMDDhhmmss, or a range: only rows that overlap this time can make the
   * URI present. Default all time.
   */
  readonly at?: Date | string | DatetimeRange | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The result of a lookup. */
export interface Answer {
  readonly present: boolean;
  /** The deciding key; absent if no key of the map covers the URI. */
  readonly key?: string;
  /** The frequency of the deciding key: of its row, or the sum if several rows decide. */
  readonly frequency?: string;
  /** How far above the URI the key is: 0 for the URI itself, 1 for the first wildcard, and so on. */
  readonly distance?: number;
}

/** Finds single keys of a map, without falling back to a wider one. */
export interface KeyFinder {
  readonly headers: UkvsHeaders;
  find(key: string, options?: LookupOptions): Promise<KeyAnswer | undefined>;
}

const decoder = new TextDecoder();
/** Reused by synchronous lookups in all maps. */
const KEY = new Key();
const VERDICT: Verdict = { present: false, bytes: new Uint8Array(0), start: 0, end: 0 };

/**
 * A map that answers whether an archive may hold a URI.
 *
 * The most specific key that covers the URI decides (see `lookupKeys`). The URI is absent if the memento
 * count of that key is 0, or if there is no such key; the total `*` is never consulted. If rows of one key
 * differ in further key columns (datetime), one present row is enough. If the rows of a key do not decide
 * for the requested time, the next wider key is tried.
 *
 * A page of a map throws MM_PAGE if a row of another page may decide.
 */
export abstract class SourceLookup implements KeySource {
  abstract readonly headers: UkvsHeaders;
  abstract readonly readsQueries: boolean;
  abstract open(key: Key, period?: DatetimeRange, held?: Held): number;
  abstract ask(key: Key, form: Form, index: number): number;
  abstract answer(key: Key, hit: number, into: Verdict): void;

  /** Looks a URI up, through its canonical SURT. */
  async lookup(uri: string, options?: LookupOptions): Promise<Answer> {
    return this.lookupNow(uri, options);
  }

  /** Looks up a SURT, such as the first column of a CDX file. */
  async lookupSurt(surt: string, options?: LookupOptions): Promise<Answer> {
    return this.lookupNow(surt, options, true);
  }

  /** Looks up a URI or SURT: synchronously if nothing must be loaded, else with a promise. */
  lookupNow(
    input: string,
    { at, signal }: LookupOptions = {},
    isSurt: boolean = false,
  ): Answer | Promise<Answer> {
    checkSignal(signal);
    const period = lookupPeriod(at);
    if (isSurt) KEY.ofSurtText(input, this.readsQueries);
    else KEY.ofUriText(input, this.readsQueries);
    const hit = find(this, KEY, period);
    if (hit !== MISSING) return answerOf(this, KEY, hit);
    return findLoading(this, KEY, { period, signal }, (key, found) => answerOf(this, key, found));
  }

  /** Looks a URI up synchronously. The map must be in memory. */
  lookupSync(uri: string, options?: LookupOptions): Answer {
    return atOnce(this.lookupNow(uri, options));
  }

  /** As `lookupSync`, for a SURT. */
  lookupSurtSync(surt: string, options?: LookupOptions): Answer {
    return atOnce(this.lookupNow(surt, options, true));
  }
}

function atOnce(answer: Answer | Promise<Answer>): Answer {
  if (answer instanceof Promise) throw new Error("all of the map must be in memory");
  return answer;
}

/** Whether the SURT `bytes[start, end)` is present in a map that is in memory. */
export function hasSurt(
  source: KeySource,
  bytes: Uint8Array,
  start: number,
  end: number,
  period?: DatetimeRange,
): boolean {
  const key = KEY.ofSurt(bytes, start, end, source.readsQueries);
  const hit = find(source, key, period);
  if (hit < 0) return false;
  source.answer(key, hit, VERDICT);
  return VERDICT.present;
}

/** The answer for the result of `find`. */
function answerOf(source: KeySource, key: Key, hit: number): Answer {
  if (hit < 0) return { present: false };
  source.answer(key, hit, VERDICT);
  const { present, bytes, start, end } = VERDICT;
  return {
    present,
    key: coveringKeyText(key),
    frequency: decoder.decode(bytes.subarray(start, end)),
    distance: key.distance,
  };
}

/** The default line of an answer: input, present or absent, key, frequency, distance. */
export function answerLine(input: string, answer: Answer): string {
  const state = answer.present ? "present" : "absent";
  const { key = "-", frequency = "-", distance = "-" } = answer;
  return `${input.replaceAll("\t", "%09")}\t${state}\t${key}\t${frequency}\t${distance}`;
}

/** The same as a line of JSON; unknown values are null. */
export function answerJson(input: string, answer: Answer, more: object = {}): string {
  const { present, key = null, frequency = null, distance = null } = answer;
  return JSON.stringify({ input, present, key, frequency, distance, ...more });
}

/**
 * Converts the option `at` to a period: all times that begin with its 4 to 14 digits.
 *
 * @throws MM_BAD_KEY if it is not a time.
 */
export function lookupPeriod(at: LookupOptions["at"]): DatetimeRange | undefined {
  if (at instanceof Date) return parseDatetimeKey(secondOf(at));
  if (typeof at !== "string") return at;
  const period = parseDatetimeKey(at);
  if (period.from === at) return period;
  throw new MementoMapError(
    "MM_BAD_KEY",
    `${quote(at)} is not a valid time: expected 4 to 14 digits of YYYYMMDDhhmmss`,
  );
}

/** The second of a moment, in 14 digits. */
function secondOf(moment: Date): string {
  const time = moment.getTime();
  if (time >= FIRST_SECOND && time < SECOND_AFTER_LAST) {
    return moment.toISOString().replaceAll(/\D/g, "").slice(0, 14);
  }
  throw new MementoMapError("MM_BAD_KEY", "the lookup date must be in the years 1 to 9999");
}

const FIRST_SECOND = Date.parse("0001-01-01T00:00:00Z");
const SECOND_AFTER_LAST = Date.UTC(10_000, 0, 1);
