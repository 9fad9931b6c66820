import { formatAmount } from "../format.ts";
import { MementoMapError, type Position, quote } from "../errors.ts";
import { type Fields, formatJson, isJsonObject, parseRelaxedJson } from "./header.ts";
import { BACKSLASH, compareRanges, copyRange, QUOTE, SPACE, TAB } from "../bytes/bytes.ts";

/** One line of a file: key columns, value columns, and an optional JSON block. */
export interface UkvsRecord {
  /** One per key field of the file. An empty key is `-`, or `:` for a datetime. */
  readonly keys: readonly string[];
  /** One per value field of the file; `undefined` for a missing value, written `-`. */
  readonly values: readonly (string | undefined)[];
  readonly json?: Readonly<Record<string, unknown>>;
}

const NONE = "-";

/** A quoted column, which is a JSON string, or one without blanks. */
const COLUMN = /"[^"\\]*(?:\\.[^"\\]*)*"(?=[ \t]|$)|[^ \t"][^ \t]*/y;
const BLANKS = /[ \t]*/y;

/** C0 controls except for the tab, and DEL; not the C1 controls, which are not ASCII. */
const CONTROL = /[^\P{Cc}\t\u0080-\u009F]/u;

/** Columns that must be quoted. */
const NEEDS_QUOTES = /^$|^["{]|[^\P{Cc}\u0080-\u009F]| |\p{Surrogate}/u;
/** First columns that must be quoted: they would be read as a header or a byte order mark. */
const NEEDS_QUOTES_FIRST = /^[!@\uFEFF]/;

/**
 * Parses a record.
 *
 * Columns are separated by any run of spaces and tabs. A quoted column is a JSON string. The JSON
 * block may be relaxed.
 *
 * @throws MementoMapError `MM_BAD_LINE` for too few or too many columns, broken quotes or JSON, and
 *   control characters.
 */
export function parseRecord(line: string, fields: Fields): UkvsRecord {
  if (CONTROL.test(line)) {
    throw badLine(`the line looks binary: it contains a control character: ${quote(line)}`);
  }
  if (/^[ \t]/.test(line)) throw badLine(`the line begins with a blank: ${quote(line)}`);
  const expected = fields.keys.length + fields.values.length;
  const columns: (string | undefined)[] = [];
  let at = 0;
  while (columns.length < expected && at < line.length && line[at] !== "{") {
    COLUMN.lastIndex = at;
    const text = COLUMN.exec(line)?.[0];
    if (text === undefined) throw badLine(`unterminated quoted column: ${quote(line)}`);
    const isValue = columns.length >= fields.keys.length;
    columns.push(isValue && text === NONE ? undefined : parseColumn(text));
    at = afterBlanks(line, at + text.length);
  }
  if (columns.length < expected) {
    const names = [...fields.keys, ...fields.values].join(", ");
    throw badLine(`expected ${expected} columns (${names}), got ${columns.length}: ${quote(line)}`);
  }
  // Only values can be undefined, and the number of columns was checked above.
  const keys = columns.slice(0, fields.keys.length) as string[];
  const values = columns.slice(fields.keys.length);
  return at === line.length ? { keys, values } : { keys, values, json: jsonBlock(line, at) };
}

/**
 * Writes a record, with one space between columns, quotes only where needed, and strict JSON.
 *
 * @throws MementoMapError `MM_BAD_LINE` if the columns do not match those of the file, `MM_BAD_INPUT` for a JSON
 * block that
 *   JSON cannot express.
 */
export function formatRecord(record: UkvsRecord, fields: Fields): string {
  const { keys, values, json } = record;
  if (keys.length !== fields.keys.length || values.length !== fields.values.length) {
    throw badLine(
      `expected ${formatAmount(fields.keys.length, "key")} and ${formatAmount(fields.values.length, "value")}, got ${keys.length} and ${values.length} for ${quote(keys.join(" "))}`,
    );
  }
  const [first = "", ...others] = keys;
  const columns = [
    NEEDS_QUOTES_FIRST.test(first) ? formatJson(first) : formatColumn(first),
    ...others.map(formatColumn),
    ...values.map(formatValue),
  ];
  if (json !== undefined) columns.push(formatJson(json));
  return columns.join(" ");
}

function formatValue(value: string | undefined): string {
  if (value === undefined) return NONE;
  return value === NONE ? formatJson(value) : formatColumn(value);
}

function formatColumn(text: string): string {
  return NEEDS_QUOTES.test(text) ? formatJson(text) : text;
}

/**
 * The text of a column, quoted or not.
 *
 * @throws MementoMapError `MM_BAD_LINE` for a quoted column that is not a JSON string.
 */
export function parseColumn(text: string): string {
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch (error) {
    throw badLine(`column ${quote(text)} is not a JSON string`, error);
  }
}

function jsonBlock(line: string, at: number): Record<string, unknown> {
  const text = line.slice(at);
  if (!text.startsWith("{")) {
    throw badLine(`more columns than the file has fields, from ${quote(text)} on`);
  }
  let json: unknown;
  try {
    json = parseRelaxedJson(text);
  } catch (error) {
    throw badLine(`the JSON block is invalid: ${quote(text)}`, error);
  }
  if (!isJsonObject(json)) throw badLine(`the JSON block is not an object: ${quote(text)}`);
  return json;
}

function afterBlanks(line: string, at: number): number {
  BLANKS.lastIndex = at;
  BLANKS.exec(line);
  return BLANKS.lastIndex;
}

function badLine(message: string, cause?: unknown): MementoMapError {
  return new MementoMapError("MM_BAD_LINE", message, { cause });
}

/** Whether a byte separates columns. */
export function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}

/** The offset of the first non-blank byte at or after `at`, or `end`. */
export function skipBlanks(bytes: Uint8Array, at: number, end: number): number {
  let next = at;
  while (next < end && isBlank(bytes[next])) next++;
  return next;
}

/**
 * The offset after the column that starts at `start`; a quoted column may contain blanks.
 *
 * An unterminated quoted column extends to the end of the line, and is then not a JSON string.
 */
export function columnEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  if (bytes[start] === QUOTE) {
    at++;
    while (at < end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    at = Math.min(at, end);
  }
  while (at < end && !isBlank(bytes[at])) at++;
  return at;
}

/** The offset after the last of `count` columns, or -1 if there are fewer. */
export function columnsEnd(bytes: Uint8Array, start: number, end: number, count: number): number {
  let at = start;
  for (let column = 0; column < count; column++) {
    if (column > 0) at = skipBlanks(bytes, at, end);
    if (at >= end) return -1;
    at = columnEnd(bytes, at, end);
  }
  return at;
}

/**
 * Compares key columns one by one, as written, by unsigned bytes. The number of blanks between them is ignored.
 */
export function compareColumns(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  let left = aStart;
  let right = bStart;
  while (left < aEnd && right < bEnd) {
    const leftEnd = columnEnd(a, left, aEnd);
    const rightEnd = columnEnd(b, right, bEnd);
    const order = compareRanges(a, left, leftEnd, b, right, rightEnd);
    if (order !== 0) return order;
    left = skipBlanks(a, leftEnd, aEnd);
    right = skipBlanks(b, rightEnd, bEnd);
  }
  return aEnd - left - (bEnd - right);
}

const DECODER = new TextDecoder();

/** A copy of the last key tuple, which outlives its input buffer. */
export class LastKey {
  readonly #compare: typeof compareRanges;
  #last = new Uint8Array(256);
  #lastLength = 0;
  #isFirst = true;

  constructor(keyCount: number) {
    this.#compare = keyCount === 1 ? compareRanges : compareColumns;
  }

  /** Compares the last key tuple with the next one; negative if there is none yet. */
  compareTo(bytes: Uint8Array, start: number, end: number): number {
    if (this.#isFirst) return -1;
    return this.#compare(this.#last, 0, this.#lastLength, bytes, start, end);
  }

  /** Copies a key tuple as the last one. */
  remember(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (length > this.#last.length) this.#last = new Uint8Array(length * 2);
    copyRange(bytes, start, end, this.#last, 0);
    this.#lastLength = length;
    this.#isFirst = false;
  }

  /** The last key tuple as text, for messages. */
  text(): string {
    return DECODER.decode(this.#last.subarray(0, this.#lastLength));
  }
}

/**
 * The error for a row whose key does not sort after that of the previous row.
 *
 * @param order 0 if the keys are equal
 */
export function notSorted(
  order: number,
  key: string,
  previous: string,
  position?: Position,
): MementoMapError {
  return new MementoMapError(
    "MM_NOT_SORTED",
    order === 0
      ? `key ${quote(key)} occurs twice; "mementomap merge" adds such rows up`
      : `key ${quote(key)} comes after ${quote(previous)}; "mementomap merge" sorts a map`,
    { position },
  );
}

/**
 * The period of a datetime key, both ends inclusive. Each end is a prefix of `YYYYMMDDhhmmss` and represents all
 * times that
 * begin with it; a missing end is open.
 */
export interface DatetimeRange {
  readonly from?: string;
  readonly until?: string;
}

const PREFIX = /^\d{4,14}$/;
const MAX_LENGTH = 14;

/**
 * Parses a datetime key: a prefix of 4 to 14 digits, or a range `a:b`, `a:`, `:b`, `:`.
 *
 * @throws MementoMapError `MM_BAD_KEY` for other text, nonexistent times, and ranges that end before they begin.
 */
export function parseDatetimeKey(text: string): DatetimeRange {
  const parts = text.split(":");
  if (parts.length > 2) throw badKey(text, 'more than one ":"');
  const [first = "", last = first] = parts;
  if (parts.length === 1 && first === "") throw badKey(text, "it is empty");
  for (const prefix of [first, last]) if (prefix !== "") checkPrefix(prefix, text);
  if (first !== "" && last !== "" && first.slice(0, last.length) > last) {
    throw badKey(text, "it ends before it begins");
  }
  return {
    ...(first === "" ? {} : { from: first }),
    ...(last === "" ? {} : { until: last }),
  };
}

/** Whether two ranges overlap. */
export function overlap(a: DatetimeRange, b: DatetimeRange): boolean {
  return firstTime(a) <= lastTime(b) && firstTime(b) <= lastTime(a);
}

/** Whether a range contains another. */
export function contains(outer: DatetimeRange, inner: DatetimeRange): boolean {
  return firstTime(outer) <= firstTime(inner) && lastTime(inner) <= lastTime(outer);
}

/** Fourteen digits, padded with 0. */
function firstTime({ from = "" }: DatetimeRange): string {
  return from.padEnd(MAX_LENGTH, "0");
}

/** Fourteen digits, padded with 9. */
function lastTime({ until = "" }: DatetimeRange): string {
  return until.padEnd(MAX_LENGTH, "9");
}

/** Rejects digits that are not a prefix of any time: there is no month 13, and none begins with 2. */
function checkPrefix(prefix: string, key: string): void {
  if (!PREFIX.test(prefix))
    throw badKey(key, "expected 4 to 14 digits, a prefix of YYYYMMDDhhmmss");
  const year = Number(prefix.slice(0, 4));
  const month = Number(prefix.slice(4, 6));
  checkPart(key, "month", prefix.slice(4, 6), 1, 12);
  checkPart(key, "day", prefix.slice(6, 8), 1, new Date(Date.UTC(year, month, 0)).getUTCDate());
  checkPart(key, "hour", prefix.slice(8, 10), 0, 23);
  checkPart(key, "minute", prefix.slice(10, 12), 0, 59);
  checkPart(key, "second", prefix.slice(12, 14), 0, 59);
}

function checkPart(key: string, name: string, digits: string, min: number, max: number): void {
  if (digits === "") return;
  // A single digit is the first of two and represents all numbers that begin with it.
  const missing = 10 ** (2 - digits.length);
  const low = Number(digits) * missing;
  if (low + missing - 1 < min || low > max) throw badKey(key, `there is no ${name} ${digits}`);
}

function badKey(key: string, fault: string): MementoMapError {
  return new MementoMapError("MM_BAD_KEY", `datetime key ${quote(key)}: ${fault}`);
}
