import {
  byteString,
  CR,
  DELETE,
  LF,
  MINUS,
  NINE,
  OPEN_BRACE,
  PLUS,
  QUOTE,
  SLASH,
  SPACE,
  STAR,
  TAB,
  ZERO,
} from "../bytes/bytes.ts";
import { MementoMapError, quote } from "../errors.ts";
import { plainHostEnd, plainPathEnd } from "../surt/plain-key.ts";
import { refuseUnpublished } from "../surt/spelling.ts";
import { parseFrequency } from "./frequency.ts";
import { columnEnd, columnsEnd, isBlank, parseColumn, skipBlanks } from "./record.ts";
import { type Fields, isMap, startsHeader } from "./header.ts";

/** The end of the line that contains `at`, without CR and LF. */
export function lineEnd(bytes: Uint8Array, at: number): number {
  let end = at;
  while (end < bytes.length && bytes[end] !== LF) end++;
  return end > at && bytes[end - 1] === CR ? end - 1 : end;
}

/** The start of the line after a line end. */
export function nextLine(bytes: Uint8Array, end: number): number {
  return bytes[end] === CR ? end + 2 : end + 1;
}

/** Whether a key ends at `at`. */
export function isKeyEnd(bytes: Uint8Array, at: number): boolean {
  return at >= bytes.length || bytes[at] <= SPACE;
}

/** The end of the key that starts a line. */
export function keyEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] > SPACE) at++;
  return at;
}

/** The row layout of a map, for lookups. */
export interface RowLayout {
  /** The name of the map, for messages. */
  readonly source: string;
  readonly fields: Fields;
  /** The column of the datetime key; -1 if there is none. */
  readonly datetimeColumn: number;
}

/** A row as `bytes[start, end)`, without its line end. */
export interface RowRange {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/**
 * Checks that a file with these columns is a map.
 *
 * @throws MM_BAD_INPUT if the first key is not `surt` or the first value is not `frequency`.
 */
export function rowLayout(fields: Fields, source: string): RowLayout {
  const [key = ""] = fields.keys;
  const [value = ""] = fields.values;
  if (key !== "surt" || value !== "frequency") {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `not a MementoMap: expected "surt" as the first key and "frequency" as the first value, got ${quote(key)} and ${quote(value)}`,
      { position: { source } },
    );
  }
  return {
    source,
    fields,
    datetimeColumn: fields.keys.indexOf("datetime"),
  };
}

/** The start of a column, numbered from 0; `end` if the row has fewer. */
export function columnStart(bytes: Uint8Array, start: number, end: number, column: number): number {
  let at = start;
  for (let i = 0; i < column; i++) at = skipBlanks(bytes, columnEnd(bytes, at, end), end);
  return at;
}

/** Whether a column is `-`, the sign for a missing value. */
export function isNone(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start === 1 && bytes[start] === MINUS;
}

/**
 * One row of a map, as offsets into its bytes. Reuse one instance for all rows.
 *
 *     com,example)/a 2014 12+/3 {"x": 1}
 *                   ^    ^     ^         keyEnd, tupleEnd, frequencyEnd; `end` is after all
 */
export class Row {
  start = 0;
  keyEnd = 0;
  /** The end of the last key column; equal to `keyEnd` if there is only one. */
  tupleEnd = 0;
  /** The value columns and the JSON block are `[restStart, end)`. */
  restStart = 0;
  frequencyStart = 0;
  frequencyEnd = 0;
  /** The end of the row, without trailing blanks and the line end. */
  end = 0;
  /** The start of the next line. */
  next = 0;
  /**
   * Whether the row is just a key of common characters in canonical form, a space and a frequency, as nearly all are.
   * Such a row is valid.
   */
  isPlain = false;
}

/** The columns of a file. */
type Columns = Pick<Fields, "keys" | "values">;

/**
 * Reads the record line that begins at `start`; returns false for a blank one. Frequencies are located, but not
 * checked:
 * see {@link checkFrequency}.
 *
 * @param limit the end of the bytes. Lines must be complete: only the last may end here, without a line end.
 * @throws MementoMapError without a position: MM_BAD_LINE for binary data or missing columns; MM_BAD_HEADER for a
 * header
 *   after the first row; MM_BAD_KEY for a quoted key in a map, or a key in an unpublished spelling.
 */
export function readRow(
  bytes: Uint8Array,
  start: number,
  limit: number,
  columns: Columns,
  row: Row,
): boolean {
  row.start = start;
  row.isPlain = columns.keys.length === 1 && readPlain(bytes, start, limit, row);
  if (row.isPlain) return true;
  const lineFeed = bytes.indexOf(LF, start);
  let end = lineFeed === -1 || lineFeed > limit ? limit : lineFeed;
  row.next = end + 1;
  if (end > start && bytes[end - 1] === CR) end--;
  checkText(bytes, start, end);
  while (end > start && isBlank(bytes[end - 1])) end--;
  row.end = end;
  if (end === start) return false;
  const first = bytes[start];
  if (startsHeader(first)) {
    throw new MementoMapError(
      "MM_BAD_HEADER",
      `header after the first record: ${excerpt(bytes, start, end)}; headers must come first`,
    );
  }
  const isMapRow = isMap(columns);
  if (first === QUOTE && isMapRow) {
    throw new MementoMapError(
      "MM_BAD_KEY",
      `keys of a map must not be quoted: ${excerpt(bytes, start, end)}`,
    );
  }
  row.keyEnd = columnEnd(bytes, start, end);
  row.tupleEnd = columnsEnd(bytes, start, end, columns.keys.length);
  row.restStart = row.tupleEnd === -1 ? end : skipBlanks(bytes, row.tupleEnd, end);
  row.frequencyStart = row.restStart;
  row.frequencyEnd = columnEnd(bytes, row.restStart, end);
  const isCut = row.tupleEnd === -1 || (columns.values.length > 0 && row.restStart === end);
  if (isCut || row.keyEnd === start || first === OPEN_BRACE) {
    const fault = isBlank(first) ? "the line begins with a blank" : "columns are missing";
    throw new MementoMapError("MM_BAD_LINE", `${fault}: ${excerpt(bytes, start, end)}`);
  }
  if (isMapRow) refuseUnpublished(byteString(bytes, start, row.keyEnd));
  return true;
}

