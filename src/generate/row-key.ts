import { CLOSE_PAREN, SLASH, SPACE } from "../bytes/ascii.ts";
import { copyRange } from "../bytes/copy.ts";
import type { Capture } from "../input/capture.ts";

/**
 * Stands between a row's key and a query while originals are counted.
 *
 * It sorts below every byte of a key, so all originals of a row stand together, right behind the
 * row's own key; in a plain sort `/a?x` comes after `/a/b`.
 */
export const ORIGINAL_MARK = 1;

/** How many leading digits of a capture's datetime become a second key column. */
export const DATETIME_DIGITS = { year: 4, month: 6, day: 8, second: 14 } as const;

export interface RowKeyOptions {
  /** Keep queries apart, to count originals. */
  readonly originals: boolean;
  /** Digits of the datetime in the key; 0 for none. */
  readonly datetimeDigits: number;
}

/**
 * Turns the SURT of a capture into the key of its row in the map.
 *
 * The query goes, trailing slashes go except the root's, and `com,cnn)` becomes `com,cnn)/`. The
 * result is `bytes[start, end)`: mostly a part of the SURT itself, so that nothing is copied.
 */
export class RowKey {
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;
  readonly #options: RowKeyOptions;
  #scratch = new Uint8Array(1024);

  constructor(options: RowKeyOptions) {
    this.#options = options;
  }

  /** @param surt holds the SURT at `[start, end)`; `query` is where its query begins, or -1. */
  set(
    surt: Uint8Array,
    start: number,
    end: number,
    query: number,
    row: Uint8Array,
    capture: Capture,
  ): void {
    let keyEnd = query === -1 ? end : query;
    while (keyEnd - start > 1 && surt[keyEnd - 1] === SLASH && surt[keyEnd - 2] !== CLOSE_PAREN) {
      keyEnd--;
    }
    const lacksRoot = surt[keyEnd - 1] === CLOSE_PAREN;
    const { originals, datetimeDigits } = this.#options;
    if (!lacksRoot && datetimeDigits === 0 && !(originals && query !== -1)) {
      this.bytes = surt;
      this.start = start;
      this.end = keyEnd;
      return;
    }
    const room = end - start + datetimeDigits + 8;
    if (room > this.#scratch.length) this.#scratch = new Uint8Array(room * 2);
    const scratch = this.#scratch;
    let at = copyRange(surt, start, keyEnd, scratch, 0);
    if (lacksRoot) scratch[at++] = SLASH;
    if (datetimeDigits > 0) {
      scratch[at++] = SPACE;
      const digitsEnd = Math.min(capture.dateStart + datetimeDigits, capture.dateEnd);
      at = copyRange(row, capture.dateStart, digitsEnd, scratch, at);
    }
    if (originals && query !== -1) {
      scratch[at++] = ORIGINAL_MARK;
      at = copyRange(surt, query + 1, end, scratch, at);
    }
    this.bytes = scratch;
    this.start = 0;
    this.end = at;
  }
}
