/**
 * A Bloom filter over keys, the rival of a map (Klein et al., 2022): it says present of everything
 * that was added, and of a share of all else that depends on the bits for each key.
 *
 * Holds its bits.
 */
export class BloomFilter {
  /** Hash functions: the number that gives the fewest false positives. */
  readonly #hashes: number;
  readonly #bits: Uint8Array;

  /** @param keys how many will be added */
  constructor(bytes: number, keys: number) {
    this.#bits = new Uint8Array(Math.max(1, bytes));
    const bits = this.#bits.length * 8;
    this.#hashes = Math.max(1, Math.round((bits / Math.max(1, keys)) * Math.LN2));
  }

  add(key: Uint8Array): void {
    for (const bit of this.#bitsOf(key)) this.#bits[Math.floor(bit / 8)] |= 1 << (bit % 8);
  }

  has(key: Uint8Array): boolean {
    for (const bit of this.#bitsOf(key)) {
      if ((this.#bits[Math.floor(bit / 8)] & (1 << (bit % 8))) === 0) return false;
    }
    return true;
  }

  *#bitsOf(key: Uint8Array): Generator<number, void, undefined> {
    const [first, step] = twoHashes(key);
    const size = this.#bits.length * 8;
    for (let i = 0; i < this.#hashes; i++) yield (first + i * step) % size;
  }
}

/** Two independent hashes of 32 bits; all others follow from them (Kirsch and Mitzenmacher). */
function twoHashes(key: Uint8Array): readonly [number, number] {
  let a = 0x811c9dc5 | 0;
  let b = 0x9747b28c | 0;
  for (let i = 0; i < key.length; i++) {
    a = Math.imul(a ^ key[i], 0x01000193);
    b = Math.imul((b << 5) ^ (b >>> 27) ^ key[i], 0x5bd1e995);
  }
  return [mixed(a), (mixed(b) | 1) >>> 0];
}

function mixed(hash: number): number {
  let value = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
