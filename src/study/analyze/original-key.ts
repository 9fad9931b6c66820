import { QUESTION } from "../../bytes/bytes.ts";
import { surtKeyBytes } from "../../surt/key.ts";
import { keyEndInSurt } from "../../surt/plain-key.ts";

/*
 * What is sorted to analyze an archive: for each capture
 *
 *     key [? query] MONTH_MARK month
 *
 * that is, its original and its month. The mark sorts below every byte of an original, so all
 * captures of an original stand together, by month. Originals stay in the order of an index: one
 * that is sorted needs no sorting. The month is three characters from `0` on, six bits each.
 */

/** Stands between an original and the month of a capture. */
export const MONTH_MARK = 1;

const MONTH_BYTES = 3;
const FIRST_DIGIT = 0x30;
/** Percent-encoding makes three bytes of one. */
const GROWTH = 3;

/** Makes the sort key of a capture, `bytes[0, end)`; the original's part is kept between rows. */
export class OriginalKey {
  bytes: Uint8Array = new Uint8Array(1024);
  end = 0;
  keyLength = 0;
  #originalEnd = 0;
  #isPlain = false;

  /**
   * Takes another original, by its SURT `surt[start, end)`.
   *
   * @param shared bytes that the SURT is known to share with the last one.
   * @returns bytes that the new sort key shares with the last one, as far as is known.
   */
  setOriginal(surt: Uint8Array, start: number, end: number, shared: number): number {
    const room = (end - start) * GROWTH + 8;
    if (room > this.bytes.length) this.bytes = grown(this.bytes, room);
    const { bytes } = this;
    const lastKeyLength = this.#isPlain ? this.keyLength : 0;
    const keyEnd = keyEndInSurt(surt, start, end);
    this.#isPlain = keyEnd !== -1;
    let known = 0;
    if (keyEnd === -1) {
      this.keyLength = surtKeyBytes(surt, start, end, bytes, 0);
    } else {
      this.keyLength = keyEnd - start;
      known = Math.min(shared, lastKeyLength, this.keyLength);
      for (let i = known; i < this.keyLength; i++) bytes[i] = surt[start + i];
    }
    let at = this.keyLength;
    let query = keyEnd === -1 ? start : keyEnd;
    while (query < end && surt[query] !== QUESTION) query++;
    for (let i = query; i < end; i++) {
      const byte = surt[i];
      if (byte > MONTH_MARK) bytes[at++] = byte;
      else at = writeEscape(byte, bytes, at);
    }
    bytes[at++] = MONTH_MARK;
    this.#originalEnd = at;
    return known;
  }

  setMonth(code: number): void {
    const { bytes } = this;
    const at = this.#originalEnd;
    bytes[at] = FIRST_DIGIT + (code >> 12);
    bytes[at + 1] = FIRST_DIGIT + ((code >> 6) & 63);
    bytes[at + 2] = FIRST_DIGIT + (code & 63);
    this.end = at + MONTH_BYTES;
  }

  /** Bytes of the sort key before the month. */
  get sharedByMonths(): number {
    return this.#originalEnd;
  }
}

/** Where the original ends in a sort key, without the mark of the month. */
export function originalLength(length: number): number {
  return length - MONTH_BYTES - 1;
}

export function monthCode(bytes: Uint8Array, length: number): number {
  return (
    ((bytes[length - 3] - FIRST_DIGIT) << 12) +
    ((bytes[length - 2] - FIRST_DIGIT) << 6) +
    (bytes[length - 1] - FIRST_DIGIT)
  );
}

function writeEscape(byte: number, target: Uint8Array, at: number): number {
  target[at] = 0x25;
  target[at + 1] = FIRST_DIGIT;
  target[at + 2] = FIRST_DIGIT + byte;
  return at + 3;
}

function grown(bytes: Uint8Array, room: number): Uint8Array {
  const larger = new Uint8Array(room * 2);
  larger.set(bytes);
  return larger;
}
