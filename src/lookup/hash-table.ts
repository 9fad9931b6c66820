const MASKS = Int32Array.of(0, 0xff, 0xffff, 0xffffff);

/**
 * The hash of what `seed` is the hash of and `view[start, start + length)`, four bytes at a time; never 0.
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

/** The bytes from `at` on, of which there are three at most. */
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

/** Entries that are put into a table together, so that the processor waits for all of their places at once. */
const WAITING = 256;

/**
 * From hashes to numbers, which stand side by side: a look takes one line of the cache. At most half
 * full: 16 to 32 bytes an entry.
 */
export class HashTable {
  /** A hash, or 0 where there is none, and its number, for each place. */
  places: Int32Array;
  mask: number;
  count = 0;
  readonly #waiting = new Int32Array(2 * WAITING);
  #waitingCount = 0;

  constructor(expected: number) {
    let capacity = 64;
    while (capacity < 2 * expected) capacity *= 2;
    this.places = new Int32Array(2 * capacity);
    this.mask = capacity - 1;
  }

  /** Adds an entry. It is found after {@link settle}. */
  add(hash: number, value: number): void {
    const waiting = this.#waiting;
    waiting[2 * this.#waitingCount] = hash;
    waiting[2 * this.#waitingCount + 1] = value;
    if (++this.#waitingCount === WAITING) this.settle();
  }

  settle(): void {
    const waiting = this.#waiting;
    const count = this.#waitingCount;
    this.#waitingCount = 0;
    this.count += count;
    while (2 * this.count > this.mask + 1) this.#grow();
    const { places, mask } = this;
    for (let i = 0; i < count; i++) insert(places, mask, waiting[2 * i], waiting[2 * i + 1]);
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
