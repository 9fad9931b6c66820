import { LF, SLASH, SPACE } from "../bytes/ascii.ts";
import { copyRange } from "../bytes/copy.ts";
import { writeDecimal } from "../bytes/decimal.ts";
import { ORIGINAL_MARK } from "./row-key.ts";

const FLUSH_BYTES = 1 << 20;
/** Room for a blank, two counts, their separator and the end of the line. */
const TAIL_BYTES = 48;

/**
 * Formats merged keys as the rows of a map, `key mementos[/originals]`, in large blocks.
 *
 * With `originals`, keys arrive as `row key, mark, query` (see row-key.ts): those of one row stand
 * together and each is one original.
 */
export class MapRows {
  readonly #write: (block: Uint8Array) => void;
  readonly #countOriginals: boolean;
  #buffer = new Uint8Array(FLUSH_BYTES + (FLUSH_BYTES >> 2));
  #at = 0;
  #row = new Uint8Array(256);
  #rowLength = -1;
  #mementos = 0;
  #originals = 0;
  rows = 0;
  mementos = 0;

  constructor(countOriginals: boolean, write: (block: Uint8Array) => void) {
    this.#countOriginals = countOriginals;
    this.#write = write;
  }

  add(key: Uint8Array, keyLength: number, count: number): void {
    this.mementos += count;
    if (!this.#countOriginals) {
      this.#emit(key, keyLength, count, 0);
      return;
    }
    const mark = key.indexOf(ORIGINAL_MARK);
    const rowLength = mark === -1 || mark >= keyLength ? keyLength : mark;
    if (!this.#isCurrentRow(key, rowLength)) {
      this.#closeRow();
      if (rowLength > this.#row.length) this.#row = new Uint8Array(rowLength * 2);
      copyRange(key, 0, rowLength, this.#row, 0);
      this.#rowLength = rowLength;
    }
    this.#mementos += count;
    this.#originals++;
  }

  /** Writes what is left. */
  end(): void {
    this.#closeRow();
    this.#flush();
  }

  #isCurrentRow(key: Uint8Array, length: number): boolean {
    if (length !== this.#rowLength) return false;
    for (let i = length - 1; i >= 0; i--) if (key[i] !== this.#row[i]) return false;
    return true;
  }

  #closeRow(): void {
    if (this.#rowLength === -1) return;
    this.#emit(this.#row, this.#rowLength, this.#mementos, this.#originals);
    this.#rowLength = -1;
    this.#mementos = 0;
    this.#originals = 0;
  }

  #emit(key: Uint8Array, keyLength: number, mementos: number, originals: number): void {
    if (this.#at + keyLength + TAIL_BYTES > this.#buffer.length) {
      this.#flush();
      if (keyLength + TAIL_BYTES > this.#buffer.length) {
        this.#buffer = new Uint8Array(keyLength + TAIL_BYTES + FLUSH_BYTES);
      }
    }
    const buffer = this.#buffer;
    let at = copyRange(key, 0, keyLength, buffer, this.#at);
    buffer[at++] = SPACE;
    at = writeDecimal(mementos, buffer, at);
    if (originals > 0) {
      buffer[at++] = SLASH;
      at = writeDecimal(originals, buffer, at);
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
