/** A sliding window over the bytes of a stream. */
export class ByteWindow {
  #bytes: Uint8Array = new Uint8Array(0);
  /** The range of `#bytes` in the window. */
  #from = 0;
  #to = 0;
  #start = 0;

  /** The stream offset of the first byte in the window. */
  get start(): number {
    return this.#start;
  }

  /** The stream offset after the last byte added. */
  get end(): number {
    return this.#start + this.#to - this.#from;
  }

  /** Adds a chunk, which is copied only if the window is not empty. */
  add(chunk: Uint8Array): void {
    const held = this.#bytes.subarray(this.#from, this.#to);
    if (held.length === 0) {
      this.#bytes = chunk;
      this.#to = this.#from = 0;
    } else {
      if (this.#to + chunk.length > this.#bytes.length) {
        this.#bytes = new Uint8Array(2 * (held.length + chunk.length));
        this.#bytes.set(held);
        this.#from = 0;
        this.#to = held.length;
      }
      this.#bytes.set(chunk, this.#to);
    }
    this.#to += chunk.length;
  }

  /** The bytes from `from` on, up to `to` at most. */
  slice(from: number, to: number): Uint8Array {
    const first = this.#from - this.#start;
    return this.#bytes.subarray(from + first, Math.min(to + first, this.#to));
  }

  /** Drops the bytes before an offset. */
  dropBefore(offset: number): void {
    const count = Math.min(Math.max(0, offset - this.#start), this.#to - this.#from);
    this.#from += count;
    this.#start += count;
  }
}
