import { joinBytes } from "../bytes/join.ts";
/** Walks over a stream of chunks as if it were one array; holds one chunk and what was asked for. */
export class ByteCursor {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);
  #at = 0;
  #before = 0;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#iterator = chunks[Symbol.asyncIterator]();
  }

  /** Bytes read or skipped so far. */
  get offset(): number {
    return this.#before + this.#at;
  }

  /**
   * Reads up to and including the next `byte`; fewer bytes only at the end of the stream, or when
   * `limit` is reached first. Valid until the next call.
   */
  async readThrough(byte: number, limit: number): Promise<Uint8Array> {
    let held: Uint8Array | undefined;
    while (this.#at < this.#chunk.length || (await this.#fill())) {
      const room = limit - (held?.length ?? 0);
      const window = this.#chunk.subarray(this.#at, this.#at + room);
      const found = window.indexOf(byte);
      const part = found === -1 ? window : window.subarray(0, found + 1);
      this.#at += part.length;
      held = held === undefined ? part : joinBytes([held, part]);
      if (found !== -1 || held.length >= limit) break;
    }
    return held ?? new Uint8Array(0);
  }

  /** Skips bytes; returns how many there were. */
  async skip(count: number): Promise<number> {
    let left = count;
    while (left > 0 && (this.#at < this.#chunk.length || (await this.#fill()))) {
      const step = Math.min(left, this.#chunk.length - this.#at);
      this.#at += step;
      left -= step;
    }
    return count - left;
  }

  /** Lets go of the stream. */
  async close(): Promise<void> {
    await this.#iterator.return?.();
  }

  async #fill(): Promise<boolean> {
    for (;;) {
      const next = await this.#iterator.next();
      if (next.done === true) return false;
      this.#before += this.#chunk.length;
      this.#chunk = next.value;
      this.#at = 0;
      if (this.#chunk.length > 0) return true;
    }
  }
}
