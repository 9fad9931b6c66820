import { type KeyOptions, lookupKeys } from "../../surt/key.ts";
import {
  contains,
  type DatetimeRange,
  overlap,
  parseDatetimeKey,
  parseRecord,
  type UkvsRecord,
} from "../../ukvs/record.ts";
import { isJsonObject, type UkvsHeaders } from "../../ukvs/header.ts";
import { olderSpellings, type RowLayout, type RowRange } from "./map-row.ts";
import { isMementoMapError, MementoMapError, quote } from "../../errors.ts";
import {
  addFrequencies,
  formatFrequency,
  type Frequency,
  isPresent,
  parseFrequency,
} from "../../ukvs/frequency.ts";

/** What a lookup may be told besides the URI. */
export interface LookupOptions {
  /**
   * A moment, 4 to 14 digits of YYYYMMDDhhmmss, or a range: only rows that overlap this time may make
   * the URI present. Default all time.
   */
  readonly at?: Date | string | DatetimeRange | undefined;
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
  /** The first and the last year that the host has something of, where a packed map knows. */
  readonly years?: readonly [first: number, last: number];
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
  readonly headers: UkvsHeaders;
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
  options: KeyOptions,
  find: (spelling: string) => Promise<KeyAnswer | undefined>,
): Promise<KeyAnswer | undefined> {
  let undecided: KeyAnswer | undefined;
  for (const spelling of [key, ...olderSpellings(key, options)]) {
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
  for (const { key, distance } of lookupKeys(surt, map.headers.fields)) {
    const found = await map.find(key, options);
    if (found?.decides === true) return answerAt(found, distance);
  }
  return { present: false };
}

/** The answer of a key that decides. */
export function answerAt({ present, key, frequency }: KeyAnswer, distance: number): Answer {
  return { present, key, ...(frequency === undefined ? {} : { frequency }), distance };
}

/** The default line of an answer: input, present or absent, key, frequency, distance. */
export function answerLine(input: string, answer: Answer): string {
  const state = answer.present ? "present" : "absent";
  const { key = "-", frequency = "-", distance = "-" } = answer;
  return `${input.replaceAll("\t", "%09")}\t${state}\t${key}\t${frequency}\t${distance}`;
}

/** The same as a line of JSON; what is not known is null. */
export function answerJson(input: string, answer: Answer): string {
  const { present, key = null, frequency = null, distance = null, years } = answer;
  return JSON.stringify({ input, present, key, frequency, distance, years });
}

const UNKNOWN = "/";
const ALL_TIME: DatetimeRange = {};
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// How wide a statement is. The narrower ones are asked first: a total speaks only where they do not
// decide.
/** A period of its own. */
const PART = 0;
/** The frequency of a row for a period that its JSON block divides further. */
const TOTAL_OF_PART = 1;
/** All time. */
const TOTAL = 2;

/** What a key says of a period: by a row, by a member of a JSON block, or by the row that has one. */
interface Statement {
  readonly range: DatetimeRange;
  readonly width: number;
  /** As written. */
  readonly text: string;
  readonly frequency: Frequency;
  /** A member of the JSON block of a row that is present itself, and counts it. */
  readonly isCountedElsewhere: boolean;
}

/**
 * What the rows of one key say together of a period, default all time; there is at least one row.
 *
 * Of the statements that overlap the period, one that is present makes the key present. If all are
 * void, and one contains the period, the key is absent. Otherwise the next wider statements of the key
 * are asked, and at last nothing is decided: a wider key may speak.
 *
 * The frequency is the sum of the statements that decided. Without a period it is that of the row
 * for all time, where that is present.
 *
 * @throws MM_BAD_KEY when a datetime key is not a time, MM_BAD_FREQUENCY, MM_BAD_LINE.
 */
export function answerFromRows(
  rows: readonly RowRange[],
  layout: RowLayout,
  period?: DatetimeRange,
): KeyAnswer {
  try {
    const records = rows.map(({ bytes, start, end }) =>
      parseRecord(textOf(bytes.subarray(start, end)), layout.fields),
    );
    const key = records[0]?.keys[0] ?? "";
    return answerOf(
      key,
      records.flatMap((record) => statementsOf(record, layout)),
      period,
    );
  } catch (error) {
    throw isMementoMapError(error) ? error.at({ source: layout.source }) : error;
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    throw new MementoMapError("MM_BAD_LINE", "the line looks binary: it is not UTF-8", {
      cause: error,
    });
  }
}

function answerOf(
  key: string,
  statements: readonly Statement[],
  period: DatetimeRange | undefined,
): KeyAnswer {
  const asked = period ?? ALL_TIME;
  for (const width of [PART, TOTAL_OF_PART, TOTAL]) {
    const speaking = statements.filter(
      (statement) => statement.width === width && overlap(statement.range, asked),
    );
    if (speaking.some(({ frequency }) => isPresent(frequency))) {
      const frequency = period === undefined ? frequencyOfAllTime(statements) : sumOf(speaking);
      return { present: true, decides: true, key, frequency };
    }
    if (speaking.some(({ range }) => contains(range, asked))) {
      return { present: false, decides: true, key, frequency: sumOf(speaking) };
    }
  }
  return { present: false, decides: false, key };
}

/** The frequency of a key that is present. */
function frequencyOfAllTime(statements: readonly Statement[]): string {
  const totals = statements.filter(({ width }) => width === TOTAL);
  if (totals.some(({ frequency }) => isPresent(frequency))) return sumOf(totals);
  return sumOf(
    statements.filter(({ width, isCountedElsewhere }) => {
      return width !== TOTAL && !isCountedElsewhere;
    }),
  );
}

/** The sum of frequencies; a single one stays as it is written. */
function sumOf(statements: readonly Statement[]): string {
  const [first] = statements;
  return statements.length === 1 && first !== undefined
    ? first.text
    : formatFrequency(statements.map(({ frequency }) => frequency).reduce(addFrequencies));
}

function statementsOf(record: UkvsRecord, layout: RowLayout): Statement[] {
  const [text = UNKNOWN] = record.values;
  const range = parseDatetimeKey(datetimeOf(record, layout));
  const frequency = parseFrequency(text);
  const parts = record.json?.["datetime"];
  if (!isJsonObject(parts)) {
    const width = isAllTime(range) ? TOTAL : PART;
    return [{ range, width, text, frequency, isCountedElsewhere: false }];
  }
  const isCounted = isPresent(frequency);
  const statements = Object.entries(parts).map(([datetime, value]): Statement => {
    const part = parseDatetimeKey(datetime);
    const partText = frequencyText(value);
    return {
      range: part,
      width: isAllTime(part) ? TOTAL : PART,
      text: partText,
      frequency: parseFrequency(partText),
      isCountedElsewhere: isCounted,
    };
  });
  const width = isAllTime(range) ? TOTAL : TOTAL_OF_PART;
  statements.push({ range, width, text, frequency, isCountedElsewhere: false });
  return statements;
}

function datetimeOf({ keys }: UkvsRecord, layout: RowLayout): string {
  const datetime = layout.datetimeColumn < 0 ? ":" : (keys[layout.datetimeColumn] ?? ":");
  return datetime === "-" ? ":" : datetime;
}

function isAllTime({ from, until }: DatetimeRange): boolean {
  return from === undefined && until === undefined;
}

function frequencyText(part: unknown): string {
  if (typeof part === "string" || typeof part === "number") return String(part);
  throw new MementoMapError(
    "MM_BAD_FREQUENCY",
    `a datetime in the JSON block has ${quote(JSON.stringify(part) ?? "nothing")} in place of a frequency`,
  );
}

/**
 * The period that a time to look up at stands for: all that begins with its 4 to 14 digits.
 *
 * @throws MM_BAD_KEY when it is not a time.
 */
export function lookupPeriod(at: LookupOptions["at"]): DatetimeRange | undefined {
  if (at instanceof Date) return parseDatetimeKey(secondOf(at));
  if (typeof at !== "string") return at;
  const period = parseDatetimeKey(at);
  if (period.from === at) return period;
  throw new MementoMapError(
    "MM_BAD_KEY",
    `${quote(at)} is not a time to look up: give 4 to 14 digits of YYYYMMDDhhmmss`,
  );
}

/** The second of a moment, in 14 digits. */
function secondOf(moment: Date): string {
  const time = moment.getTime();
  if (time >= FIRST_SECOND && time < SECOND_AFTER_LAST) {
    return moment.toISOString().replaceAll(/\D/g, "").slice(0, 14);
  }
  throw new MementoMapError(
    "MM_BAD_KEY",
    "the date to look up at is not one of the years 1 to 9999",
  );
}

const FIRST_SECOND = Date.parse("0001-01-01T00:00:00Z");
const SECOND_AFTER_LAST = Date.UTC(10_000, 0, 1);
