import { MementoMapError } from "../errors.ts";
import { carveBytes } from "./byte-slab.ts";

/** With something held, below this it is not worth looking whether it is whole now. */
const MIN_SCAN_BYTES = 1024;
const NO_BYTES = new Uint8Array(0);

/**
 * Reads what is whole in `bytes[0, end)`; returns the offset of what is not, and has to be given
 * again with more bytes behind it. With `isLast` there will be no more.
 */
export type Scan = (bytes: Uint8Array, end: number, isLast: boolean) => number;

/**
 * Joins chunks so that a scanner sees its links, lines or values whole, wherever chunks are cut.
 *
 * Holds one of them, or 1 KiB. Bytes that were not whole are scanned again only when there are twice
 * as many: time is linear also for chunks of a single byte.
 */
export class ByteFeed {
  readonly #scan: Scan;
  readonly #maxBytes: number;
  #held: Uint8Array = NO_BYTES;
  #length = 0;
  #scanAt = 0;

  /** @param maxBytes of one link, line or value. */
  constructor(scan: Scan, maxBytes: number) {
    this.#scan = scan;
    this.#maxBytes = maxBytes;
  }

  /** @throws MM_LIMIT for a link, line or value that is too long, and what the scanner throws. */
  write(chunk: Uint8Array): void {
    if (this.#length === 0) {
      this.#keepFrom(chunk, chunk.length, this.#scan(chunk, chunk.length, false));
      return;
    }
    const length = this.#length + chunk.length;
    if (length > this.#held.length) {
      const larger = new Uint8Array(Math.max(length, this.#held.length * 2));
      larger.set(this.#held.subarray(0, this.#length));
      this.#held = larger;
    }
    this.#held.set(chunk, this.#length);
    this.#length = length;
    if (length >= this.#scanAt) {
      this.#keepFrom(this.#held, length, this.#scan(this.#held, length, false));
    }
  }

  /** Scans what is left. Throws as `write` does. */
  end(): void {
    // What was not worth a scan yet may be too long all the same.
    if (this.#length > this.#maxBytes) {
      this.#keepFrom(this.#held, this.#length, this.#scan(this.#held, this.#length, false));
    }
    const rest = this.#length;
    this.#length = 0;
    this.#scan(this.#held, rest, true);
  }

  /**
   * Says that something has this length, so that limits do not depend on how chunks are cut.
   *
   * @throws MM_LIMIT when it is too long.
   */
  checkLength(length: number): void {
    if (length <= this.#maxBytes) return;
    throw new MementoMapError(
      "MM_LIMIT",
      `the TimeMap has a link, line or value longer than ${this.#maxBytes} bytes`,
      { reason: "bad-timemap" },
    );
  }

  #keepFrom(bytes: Uint8Array, end: number, from: number): void {
    const rest = end - from;
    this.checkLength(rest);
    this.#length = rest;
    if (rest === 0) return;
    if (bytes === this.#held) {
      bytes.copyWithin(0, from, end);
    } else {
      if (rest > this.#held.length) this.#held = carveBytes(rest * 2);
      this.#held.set(bytes.subarray(from, end));
    }
    this.#scanAt = Math.max(MIN_SCAN_BYTES, rest * 2);
  }
}
