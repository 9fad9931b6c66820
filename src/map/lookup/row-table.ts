/**
 * A polynomial hash of key bytes, modulo 2^32.
 *
 * Unlike the hashes that mix harder, it extends: the hash of every prefix of a key falls out of one
 * pass over the key, and the hash of `prefix + suffix` follows from the two. That is what asks for
 * all wildcards above a URI at the price of hashing the URI once. `finishHash` adds the mixing that
 * a table needs.
 */
const MULTIPLIER: number = 0x9e3779b1 | 0;

/**
 * The hash of no bytes. Not 0, so that leading NULs count; a 32-bit integer like all that follow
 * from it, because a number above 2^31 would make the loops work on floating point.
 */
export const EMPTY_HASH: number = 0x811c9dc5 | 0;

/** The hash of what `hash` stands for, followed by one byte. */
export function extendHash(hash: number, byte: number): number {
  return (Math.imul(hash, MULTIPLIER) + byte) | 0;
}

/** The hash of what `hash` stands for, followed by `bytes[start, end)`. */
export function extendHashRange(
  hash: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): number {
  let extended = hash;
  for (let at = start; at < end; at++) extended = (Math.imul(extended, MULTIPLIER) + bytes[at]) | 0;
  return extended;
}

/** Spreads a hash over all bits; never 0, which marks an empty place of a table. */
export function finishHash(hash: number): number {
  let mixed = hash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  mixed = (mixed ^ (mixed >>> 16)) >>> 0;
  return mixed === 0 ? 1 : mixed;
}

const MAX_LOAD = 0.5;
/** New keys wait until there are this many. */
const WAITING_KEYS = 512;

/**
 * A hash table from keys to the offsets of their rows; the keys themselves stay in the map's bytes.
 *
 * Open addressing, hash and offset side by side, so that a miss costs one cache line. Eight bytes a
 * place, 16 to 32 bytes a key.
 *
 * New keys are put into their places many at a time: each is a cache miss, and a processor waits
 * for many of those at once if little else is between them.
 */
export class RowTable {
  #places: Uint32Array;
  #mask: number;
  /** Keys in the table, those that wait included. */
  #count = 0;
  readonly #waitingHashes = new Int32Array(WAITING_KEYS);
  readonly #waitingOffsets = new Uint32Array(WAITING_KEYS);
  #waiting = 0;

  constructor(expectedKeys: number) {
    let capacity = 16;
    while (capacity * MAX_LOAD < expectedKeys) capacity *= 2;
    this.#places = new Uint32Array(capacity * 2);
    this.#mask = capacity - 1;
  }

  get count(): number {
    return this.#count;
  }

  /** The number of places, empty ones included. */
  get capacity(): number {
    return this.#mask + 1;
  }

  /** The finished hash of the key at a place, or 0 where there is none. */
  finishedHash(place: number): number {
    return this.#places[2 * place];
  }

  /** The first place whose key has this hash, or -1. Check the key, then try `next`. */
  first(hash: number): number {
    const finished = finishHash(hash);
    return this.#probe(finished, finished & this.#mask);
  }

  /** The place after `place` whose key has the same hash, or -1. */
  next(place: number): number {
    return this.#probe(this.#places[2 * place], (place + 1) & this.#mask);
  }

  /** The offset stored at a place. */
  offset(place: number): number {
    return this.#places[2 * place + 1];
  }

  /** Adds a key that is not in the table; it is found only after {@link settle}. */
  add(hash: number, offset: number): void {
    if (this.#waiting === WAITING_KEYS) this.settle();
    this.#waitingHashes[this.#waiting] = hash;
    this.#waitingOffsets[this.#waiting++] = offset;
    this.#count++;
  }

  /** Puts the keys that wait into their places. */
  settle(): void {
    while (this.#count > (this.#mask + 1) * MAX_LOAD) this.#grow();
    const places = this.#places;
    const mask = this.#mask;
    for (let i = 0; i < this.#waiting; i++) {
      insert(places, mask, finishHash(this.#waitingHashes[i]), this.#waitingOffsets[i]);
    }
    this.#waiting = 0;
  }

  #probe(finished: number, from: number): number {
    const places = this.#places;
    let place = from;
    for (;;) {
      const found = places[2 * place];
      if (found === finished) return place;
      if (found === 0) return -1;
      place = (place + 1) & this.#mask;
    }
  }

  #grow(): void {
    const old = this.#places;
    this.#places = new Uint32Array(old.length * 2);
    this.#mask = this.#mask * 2 + 1;
    for (let at = 0; at < old.length; at += 2) {
      if (old[at] !== 0) insert(this.#places, this.#mask, old[at], old[at + 1]);
    }
  }
}

function insert(places: Uint32Array, mask: number, finished: number, offset: number): void {
  let place = finished & mask;
  while (places[2 * place] !== 0) place = (place + 1) & mask;
  places[2 * place] = finished;
  places[2 * place + 1] = offset;
}
