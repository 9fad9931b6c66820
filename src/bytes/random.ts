/**
 * A small seeded random number generator (sfc32): the same seed gives the same numbers everywhere.
 *
 * Not for secrets. Streams with different labels of one seed are independent, so that one part of a
 * sample can change without affecting the others.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number, label: string = "") {
    let hash = 0x811c9dc5 ^ seed;
    for (let i = 0; i < label.length; i++) {
      hash = Math.imul(hash ^ label.charCodeAt(i), 0x01000193);
    }
    this.#a = seed | 0;
    this.#b = Math.floor(seed / 0x1_0000_0000) | 0;
    this.#c = hash;
    for (let i = 0; i < 12; i++) this.uint32();
  }

  /** A whole number from 0 to 2^32 - 1. */
  uint32(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** A number in [0, 1). */
  real(): number {
    return this.uint32() / 0x1_0000_0000;
  }

  /** A whole number in [0, limit), for limits far below 2^32. */
  below(limit: number): number {
    return Math.floor(this.real() * limit);
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.real() < probability;
  }

  /** One of the values (there must be one), uniformly distributed. */
  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)];
  }
}
