import { NameHash } from "../src/packed/name-hash.ts";
import { mix, scale } from "../src/packed/ribbon.ts";

/** Fingerprints that are kept; a filter of fewer bits has the lowest of them. */
const MAX_BITS = 32;

/**
 * A binary fuse filter of three looks over keys (Graf, Lemire, 2022), as a rival of packed maps.
 *
 * Built once with fingerprints of 32 bits: the lowest b of them are the filter of b bits.
 */
export class FuseFilter {
  readonly #segmentLength: number;
  readonly #segments: number;
  readonly #slots: Uint32Array;
  #seed = 0;
  readonly #hash = new NameHash();
  /** The three slots of the last key, and its fingerprint. */
  readonly #places = new Uint32Array(3);
  #fingerprint = 0;

  constructor(keys: readonly Uint8Array[]) {
    const n = Math.max(2, keys.length);
    this.#segmentLength = 2 ** Math.floor(Math.log(n) / Math.log(3.33) + 2.25);
    const factor = Math.max(1.125, 0.875 + (0.25 * Math.log(1e6)) / Math.log(n));
    this.#segments = Math.max(1, Math.ceil((n * factor) / this.#segmentLength) - 2);
    this.#slots = new Uint32Array((this.#segments + 2) * this.#segmentLength);
    const low = new Uint32Array(keys.length);
    const high = new Uint32Array(keys.length);
    keys.forEach((key, i) => {
      const hash = this.#hash.reset().extend(key, 0, key.length).finish();
      low[i] = hash.low;
      high[i] = hash.high;
    });
    while (!this.#fill(low, high)) {
      if (++this.#seed > 100) throw new Error("no seed gives a fuse filter of these keys");
    }
  }

  /** The bytes of the filter with so many bits of each key. */
  bytes(bits: number): number {
    return Math.ceil((this.#slots.length * bits) / 8);
  }

  /** The most bits of a filter of so many bytes; 0 where none is so small. */
  bitsWithin(bytes: number): number {
    return Math.min(MAX_BITS, Math.floor((8 * bytes) / this.#slots.length));
  }

  has(key: Uint8Array, bits: number): boolean {
    const { low, high } = this.#hash.reset().extend(key, 0, key.length).finish();
    this.#place(low, high);
    const [a, b, c] = this.#places;
    const found = this.#slots[a] ^ this.#slots[b] ^ this.#slots[c];
    return (found ^ this.#fingerprint) << (MAX_BITS - bits) === 0;
  }

  #place(low: number, high: number): void {
    const length = this.#segmentLength;
    const first = mix(low ^ Math.imul(this.#seed + 1, 0x9e3779b1)) ^ high;
    const second = mix(Math.imul(high, 0x9e3779b1) + low + this.#seed);
    const third = mix(Math.imul(low, 0x85ebca77) ^ (high + Math.imul(this.#seed, 0xc2b2ae3d)));
    const start = scale(first, this.#segments * length);
    this.#places[0] = start;
    this.#places[1] = (start + length) ^ (second & (length - 1));
    this.#places[2] = (start + 2 * length) ^ (third & (length - 1));
    this.#fingerprint = mix(low + Math.imul(high, 0x27d4eb2f));
  }

  /** Takes away keys that are alone in a slot until none is left, and fills slots in reverse. */
  #fill(low: Uint32Array, high: Uint32Array): boolean {
    const counts = new Uint32Array(this.#slots.length);
    const sums = new Uint32Array(this.#slots.length);
    for (let i = 0; i < low.length; i++) this.#toggle(low, high, i, counts, sums, 1);
    const alone: number[] = [];
    counts.forEach((count, slot) => {
      if (count === 1) alone.push(slot);
    });
    const order: number[] = [];
    for (let slot = alone.pop(); slot !== undefined; slot = alone.pop()) {
      if (counts[slot] !== 1) continue;
      const key = sums[slot];
      order.push(key, slot);
      this.#toggle(low, high, key, counts, sums, -1);
      for (const other of this.#places) if (counts[other] === 1) alone.push(other);
    }
    if (order.length < 2 * low.length) return false;
    this.#slots.fill(0);
    for (let at = order.length - 2; at >= 0; at -= 2) {
      this.#place(low[order[at]], high[order[at]]);
      const [a, b, c] = this.#places;
      this.#slots[order[at + 1]] = 0;
      this.#slots[order[at + 1]] =
        this.#fingerprint ^ this.#slots[a] ^ this.#slots[b] ^ this.#slots[c];
    }
    return true;
  }

  #toggle(
    low: Uint32Array,
    high: Uint32Array,
    key: number,
    counts: Uint32Array,
    sums: Uint32Array,
    by: number,
  ): void {
    this.#place(low[key], high[key]);
    for (const slot of this.#places) {
      counts[slot] += by;
      sums[slot] ^= key;
    }
  }
}