/**
 * Checks the frequency of a row.
 *
 * @throws MementoMapError MM_BAD_FREQUENCY, without a position.
 */
export function checkFrequency(
  bytes: Uint8Array,
  row: Pick<Row, "isPlain" | "frequencyStart" | "frequencyEnd">,
): void {
  const { frequencyStart: start, frequencyEnd: end } = row;
  if (row.isPlain || isNone(bytes, start, end)) return;
  if (plainFrequencyEnd(bytes, start, end) === end) return;
  parseFrequency(parseColumn(lenientDecoder.decode(bytes.subarray(start, end))));
}

const lenientDecoder = new TextDecoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function excerpt(bytes: Uint8Array, start: number, end: number): string {
  return quote(lenientDecoder.decode(bytes.subarray(start, Math.min(end, start + 512))));
}

/** Rejects a line that is not text. */
function checkText(bytes: Uint8Array, start: number, end: number): void {
  let isAscii = true;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if ((byte < SPACE && byte !== TAB) || byte === DELETE) {
      throw looksBinary("it contains a control character", bytes, start, end);
    }
    if (byte > DELETE) isAscii = false;
  }
  if (isAscii) return;
  try {
    strictDecoder.decode(bytes.subarray(start, end));
  } catch (error) {
    throw looksBinary("it is not UTF-8", bytes, start, end, error);
  }
}

function looksBinary(
  fault: string,
  bytes: Uint8Array,
  start: number,
  end: number,
  cause?: unknown,
): MementoMapError {
  const message = `the line looks binary: ${fault}: ${excerpt(bytes, start, end)}`;
  return new MementoMapError("MM_BAD_LINE", message, { cause });
}

const TILDE = 0x7e;
/** Counts with this many digits never exceed 2^53-1. */
const SAFE_DIGITS = 15;

/** Reads a plain row in one pass; returns false if the row needs the full parser. */
function readPlain(bytes: Uint8Array, start: number, limit: number, row: Row): boolean {
  const at = plainKey(bytes, start, limit);
  const next = at === -1 ? -1 : plainRowNext(bytes, at, limit);
  if (next === -1) return false;
  let end = next - 1;
  if (end > at && bytes[end - 1] === CR) end--;
  row.next = next;
  row.keyEnd = at;
  row.tupleEnd = at;
  row.restStart = at + 1;
  row.frequencyStart = at + 1;
  row.frequencyEnd = end;
  row.end = end;
  return true;
}

/** The end of the key of a plain row; -1 if the row needs the full parser. */
export function plainKeyEnd(bytes: Uint8Array, start: number, end: number): number {
  const at = plainKey(bytes, start, end);
  if (at === -1 || at >= end || bytes[at] !== SPACE) return -1;
  return plainFrequencyEnd(bytes, at + 1, end) === end ? at : -1;
}

function plainKey(bytes: Uint8Array, start: number, end: number): number {
  const hostEnd = plainHostEnd(bytes, start, end);
  if (hostEnd === -1 || bytes[hostEnd] === STAR) return hostEnd === -1 ? -1 : hostEnd + 1;
  return plainPathEnd(bytes, hostEnd + 1, hostEnd + 2, end);
}

/** The start of the line after a plain row whose key ends at `keyEnd`; -1 if the row is not plain. */
export function plainRowNext(bytes: Uint8Array, keyEnd: number, limit: number): number {
  if (bytes[keyEnd] !== SPACE || keyEnd >= limit) return -1;
  // Most counts have one digit.
  const isShort =
    keyEnd + 2 <= limit &&
    bytes[keyEnd + 2] === LF &&
    bytes[keyEnd + 1] >= ZERO &&
    bytes[keyEnd + 1] <= NINE;
  const end = isShort ? keyEnd + 2 : plainFrequencyEnd(bytes, keyEnd + 1, limit);
  if (end === -1) return -1;
  if (end >= limit || bytes[end] === LF) return end + 1;
  return bytes[end] === CR && (end + 1 >= limit || bytes[end + 1] === LF) ? end + 2 : -1;
}

/** The end of a frequency in canonical form with a memento count; -1 if there is none. */
export function plainFrequencyEnd(bytes: Uint8Array, start: number, end: number): number {
  const at = countEnd(bytes, start, end);
  return at !== -1 && at < end && bytes[at] === SLASH ? countEnd(bytes, at + 1, end) : at;
}

/** The end of a count with an optional bound; -1 if there is none. */
function countEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] >= ZERO && bytes[at] <= NINE) at++;
  if (at === start || at - start > SAFE_DIGITS) return -1;
  const byte = at < end ? bytes[at] : 0;
  return byte === PLUS || byte === MINUS || byte === TILDE ? at + 1 : at;
}
