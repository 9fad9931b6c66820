import {
  copyRange,
  LF,
  PLUS,
  QUESTION,
  SLASH,
  SPACE,
  withRoom,
  writeDecimal,
} from "../bytes/bytes.ts";
import { type Capture, timePrefixEnd } from "../input/capture.ts";
import { keyEndInSurt } from "../surt/plain-key.ts";
import { type KeyOptions, surtKeyBytes } from "../surt/key.ts";
import { MementoMapError, quote } from "../errors.ts";
import { type Header, UkvsHeaders } from "../ukvs/header.ts";

/**
 * Stands between a row's key and a query while originals are counted.
 *
 * It sorts below every byte of a key, so all originals of a row immediately follow the row's own key; in a
 * plain sort `/a?x` comes after `/a/b`.
 */
const ORIGINAL_MARK = 1;

/** Stands between the query and the datetime while captures are deduplicated. */
const CAPTURE_MARK = 2;

/** Number of leading digits of a capture's datetime that become a second key column. */
export const DATETIME_DIGITS = { year: 4, month: 6, day: 8, second: 14 } as const;

export interface RowKeyOptions extends KeyOptions {
  /** Keep queries apart, to count originals. */
  readonly originals: boolean;
  /** Keep captures of different times apart, to count each once. */
  readonly distinct?: boolean | undefined;
  /** Digits of the datetime in the key; 0 for none. */
  readonly datetimeDigits: number;
}

/**
 * Turns the SURT of a capture into the key of its row in the map.
 *
 * The result is `bytes[start, end)`: usually a prefix of the SURT itself, so that nothing is copied.
 */
export class RowKey {
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;
  /** Whether a row's key is always a part of its SURT, so that equal SURTs have equal rows. */
  readonly isPartOfSurt: boolean;
  readonly #options: RowKeyOptions;
  #scratch = new Uint8Array(1024);

  constructor(options: RowKeyOptions) {
    this.#options = options;
    this.isPartOfSurt = options.datetimeDigits === 0 && options.distinct !== true;
  }

