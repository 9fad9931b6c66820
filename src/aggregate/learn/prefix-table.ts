/** How full a table may be: beyond that, searches get long. */
const MOST_LOAD = 0.8;
/** What is left when a full table is cleared up. */
const LOAD_AFTER = 0.5;
const SAMPLES = 1024;

/**
 * Entries by hashes of 64 bits, in a fixed amount of memory: open addressing with linear probing.
 *
 * When it is full, the entries of least worth make room. What an entry holds is in arrays of its
 * owner, by the number of its slot; `move` copies it and `clear` empties it.
 */
export class PrefixTable {
  readonly capacity: number;
  readonly highs: Uint32Array;
  readonly lows: Uint32Array;
  size = 0;
  readonly #owner: SlotOwner;
  #clearUps = 0;

  constructor(capacity: number, owner: SlotOwner) {
    this.capacity = Math.max(16, Math.floor(capacity));
    this.highs = new Uint32Array(this.capacity);
    this.lows = new Uint32Array(this.capacity);
    this.#owner = owner;
  }

  /** The slot of an entry, or -1. */
  find(high: number, low: number): number {
    const { highs, lows, capacity } = this;
    let slot = this.#home(low);
    for (;;) {
      const there = highs[slot];
      if (there === 0) return -1;
      if (there === high && lows[slot] === low) return slot;
      slot = slot + 1 === capacity ? 0 : slot + 1;
    }
  }

  /** The slot of an entry, which is new where there was none. Slots that are known may change. */
  obtain(high: number, low: number): number {
    const found = this.find(high, low);
    if (found >= 0) return found;
    if (this.isFull) this.#clearUp();
    const { highs, lows, capacity } = this;
    let slot = this.#home(low);
    while (highs[slot] !== 0) slot = slot + 1 === capacity ? 0 : slot + 1;
    highs[slot] = high;
    lows[slot] = low;
    this.size++;
    this.#owner.clear(slot);
    return slot;
  }

  /** Whether the next `obtain` of a new entry moves others. */
  get isFull(): boolean {
    return this.size >= this.capacity * MOST_LOAD;
  }

  reset(): void {
    this.highs.fill(0);
    this.size = 0;
  }

  #home(low: number): number {
    return Math.floor((low * this.capacity) / 0x1_0000_0000);
  }

  /**
   * Drops the entries of least worth: those below a quantile of a sample. Of those that are worth as much,
   * some are dropped by chance, others each time: in all parts of the table alike, because a part that stayed
   * full would become one cluster, and searches in it long.
   */
  #clearUp(): void {
    const { capacity, highs } = this;
    const worths: number[] = [];
    const step = Math.max(1, Math.floor(capacity / SAMPLES));
    for (let slot = 0; slot < capacity; slot += step) {
      if (highs[slot] !== 0) worths.push(this.#owner.worth(slot));
    }
    worths.sort((a, b) => a - b);
    const wanted = worths.length * (1 - LOAD_AFTER / MOST_LOAD);
    const limit = worths[Math.floor(wanted)];
    const less = worths.indexOf(limit);
    const share = (wanted - less) / (worths.lastIndexOf(limit) + 1 - less);
    const round = Math.imul(++this.#clearUps, 0x9e3779b1);
    const chance = (slot: number): number =>
      (Math.imul(highs[slot] ^ round, 0x85ebca6b) >>> 0) / 2 ** 32;
    this.#drop((slot, worth) => worth < limit || (worth === limit && chance(slot) < share));
    // Of a few entries, none may go by chance.
    if (this.isFull) this.#drop(() => this.size > capacity * LOAD_AFTER);
  }

  #drop(isDropped: (slot: number, worth: number) => boolean): void {
    const { capacity, highs } = this;
    for (let slot = 0; slot < capacity; slot++) {
      while (highs[slot] !== 0 && isDropped(slot, this.#owner.worth(slot))) this.#remove(slot);
    }
  }

  /** Moves what stands behind it forward, so that searches still find it. */
  #remove(slot: number): void {
    const { highs, lows, capacity } = this;
    this.size--;
    let hole = slot;
    let next = slot;
    for (;;) {
      next = next + 1 === capacity ? 0 : next + 1;
      if (highs[next] === 0) break;
      const home = this.#home(lows[next]);
      const isBetween = hole <= next ? hole < home && home <= next : hole < home || home <= next;
      if (isBetween) continue;
      highs[hole] = highs[next];
      lows[hole] = lows[next];
      this.#owner.move(next, hole);
      hole = next;
    }
    highs[hole] = 0;
  }
}

/** Whose arrays the slots of a table belong to. */
export interface SlotOwner {
  /** Empties a slot. */
  clear(slot: number): void;
  /** Copies what is in a slot to another. */
  move(from: number, to: number): void;
  /** How much an entry is worth; the least go first. */
  worth(slot: number): number;
}
