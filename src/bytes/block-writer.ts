/** A destination for blocks of bytes, such as an `Output`. */
export interface BlockSink {
  write(block: Uint8Array): void | Promise<void>;
}

const BLOCK_BYTES = 256 * 1024;

/**
 * Collects bytes into large blocks, for loops that write one line at a time without creating strings.
 *
 * Call {@link reserve}, write into `bytes` from `length` on, and move `length`.
 */
export class BlockWriter {
  /** The buffer to write to. `reserve` may replace it, so do not hold on to it. */
  bytes: Uint8Array = new Uint8Array(BLOCK_BYTES);
  /** The number of bytes written to `bytes`. */
  length = 0;
  readonly #sink: BlockSink;

  constructor(sink: BlockSink) {
    this.#sink = sink;
  }

  /** Makes room. Await the result, which is a promise only if a block was written. */
  reserve(bytes: number): Promise<void> | undefined {
    return this.length + bytes <= this.bytes.length ? undefined : this.#makeRoom(bytes);
  }

  /** Writes the buffered bytes. Call it after the last line. */
  async flush(): Promise<void> {
    if (this.length > 0) await this.#sink.write(this.bytes.subarray(0, this.length));
    this.length = 0;
  }

  async #makeRoom(bytes: number): Promise<void> {
    await this.flush();
    if (bytes > this.bytes.length) this.bytes = new Uint8Array(bytes);
  }
}
