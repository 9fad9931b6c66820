import { compareRanges, copyRange } from "../../bytes/bytes.ts";

/**
 * A key for every few kilobytes of a sorted map, and where its rows start: some megabytes for a map
 * of a gigabyte. Rows of one key are never on both sides of a sample.
 */
export class KeySamples {
  readonly #segmentBytes: number;
  readonly #offsets: number[] = [];
  /** Where each key ends in `#bytes`; it starts where the one before ends. */
  readonly #ends: number[] = [];
  #bytes: Uint8Array = new Uint8Array(4096);

  /** @param options.segmentBytes how far apart samples are; default 8 KiB. */
  constructor(options: { readonly segmentBytes?: number } = {}) {
    this.#segmentBytes = options.segmentBytes ?? 8192;
  }

  get count(): number {
    return this.#offsets.length;
  }

  /** Takes the key `bytes[start, end)` if it is far enough from the last. Call it for each key. */
  add(offset: number, bytes: Uint8Array, start: number, end: number): void {
    const { count } = this;
    if (count > 0 && offset - this.#offsets[count - 1] < this.#segmentBytes) return;
    const from = count === 0 ? 0 : this.#ends[count - 1];
    const to = from + end - start;
    if (to > this.#bytes.length) {
      const larger = new Uint8Array(2 * to);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    copyRange(bytes, start, end, this.#bytes, from);
    this.#offsets.push(offset);
    this.#ends.push(to);
  }

  /** Where the rows of a sample start; undefined behind the last. */
  offset(sample: number): number | undefined {
    return this.#offsets[sample];
  }

  key(sample: number): Uint8Array {
    return this.#bytes.subarray(sample === 0 ? 0 : this.#ends[sample - 1], this.#ends[sample]);
  }

  /** The last sample whose key is not after `key`; -1 where there is none. */
  before(key: Uint8Array): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const start = middle === 0 ? 0 : this.#ends[middle - 1];
      const order = compareRanges(this.#bytes, start, this.#ends[middle], key, 0, key.length);
      if (order <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
