const INITIAL_BYTES = 1024;
/** Room for the end of a wildcard, which is put behind the text of a node. */
const WILDCARD_BYTES = 2;

/** The key that was taken last. Holds the longest one. */
export class CurrentKey {
  bytes: Uint8Array = new Uint8Array(INITIAL_BYTES);
  length = 0;
  /** Bytes that the key compared last shares with this one, and the byte behind them. */
  nextShared = 0;
  nextByte = 0;
  nextLength = 0;
  #view = new DataView(this.bytes.buffer);

  /**
   * How many bytes at `start` are the same as in the key; at most up to `end`.
   *
   * Neighbours in a sorted map have most of their keys in common, so whoever looks for the end of a
   * key can begin behind these.
   */
  sharedBytes(view: DataView, start: number, end: number): number {
    const limit = Math.min(this.length, end - start);
    const own = this.#view;
    let i = 0;
    while (i + 4 <= limit && view.getInt32(start + i, true) === own.getInt32(i, true)) i += 4;
    while (i < limit && view.getUint8(start + i) === own.getUint8(i)) i++;
    return i;
  }

  /**
   * Compares a key, `source[start, end)`, to this one: negative if it comes before it, 0 if it is the
   * same, positive if it comes after it. The `next` fields say what was found.
   *
   * @param shared how many bytes the two are known to share: see {@link sharedBytes}
   */
  compare(source: Uint8Array, start: number, end: number, shared: number): number {
    const length = end - start;
    this.nextLength = length;
    this.nextShared = shared;
    if (shared === length) return shared === this.length ? 0 : -1;
    this.nextByte = source[start + shared];
    return shared === this.length ? 1 : this.nextByte - this.bytes[shared];
  }

  /** Makes the key that was compared last, which is at `start` of its source, this one. */
  setCompared(source: Uint8Array, start: number): void {
    this.set(source, start, this.nextShared, this.nextLength);
  }

  /** Whether a key of this length can be taken without making room. */
  hasRoom(length: number): boolean {
    return length + WILDCARD_BYTES <= this.bytes.length;
  }

  /** Makes `source[start, start + length)`, of which it has the first `shared` bytes, the key. */
  set(source: Uint8Array, start: number, shared: number, length: number): void {
    if (!this.hasRoom(length)) this.#grow(length + WILDCARD_BYTES);
    const { bytes } = this;
    for (let i = shared; i < length; i++) bytes[i] = source[start + i];
    this.length = length;
  }

  text(): string {
    return new TextDecoder().decode(this.bytes.subarray(0, this.length));
  }

  #grow(room: number): void {
    const larger = new Uint8Array(room * 2);
    larger.set(this.bytes);
    this.bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}
