import { QUESTION, SPACE } from "../bytes/ascii.ts";
import { copyRange } from "../bytes/copy.ts";
import type { Capture } from "../input/capture.ts";
import { KeyScanner, surtKeyBytes } from "../surt/key-bytes.ts";

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
 * The result is `bytes[start, end)`: mostly the beginning of the SURT itself, so that nothing is
 * copied.
 */
export class RowKey {
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;
  readonly #options: RowKeyOptions;
  readonly #scanner = new KeyScanner();
  #scratch = new Uint8Array(1024);

  constructor(options: RowKeyOptions) {
    this.#options = options;
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
    const { originals, datetimeDigits } = this.#options;
    const keyEnd = this.#scanner.keyEnd(surt, start, end, shared);
    if (keyEnd !== -1 && !originals && datetimeDigits === 0) {
      this.bytes = surt;
      this.start = start;
      this.end = keyEnd;
      return;
    }
    const room = (end - start) * 4 + datetimeDigits + 8;
    if (room > this.#scratch.length) this.#scratch = new Uint8Array(room * 2);
    const scratch = this.#scratch;
    let at = surtKeyBytes(surt, start, end, scratch, 0);
    if (datetimeDigits > 0) {
      scratch[at++] = SPACE;
      const digitsEnd = Math.min(capture.dateStart + datetimeDigits, capture.dateEnd);
      at = copyRange(row, capture.dateStart, digitsEnd, scratch, at);
    }
    if (originals) {
      let query = start;
      while (query < end && surt[query] !== QUESTION) query++;
      if (query < end) {
        scratch[at++] = ORIGINAL_MARK;
        at = copyRange(surt, query + 1, end, scratch, at);
      }
    }
    this.bytes = scratch;
    this.start = 0;
    this.end = at;
  }
}