  /** Sets the SURT `surt[start, end)` of a capture whose line is in `row`. */
  set(surt: Uint8Array, start: number, end: number, row: Uint8Array, capture: Capture): void {
    const { originals, datetimeDigits, distinct, queries } = this.#options;
    const keyEnd = keyEndInSurt(surt, start, end, queries);
    if (keyEnd !== -1 && !originals && this.isPartOfSurt) {
      this.bytes = surt;
      this.start = start;
      this.end = keyEnd;
      return;
    }
    const room = (end - start) * 4 + datetimeDigits + 32;
    if (room > this.#scratch.length) this.#scratch = new Uint8Array(room * 2);
    const scratch = this.#scratch;
    let at = surtKeyBytes(surt, start, end, scratch, 0, this.#options);
    if (datetimeDigits > 0) {
      scratch[at++] = SPACE;
      const wantedEnd = Math.min(capture.dateStart + datetimeDigits, capture.dateEnd);
      const digitsEnd = timePrefixEnd(row, capture.dateStart, wantedEnd);
      at = copyRange(row, capture.dateStart, digitsEnd, scratch, at);
    }
    if (queries !== true && (originals || distinct === true)) {
      let query = start;
      while (query < end && surt[query] !== QUESTION) query++;
      if (query < end) {
        scratch[at++] = ORIGINAL_MARK;
        at = copyRange(surt, query + 1, end, scratch, at);
      }
    }
    if (distinct === true) {
      scratch[at++] = CAPTURE_MARK;
      if (capture.dateStart !== -1 && !capture.isRequestedDate) {
        at = copyRange(row, capture.dateStart, capture.dateEnd, scratch, at);
      }
    }
    this.bytes = scratch;
    this.start = 0;
    this.end = at;
  }
}

/** Length of the row's key in `key[0, length)`: up to the first mark. */
function rowKeyLength(key: Uint8Array, length: number): number {
  let at = 0;
  while (at < length && key[at] > CAPTURE_MARK) at++;
  return at;
}

const FIRST_BYTES = 1 << 16;
/** Room for a blank, two counts with their bounds, their separator and the end of the line. */
const TAIL_BYTES = 48;

export interface MapRowsOptions extends Pick<RowKeyOptions, "originals" | "distinct"> {
  /** Write counts as lower bounds: `12+`. */
  readonly isSample?: boolean | undefined;
}

/**
 * Formats merged keys as the rows of a map, `key mementos[/originals]`.
 *
 * With `originals` or `distinct`, keys arrive as `row key, mark, query, mark, datetime` (see
 * {@link RowKey}): those of one row stand together, and in them those of one original.
 */
export class MapRows {
  readonly #options: MapRowsOptions;
  /** Whether keys have marks in them. */
  readonly #isMarked: boolean;
  #buffer = new Uint8Array(FIRST_BYTES);
  #at = 0;
  #row = new Uint8Array(256);
  #rowLength = -1;
  #original = new Uint8Array(256);
  #originalLength = -1;
  #mementos = 0;
  #originals = 0;
  rows = 0;
  mementos = 0;

  constructor(options: MapRowsOptions) {
    this.#options = options;
    this.#isMarked = options.originals || options.distinct === true;
  }

  /** Adds the key `key[0, keyLength)`. */
  add(key: Uint8Array, keyLength: number, count: number): void {
    if (!this.#isMarked) {
      this.mementos += count;
      this.#emit(key, keyLength, count, 0);
      return;
    }
    const { originals, distinct } = this.#options;
    const rowLength = rowKeyLength(key, keyLength);
    if (!isSame(key, rowLength, this.#row, this.#rowLength)) {
      this.end();
      this.#row = withRoom(this.#row, rowLength);
      copyRange(key, 0, rowLength, this.#row, 0);
      this.#rowLength = rowLength;
    }
    const mementos = distinct === true ? Math.min(count, 1) : count;
    this.mementos += mementos;
    this.#mementos += mementos;
    if (originals) this.#countOriginal(key, rowLength, keyLength);
  }

  #countOriginal(key: Uint8Array, rowLength: number, keyLength: number): void {
    let length = rowLength;
    while (length < keyLength && key[length] !== CAPTURE_MARK) length++;
    if (isSame(key, length, this.#original, this.#originalLength)) return;
    this.#original = withRoom(this.#original, length);
    copyRange(key, 0, length, this.#original, 0);
    this.#originalLength = length;
    this.#originals++;
  }

  /** Ends the last row. */
  end(): void {
    if (this.#rowLength === -1) return;
    this.#emit(this.#row, this.#rowLength, this.#mementos, this.#originals);
    this.#rowLength = -1;
    this.#mementos = 0;
    this.#originals = 0;
  }

  /** The rows that ended since the last call; valid until the next key. */
  take(): Uint8Array {
    const rows = this.#buffer.subarray(0, this.#at);
    this.#at = 0;
    return rows;
  }

  #emit(key: Uint8Array, keyLength: number, mementos: number, originals: number): void {
    if (mementos > Number.MAX_SAFE_INTEGER) throw tooMany(key, keyLength);
    const buffer = (this.#buffer = withRoom(this.#buffer, this.#at + keyLength + TAIL_BYTES));
    let at = copyRange(key, 0, keyLength, buffer, this.#at);
    buffer[at++] = SPACE;
    at = writeDecimal(mementos, buffer, at);
    const isLeast = this.#options.isSample === true && mementos > 0;
    if (isLeast) buffer[at++] = PLUS;
    if (originals > 0) {
      buffer[at++] = SLASH;
      at = writeDecimal(originals, buffer, at);
      if (isLeast) buffer[at++] = PLUS;
    }
    buffer[at++] = LF;
    this.#at = at;
    this.rows++;
  }
}

/** The error for a count that is too large to be exact. */
function tooMany(key: Uint8Array, keyLength: number): MementoMapError {
  const shown = quote(new TextDecoder().decode(key.subarray(0, keyLength)));
  return new MementoMapError(
    "MM_LIMIT",
    `the count of ${shown} is larger than ${Number.MAX_SAFE_INTEGER}`,
  );
}

function isSame(key: Uint8Array, length: number, other: Uint8Array, otherLength: number): boolean {
  if (length !== otherLength) return false;
  for (let i = length - 1; i >= 0; i--) if (key[i] !== other[i]) return false;
  return true;
}

/**
 * How the keys of a map were made: `surt`, by `surt()`, or `index`, copied from the index, without a URI to
 * compare them with.
 */
export type Canonicalization = "surt" | "index";

/** The description of a map and its archive. */
export interface MapDescription {
  /** The archive's URI. */
  readonly id?: string | undefined;
  /** Display name of the archive. */
  readonly name?: string | undefined;
  /** Last change of the index that the map was made from, ISO 8601. */
  readonly updatedAt?: string | undefined;
  /** The program that made the map, with its version. */
  readonly generator?: string | undefined;
  /** Whether the map is incomplete: only its rows with 0 mean absent. */
  readonly isSample?: boolean | undefined;
  /** How keys were made; see {@link Canonicalization}. */
  readonly canonicalization?: Canonicalization | undefined;
}

const MAP_CONTEXT = "https://git.io/mementomap";

/** The headers of a new map. */
export function mapHeaders(
  description: MapDescription,
  options: { readonly datetimeDigits?: number | undefined } & KeyOptions,
): UkvsHeaders {
  const { id, name, updatedAt, generator, canonicalization, isSample } = description;
  const { datetimeDigits = 0, queries } = options;
  const meta = {
    name,
    type: "MementoMap",
    updated_at: updatedAt,
    generator,
    canonicalization,
    sample: isSample === true ? true : undefined,
  };
  const keys = datetimeDigits > 0 ? ["surt", "datetime"] : ["surt"];
  const fields = { keys, values: ["frequency"], ...(queries === true ? { queries } : {}) };
  const list: Header[] = [
    { name: "context", value: [MAP_CONTEXT] },
    { name: "fields", value: fields },
    { name: "meta", value: meta },
  ];
  if (id !== undefined) list.push({ name: "id", value: { uri: id } });
  return new UkvsHeaders(list);
}
