import { copyRange, LF, PLUS, QUESTION, SLASH, SPACE, writeDecimal } from "../bytes/bytes.ts";
import { type Capture, timePrefixEnd } from "../input/capture.ts";
import { keyEndInSurt } from "../surt/plain-key.ts";
import { type KeyOptions, surtKeyBytes } from "../surt/key.ts";
import { MementoMapError, quote } from "../errors.ts";
import { type Header, UkvsHeaders } from "../ukvs/header.ts";

/**
 * Stands between a row's key and a query while originals are counted.
 *
 * It sorts below every byte of a key, so all originals of a row stand together, right behind the
 * row's own key; in a plain sort `/a?x` comes after `/a/b`.
 */
export const ORIGINAL_MARK = 1;

/** Stands behind the query, and before the datetime, while captures are told apart. */
const CAPTURE_MARK = 2;

/** How many leading digits of a capture's datetime become a second key column. */
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
 * The result is `bytes[start, end)`: mostly the beginning of the SURT itself, so that nothing is
 * copied.
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

  /** Takes the SURT `surt[start, end)` of a capture whose line is in `row`. */
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
      if (capture.dateStart !== -1 && !capture.isDateAsked) {
        at = copyRange(row, capture.dateStart, capture.dateEnd, scratch, at);
      }
    }
    this.bytes = scratch;
    this.start = 0;
    this.end = at;
  }
}

/** How much of `key[0, length)` is the row's key: all up to the first mark. */
export function rowKeyLength(key: Uint8Array, length: number): number {
  let at = 0;
  while (at < length && key[at] > CAPTURE_MARK) at++;
  return at;
}

const FLUSH_BYTES = 1 << 20;
/** Room for a blank, two counts with their bounds, their separator and the end of the line. */
const TAIL_BYTES = 48;

export interface MapRowsOptions {
  /** Count originals. */
  readonly originals: boolean;
  /** Count each capture once, however often it was added. */
  readonly distinct?: boolean | undefined;
  /** Say that there may be more: `12+`. */
  readonly isSample?: boolean | undefined;
}

/**
 * Formats merged keys as the rows of a map, `key mementos[/originals]`, in large blocks.
 *
 * With `originals` or `distinct`, keys arrive as `row key, mark, query, mark, datetime` (see
 * row-key.ts): those of one row stand together, and in them those of one original.
 */
export class MapRows {
  readonly #write: (block: Uint8Array) => void;
  readonly #options: MapRowsOptions;
  /** Whether keys have marks in them. */
  readonly #isMarked: boolean;
  #buffer = new Uint8Array(FLUSH_BYTES + (FLUSH_BYTES >> 2));
  #at = 0;
  #row = new Uint8Array(256);
  #rowLength = -1;
  #original = new Uint8Array(256);
  #originalLength = -1;
  #mementos = 0;
  #originals = 0;
  rows = 0;
  mementos = 0;

  constructor(options: MapRowsOptions, write: (block: Uint8Array) => void) {
    this.#options = options;
    this.#isMarked = options.originals || options.distinct === true;
    this.#write = write;
  }

  /** Takes the key `bytes[start, end)`. */
  addRange(bytes: Uint8Array, start: number, end: number, count: number): void {
    if (this.#isMarked) {
      this.add(bytes.subarray(start, end), end - start, count);
    } else {
      this.mementos += count;
      this.#emit(bytes, start, end, count, 0);
    }
  }

  add(key: Uint8Array, keyLength: number, count: number): void {
    if (!this.#isMarked) {
      this.addRange(key, 0, keyLength, count);
      return;
    }
    const { originals, distinct } = this.#options;
    const rowLength = rowKeyLength(key, keyLength);
    if (!isSame(key, rowLength, this.#row, this.#rowLength)) {
      this.#closeRow();
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

  /** Writes what is left. */
  end(): void {
    this.#closeRow();
    this.#flush();
  }

  #closeRow(): void {
    if (this.#rowLength === -1) return;
    this.#emit(this.#row, 0, this.#rowLength, this.#mementos, this.#originals);
    this.#rowLength = -1;
    this.#mementos = 0;
    this.#originals = 0;
  }

  #emit(bytes: Uint8Array, start: number, end: number, mementos: number, originals: number): void {
    const keyLength = end - start;
    if (mementos > Number.MAX_SAFE_INTEGER) throw tooMany(bytes, start, end);
    if (this.#at + keyLength + TAIL_BYTES > this.#buffer.length) {
      this.#flush();
      if (keyLength + TAIL_BYTES > this.#buffer.length) {
        this.#buffer = new Uint8Array(keyLength + TAIL_BYTES + FLUSH_BYTES);
      }
    }
    const buffer = this.#buffer;
    let at = copyRange(bytes, start, end, buffer, this.#at);
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
    if (at >= FLUSH_BYTES) this.#flush();
  }

  #flush(): void {
    if (this.#at > 0) this.#write(this.#buffer.subarray(0, this.#at));
    this.#at = 0;
  }
}

/** Larger counts are not exact any more. */
function tooMany(key: Uint8Array, start: number, end: number): MementoMapError {
  const shown = quote(new TextDecoder().decode(key.subarray(start, end)));
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

function withRoom(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  return length > bytes.length ? new Uint8Array(length * 2) : bytes;
}

/**
 * How the keys of a map were made: `surt`, as `surt()` makes them, or `index`, as they stood in the
 * index and without a URI to compare them with.
 */
export type Canonicalization = "surt" | "index";

/** What a map says about itself and its archive. */
export interface MapDescription {
  /** The archive's URI. */
  readonly id?: string | undefined;
  /** The archive's name, for people. */
  readonly name?: string | undefined;
  /** ISO 8601; when the index that the map was made from last changed. */
  readonly updatedAt?: string | undefined;
  /** The program that made the map, with its version. */
  readonly generator?: string | undefined;
  /** Whether the archive may hold more than the map tells: only its rows with 0 say absent. */
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
    ...(name === undefined ? {} : { name }),
    type: "MementoMap",
    ...(updatedAt === undefined ? {} : { updated_at: updatedAt }),
    ...(generator === undefined ? {} : { generator }),
    ...(canonicalization === undefined ? {} : { canonicalization }),
    ...(isSample === true ? { sample: true } : {}),
  };
  const keys = datetimeDigits > 0 ? ["surt", "datetime"] : ["surt"];
  const fields = { keys, values: ["frequency"], ...(queries === true ? { queries } : {}) };
  const list: Header[] = [
    { name: "context", value: [MAP_CONTEXT] },
    { name: "fields", value: fields },
    ...(id === undefined ? [] : [{ name: "id", value: { uri: id } }]),
    { name: "meta", value: meta },
  ];
  return new UkvsHeaders(list);
}
