/** The bytes of a stream that are held: those behind what was let go. */
export class ByteWindow {
  #bytes: Uint8Array = new Uint8Array(0);
  /** What of `#bytes` is held. */
  #from = 0;
  #to = 0;
  #start = 0;

  /** The first offset that is held. */
  get start(): number {
    return this.#start;
  }

  /** Behind the last byte that was added. */
  get end(): number {
    return this.#start + this.#to - this.#from;
  }

  /** Adds a chunk, which is copied only where something is held. */
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

  /** What is held from `from` on, up to `to` at most. */
  slice(from: number, to: number): Uint8Array {
    const first = this.#from - this.#start;
    return this.#bytes.subarray(from + first, Math.min(to + first, this.#to));
  }

  /** Lets go of what comes before an offset. */
  dropBefore(offset: number): void {
    const count = Math.min(Math.max(0, offset - this.#start), this.#to - this.#from);
    this.#from += count;
    this.#start += count;
  }
}
