import {
  CLOSE_PAREN,
  COMMA,
  CR,
  DELETE,
  LF,
  MINUS,
  NINE,
  OPEN_BRACE,
  PLUS,
  QUESTION,
  QUOTE,
  SLASH,
  SPACE,
  STAR,
  ZERO,
} from "../../bytes/bytes.ts";
import { MementoMapError, type Position, quote } from "../../errors.ts";
import { columnEnd, skipBlanks } from "../../ukvs/record.ts";
import { ANY_QUERY, type KeyOptions, olderKeys } from "../../surt/key.ts";
import { type Fields, startsHeader } from "../../ukvs/header.ts";

/** The end of the line that `at` is in, without CR and LF. */
export function lineEnd(bytes: Uint8Array, at: number): number {
  let end = at;
  while (end < bytes.length && bytes[end] !== LF) end++;
  return end > at && bytes[end - 1] === CR ? end - 1 : end;
}

/** The start of the line behind a line end. */
export function nextLine(bytes: Uint8Array, end: number): number {
  return bytes[end] === CR ? end + 2 : end + 1;
}

/** Whether a key cannot go on at `at`. */
export function isKeyEnd(bytes: Uint8Array, at: number): boolean {
  return at >= bytes.length || bytes[at] <= SPACE;
}

/** The end of the key that starts a line. */
export function keyEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] > SPACE) at++;
  return at;
}

/** What lookup must know of a map to read its rows. */
export interface RowLayout {
  /** The name of the map, for messages. */
  readonly source: string;
  readonly fields: Fields;
  /** The column of the frequency, counted from 0; the key is column 0. */
  readonly frequencyColumn: number;
  /** The column of the datetime key; -1 when rows have none. */
  readonly datetimeColumn: number;
}

/** A row as `bytes[start, end)`, without its line end. */
export interface RowRange {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/**
 * Checks that a file with these columns can be looked up as a map.
 *
 * @throws MM_BAD_INPUT when the first key is not `surt` or the first value is not `frequency`.
 */
export function rowLayout(fields: Fields, source: string): RowLayout {
  const [key = ""] = fields.keys;
  const [value = ""] = fields.values;
  if (key !== "surt" || value !== "frequency") {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `not a MementoMap: its first key is ${quote(key)} and its first value ${quote(value)}, where "surt" and "frequency" are expected`,
      { position: { source } },
    );
  }
  return {
    source,
    fields,
    frequencyColumn: fields.keys.length,
    datetimeColumn: fields.keys.indexOf("datetime"),
  };
}

/** The start of a column, counted from 0; `end` when the row has fewer. */
export function columnStart(bytes: Uint8Array, start: number, end: number, column: number): number {
  let at = start;
  for (let i = 0; i < column; i++) at = skipBlanks(bytes, columnEnd(bytes, at, end), end);
  return at;
}

/** Whether a column holds the sign for "none", `-`. */
export function isNone(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start === 1 && bytes[start] === MINUS;
}

/** A key as older maps may write it instead: `com,cnn)` for `com,cnn)/`, and as `olderKeys` has it. */
export function olderSpellings(key: string, options: KeyOptions = {}): string[] {
  if (options.queries === true && key.endsWith(ANY_QUERY)) {
    return olderSpellings(key.slice(0, -ANY_QUERY.length)).map((older) => older + ANY_QUERY);
  }
  return [key, ...olderKeys(key, options)]
    .flatMap((spelling) => [spelling, bareHome(spelling, options)])
    .filter((spelling) => spelling !== undefined)
    .slice(1);
}

/**
 * `com,cnn)`, as older writers wrote the home page `com,cnn)/`, and `com,cnn)?x=1` in a map with queries; undefined for
 * other keys.
 */
