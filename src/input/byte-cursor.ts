import { joinBytes } from "../bytes/join.ts";
import { GAP, RECORD } from "./marks.ts";

const MAX_KEPT_BYTES = 1 << 24;

/**
 * Walks over a stream of chunks as if it were one array; holds one chunk and what was asked for.
 *
 * A gap, and a mark that a record begins, is an end of the stream until it is passed.
 */
export class ByteCursor {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);
  #at = 0;
  #before = 0;
  #stop: Uint8Array | undefined;
  /** Chunks before this one that are kept to go back to `#keptFrom`, if that is possible. */
  #kept: Uint8Array[] = [];
  #keptBytes = 0;
  #keptFrom: number | undefined;

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

  /** The mark that ends the stream here. */
  get stop(): Uint8Array | undefined {
    return this.#stop;
  }

  /** Goes on behind the mark. */
  passStop(): void {
    this.#stop = undefined;
  }

  /** Takes back bytes that were read last; {@link back} makes no sense then. */
  unread(bytes: Uint8Array): void {
    if (this.#at >= bytes.length) {
      this.#at -= bytes.length;
      return;
    }
    const rest = joinBytes([bytes, this.#chunk.subarray(this.#at)]);
    this.#before = this.offset - bytes.length;
    this.#chunk = rest;
    this.#at = 0;
  }

  /** Makes it possible to go {@link back} here from up to 16 MiB further on. */
  keep(): void {
    this.#kept = [];
    this.#keptBytes = 0;
    this.#keptFrom = this.offset;
  }

  /** Goes back to where {@link keep} was called; returns whether that was possible. */
  back(): boolean {
    if (this.#keptFrom === undefined) return false;
    this.#chunk = joinBytes([...this.#kept, this.#chunk]);
    this.#before -= this.#keptBytes;
    this.#at = this.#keptFrom - this.#before;
    this.#keptFrom = undefined;
    this.#kept = [];
    return true;
  }

  /** Lets go of the stream. */
  async close(): Promise<void> {
    await this.#iterator.return?.();
  }

  async #fill(): Promise<boolean> {
    while (this.#stop === undefined) {
      const next = await this.#iterator.next();
      if (next.done === true) return false;
      if (next.value === GAP || next.value === RECORD) this.#stop = next.value;
      if (this.#keptFrom !== undefined) this.#keepChunk();
      this.#before += this.#chunk.length;
      this.#chunk = next.value;
      this.#at = 0;
      if (this.#chunk.length > 0) return true;
    }
    return false;
  }

  #keepChunk(): void {
    this.#kept.push(this.#chunk);
    this.#keptBytes += this.#chunk.length;
    if (this.#keptBytes <= MAX_KEPT_BYTES) return;
    this.#keptFrom = undefined;
    this.#kept = [];
  }
}
