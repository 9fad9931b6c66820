const BLOCK_BYTES = 64 * 1024;
/** What the last text of a block is expected to have beyond it. */
const SPARE_BYTES = 1024;
const NO_BYTES = new Uint8Array(0);
/** A UTF-16 unit takes so many bytes of UTF-8 at most. */
const MAX_BYTES_OF_UNIT = 3;
const ENCODER = new TextEncoder();

/**
 * Gathers what is written in blocks of about 64 KiB.
 *
 * Whoever writes bytes itself asks for room first, writes into `bytes` from `at`, and sets `at`.
 */
export class BlockWriter {
  bytes: Uint8Array<ArrayBuffer> = NO_BYTES;
  at = 0;
  #nextCapacity: number;

  /** @param expectedBytes of all that will be written, so that short texts take little room. */
  constructor(expectedBytes: number) {
    this.#nextCapacity = Math.min(BLOCK_BYTES + SPARE_BYTES, expectedBytes);
  }

  /** Whether a block is ready to be taken. */
  get isFull(): boolean {
    return this.at >= BLOCK_BYTES;
  }

  /** Makes room for so many bytes. */
  reserve(length: number): void {
    const needed = this.at + length;
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#nextCapacity));
    larger.set(this.bytes.subarray(0, this.at));
    this.bytes = larger;
    this.#nextCapacity = larger.length * 2;
  }

  text(text: string): void {
    this.reserve(text.length * MAX_BYTES_OF_UNIT);
    this.at += ENCODER.encodeInto(text, this.bytes.subarray(this.at)).written;
  }

  /** Takes what was gathered; the block is the taker's. */
  take(): Uint8Array<ArrayBuffer> {
    const block = this.bytes.subarray(0, this.at);
    this.bytes = NO_BYTES;
    this.#nextCapacity = BLOCK_BYTES + SPARE_BYTES;
    this.at = 0;
    return block;
  }
}
