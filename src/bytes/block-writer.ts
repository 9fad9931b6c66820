/** Takes blocks of bytes; an `Output`, for example. */
export interface BlockSink {
  write(block: Uint8Array): void | Promise<void>;
}

const BLOCK_BYTES = 256 * 1024;

/**
 * Collects bytes into large blocks, for loops that write a line at a time without making strings.
 *
 * Call {@link reserve}, write into `bytes` from `length` on, and move `length`.
 */
export class BlockWriter {
  /** Where to write. Replaced by `reserve`, so do not keep it. */
  bytes: Uint8Array = new Uint8Array(BLOCK_BYTES);
  /** How much of `bytes` is taken. */
  length = 0;
  readonly #sink: BlockSink;

  constructor(sink: BlockSink) {
    this.#sink = sink;
  }

  /** Makes room. Await the result: it is a promise only when a block was sent. */
  reserve(bytes: number): Promise<void> | undefined {
    return this.length + bytes <= this.bytes.length ? undefined : this.#makeRoom(bytes);
  }

  /** Sends what is held back. Call it after the last line. */
  async flush(): Promise<void> {
    if (this.length > 0) await this.#sink.write(this.bytes.subarray(0, this.length));
    this.length = 0;
  }

  async #makeRoom(bytes: number): Promise<void> {
    await this.flush();
    if (bytes > this.bytes.length) this.bytes = new Uint8Array(bytes);
  }
}
