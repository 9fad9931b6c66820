import { QUESTION } from "../../bytes/bytes.ts";
import { surtKeyBytes } from "../../surt/key.ts";

/*
 * The sort key of a capture in the analysis of an archive:
 *
 *     key [? query] MONTH_MARK month
 *
 * that is, its original and its month. The mark sorts below every byte of an original, so all
 * captures of an original are adjacent, by month. Originals keep the order of an index, so a sorted
 * index needs no sorting. The month is three characters from `0` on, six bits each.
 */

/** Separates an original from the month of a capture. */
export const MONTH_MARK = 1;

const MONTH_BYTES = 3;
const FIRST_DIGIT = 0x30;
/** Percent-encoding turns one byte into three. */
const GROWTH = 3;

/** Builds the sort key of a capture, `bytes[0, end)`; reuses the original's part between rows. */
export class OriginalKey {
  bytes: Uint8Array = new Uint8Array(1024);
  end = 0;
  keyLength = 0;
  /** The end of the original, before the mark. */
  originalEnd = 0;
  readonly #encoder = new TextEncoder();

  /** Sets another original, by its SURT `surt[start, end)`. */
  setOriginal(surt: Uint8Array, start: number, end: number): void {
    const room = (end - start) * GROWTH + 8;
    if (room > this.bytes.length) this.bytes = new Uint8Array(room * 2);
    const { bytes } = this;
    this.keyLength = surtKeyBytes(surt, start, end, bytes, 0);
    let at = this.keyLength;
    let query = start;
    while (query < end && surt[query] !== QUESTION) query++;
    for (let i = query; i < end; i++) {
      const byte = surt[i];
      if (byte > MONTH_MARK) bytes[at++] = byte;
      else {
        bytes[at++] = 0x25;
        bytes[at++] = FIRST_DIGIT;
        bytes[at++] = FIRST_DIGIT + byte;
      }
    }
    this.originalEnd = at;
    bytes[at] = MONTH_MARK;
  }

  setMonth(code: number): void {
    const { bytes } = this;
    const at = this.originalEnd + 1;
    bytes[at] = FIRST_DIGIT + (code >> 12);
    bytes[at + 1] = FIRST_DIGIT + ((code >> 6) & 63);
    bytes[at + 2] = FIRST_DIGIT + (code & 63);
    this.end = at + MONTH_BYTES;
  }

  /** The key of a SURT, and its original, as text with one character per byte. */
  namesOf(surt: string): { key: string; uri: string } {
    const bytes = this.#encoder.encode(surt);
    this.setOriginal(bytes, 0, bytes.length);
    const uri = Buffer.from(this.bytes.buffer, 0, this.originalEnd).toString("latin1");
    return { key: uri.slice(0, this.keyLength), uri };
  }
}

/** The end of the original in a sort key, before the mark. */
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