function bareHome(key: string, { queries = false }: KeyOptions): string | undefined {
  const query = queries ? key.indexOf("?") : -1;
  if (query >= 0) {
    const home = bareHome(key.slice(0, query), {});
    return home === undefined ? undefined : home + key.slice(query);
  }
  return key.endsWith(")/") && !key.endsWith(",*)/") && key.indexOf(")") === key.length - 2
    ? key.slice(0, -1)
    : undefined;
}

/**
 * Refuses a line that cannot be a row of a map by its first byte.
 *
 * @throws MM_BAD_HEADER for a header after the first row, MM_BAD_KEY for a quoted key, MM_BAD_LINE for
 *   JSON in place of a key.
 */
export function checkRowStart(bytes: Uint8Array, start: number, position: Position): void {
  const byte = bytes[start];
  if (startsHeader(byte)) {
    throw new MementoMapError(
      "MM_BAD_HEADER",
      "a header comes after the first row; headers must come first",
      {
        position,
      },
    );
  }
  if (byte === QUOTE) {
    throw new MementoMapError("MM_BAD_KEY", "the key is quoted; keys of a map never are", {
      position,
    });
  }
  if (byte === OPEN_BRACE) {
    throw new MementoMapError("MM_BAD_LINE", "the line has a JSON block in place of a key", {
      position,
    });
  }
}

const TILDE = 0x7e;
/** No count with this many digits is beyond 2^53-1. */
const SAFE_DIGITS = 15;

/** What needs no closer look in a label of a host, and in a path. */
const HOST = bytesOf((byte) => /[a-z\d_.:-]/.test(String.fromCharCode(byte)));
const PATH = bytesOf(
  (byte) => byte > SPACE && byte < DELETE && byte !== QUESTION && byte !== STAR && byte !== QUOTE,
);

/**
 * The end of the key of a row that is as nearly all rows are: a key of common characters, a space and
 * a frequency. Such a row has no fault in itself. -1 where a closer look is needed.
 *
 * One pass over `bytes[start, end)`; makes nothing.
 */
export function plainKeyEnd(bytes: Uint8Array, start: number, end: number): number {
  let labelStart = start;
  let at = start;
  for (;;) {
    while (at < end && HOST[bytes[at]] === 1) at++;
    if (at === labelStart || at >= end) return -1;
    if (bytes[at] === CLOSE_PAREN) break;
    if (bytes[at] !== COMMA) return -1;
    at++;
    labelStart = at;
    if (bytes[at] === STAR) return withFrequency(bytes, at + 1, end);
  }
  const pathStart = at + 1;
  if (pathStart >= end || bytes[pathStart] !== SLASH) return -1;
  at = pathStart + 1;
  while (at < end && PATH[bytes[at]] === 1) at++;
  if (bytes[at] === STAR) return bytes[at - 1] === SLASH ? withFrequency(bytes, at + 1, end) : -1;
  if (bytes[at - 1] === SLASH && at > pathStart + 1) return -1;
  return withFrequency(bytes, at, end);
}

/** The end of the key, if a space and a frequency follow. */
function withFrequency(bytes: Uint8Array, keyEnd: number, end: number): number {
  if (keyEnd >= end || bytes[keyEnd] !== SPACE) return -1;
  return plainFrequencyEnd(bytes, keyEnd + 1, end) === end ? keyEnd : -1;
}

/** The end of a frequency with a count of mementos, as writers have it; -1 where there is none. */
export function plainFrequencyEnd(bytes: Uint8Array, start: number, end: number): number {
  const at = countEnd(bytes, start, end);
  return at !== -1 && at < end && bytes[at] === SLASH ? countEnd(bytes, at + 1, end) : at;
}

/** The end of a count of some digits and perhaps a bound; -1 where there is none. */
function countEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] >= ZERO && bytes[at] <= NINE) at++;
  if (at === start || at - start > SAFE_DIGITS) return -1;
  const byte = at < end ? bytes[at] : 0;
  return byte === PLUS || byte === MINUS || byte === TILDE ? at + 1 : at;
}

function bytesOf(isMember: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (isMember(byte) ? 1 : 0));
}
