import { copyRange, QUESTION, SPACE } from "../../bytes/bytes.ts";
import { type Capture, timePrefixEnd } from "../../input/capture.ts";
import { KeyScanner, surtKeyBytes } from "../../surt/key-bytes.ts";

/**
 * Stands between a row's key and a query while originals are counted.
 *
 * It sorts below every byte of a key, so all originals of a row stand together, right behind the
 * row's own key; in a plain sort `/a?x` comes after `/a/b`.
 */
export const ORIGINAL_MARK = 1;

/** Stands behind the query, and before the datetime, while captures are told apart. */
export const CAPTURE_MARK = 2;

/** How many leading digits of a capture's datetime become a second key column. */
export const DATETIME_DIGITS = { year: 4, month: 6, day: 8, second: 14 } as const;

export interface RowKeyOptions {
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
  readonly #scanner = new KeyScanner();
  #scratch = new Uint8Array(1024);

  constructor(options: RowKeyOptions) {
    this.#options = options;
    this.isPartOfSurt = options.datetimeDigits === 0 && options.distinct !== true;
  }

  /**
   * Takes the SURT `surt[start, end)` of a capture whose line is in `row`.
   *
   * @param shared how many bytes the SURT shares with the last one taken, as far as is known.
   */
  set(
    surt: Uint8Array,
    start: number,
    end: number,
    row: Uint8Array,
    capture: Capture,
    shared: number,
  ): void {
    const { originals, datetimeDigits, distinct } = this.#options;
    const keyEnd = this.#scanner.keyEnd(surt, start, end, shared);
    if (keyEnd !== -1 && !originals && this.isPartOfSurt) {
      this.bytes = surt;
      this.start = start;
      this.end = keyEnd;
      return;
    }
    const room = (end - start) * 4 + datetimeDigits + 32;
    if (room > this.#scratch.length) this.#scratch = new Uint8Array(room * 2);
    const scratch = this.#scratch;
    let at = surtKeyBytes(surt, start, end, scratch, 0);
    if (datetimeDigits > 0) {
      scratch[at++] = SPACE;
      const wantedEnd = Math.min(capture.dateStart + datetimeDigits, capture.dateEnd);
      const digitsEnd = timePrefixEnd(row, capture.dateStart, wantedEnd);
      at = copyRange(row, capture.dateStart, digitsEnd, scratch, at);
    }
    if (originals || distinct === true) {
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
