const NOTHING = Buffer.alloc(0);

/** A stream that can be looked into at any offset behind those that were let go. */
export class StoredWindow {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #held: Buffer = NOTHING;
  #start = 0;
  #hasEnded = false;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#iterator = chunks[Symbol.asyncIterator]();
  }

  /** The first offset that is held. */
  get start(): number {
    return this.#start;
  }

  /** Behind the last byte that was read. */
  get end(): number {
    return this.#start + this.#held.length;
  }

  /** The bytes at an offset; fewer than `length` only at the end of the stream. */
  async peek(offset: number, length: number): Promise<Buffer> {
    if (offset + length > this.end) await this.#readTo(offset + length);
    return this.#held.subarray(offset - this.#start, offset - this.#start + length);
  }

  /** Lets go of what comes before an offset. */
  dropBefore(offset: number): void {
    const count = Math.min(Math.max(0, offset - this.#start), this.#held.length);
    this.#held = this.#held.subarray(count);
    this.#start += count;
  }

  async #readTo(end: number): Promise<void> {
    const parts: Uint8Array[] = [this.#held];
    let reached = this.end;
    while (reached < end && !this.#hasEnded) {
      const next = await this.#iterator.next();
      this.#hasEnded = next.done === true;
      if (next.done === true) break;
      parts.push(next.value);
      reached += next.value.length;
    }
    // Near the end of the stream there is nothing to add.
    if (parts.length > 1) this.#held = Buffer.concat(parts);
  }
}
