const MASKS = Int32Array.of(0, 0xff, 0xffff, 0xffffff);

/**
 * Extends the hash `seed` by `view[start, start + length)`, four bytes at a time; never 0.
 */
export function hashOf(view: DataView, start: number, length: number, seed: number): number {
  let hash = seed ^ Math.imul(length, 0x9e3779b1);
  let at = start;
  const end = start + (length & ~3);
  for (; at < end; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at, true), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  const rest = length & 3;
  if (rest !== 0) {
    const last = at + 4 <= view.byteLength ? view.getInt32(at, true) : lastBytes(view, at);
    hash = Math.imul(hash ^ (last & MASKS[rest]), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  hash ^= hash >>> 16;
  return hash === 0 ? 1 : hash;
}

/** The bytes from `at` to the end: three at most. */
function lastBytes(view: DataView, at: number): number {
  let value = 0;
  for (let i = view.byteLength - 1; i >= at; i--) value = (value << 8) | view.getUint8(i);
  return value;
}

/** Whether two ranges of the same length are equal. */
export function sameBytes(
  a: DataView,
  aStart: number,
  b: DataView,
  bStart: number,
  length: number,
): boolean {
  let i = 0;
  while (i + 4 <= length && a.getInt32(aStart + i, true) === b.getInt32(bStart + i, true)) i += 4;
  while (i < length && a.getUint8(aStart + i) === b.getUint8(bStart + i)) i++;
  return i === length;
}

/** Entries inserted together, so that their cache misses overlap. */
const BATCH = 256;

/**
 * Maps hashes to numbers. Each pair is stored side by side, so that a probe touches one cache line. At
 * most half full: 16 to 32 bytes an entry.
 */
export class HashTable {
  /** For each place a hash, or 0 if the place is free, and its number. */
  places: Int32Array;
  mask: number;
  count = 0;
  readonly #pending = new Int32Array(2 * BATCH);
  #pendingCount = 0;

  constructor(expected: number) {
    let capacity = 64;
    while (capacity < 2 * expected) capacity *= 2;
    this.places = new Int32Array(2 * capacity);
    this.mask = capacity - 1;
  }

  /** Queues an entry; it is found after {@link flush}. */
  add(hash: number, value: number): void {
    const pending = this.#pending;
    pending[2 * this.#pendingCount] = hash;
    pending[2 * this.#pendingCount + 1] = value;
    if (++this.#pendingCount === BATCH) this.flush();
  }

  flush(): void {
    const pending = this.#pending;
    const count = this.#pendingCount;
    this.#pendingCount = 0;
    this.count += count;
    while (2 * this.count > this.mask + 1) this.#grow();
    const { places, mask } = this;
    for (let i = 0; i < count; i++) insert(places, mask, pending[2 * i], pending[2 * i + 1]);
  }

  #grow(): void {
    const old = this.places;
    this.mask = 2 * this.mask + 1;
    this.places = new Int32Array(2 * (this.mask + 1));
    for (let at = 0; at < old.length; at += 2) {
      if (old[at] !== 0) insert(this.places, this.mask, old[at], old[at + 1]);
    }
  }
}

function insert(places: Int32Array, mask: number, hash: number, value: number): void {
  let place = hash & mask;
  while (places[2 * place] !== 0) place = (place + 1) & mask;
  places[2 * place] = hash;
  places[2 * place + 1] = value;
}
