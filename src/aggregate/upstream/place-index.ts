const WAYS = 8;

/**
 * Where things lie, by a hash of 32 bits: a table of fixed size, in groups of eight.
 *
 * Places are numbers that only grow. In a full group the lowest, which is the oldest, is forgotten;
 * places below a floor count as forgotten, so that many can be given up at once.
 */
export class PlaceIndex {
  readonly #hashes: Uint32Array;
  /** One more than the place, 0 for none. */
  readonly #places: Float64Array;
  readonly #mask: number;

  /** @param count How many places there may be; some more are kept. */
  constructor(count: number) {
    const slots = 2 ** Math.ceil(Math.log2(Math.max(2 * WAYS, count * 1.5)));
    this.#hashes = new Uint32Array(slots);
    this.#places = new Float64Array(slots);
    this.#mask = slots - WAYS;
  }

  find(hash: number, floor: number): number | undefined {
    const slot = this.#slotOf(hash);
    if (slot === -1) return undefined;
    const place = this.#places[slot] - 1;
    return place < floor ? undefined : place;
  }

  set(hash: number, place: number): void {
    let slot = this.#slotOf(hash);
    if (slot === -1) {
      const first = hash & this.#mask;
      slot = first;
      for (let at = first + 1; at < first + WAYS; at++) {
        if (this.#places[at] < this.#places[slot]) slot = at;
      }
    }
    this.#hashes[slot] = hash;
    this.#places[slot] = place + 1;
  }

  delete(hash: number): void {
    const slot = this.#slotOf(hash);
    if (slot !== -1) this.#places[slot] = 0;
  }

  #slotOf(hash: number): number {
    const first = hash & this.#mask;
    for (let at = first; at < first + WAYS; at++) {
      if (this.#hashes[at] === hash && this.#places[at] > 0) return at;
    }
    return -1;
  }
}
