/** How full a table may be: beyond that, searches get long. */
const MOST_LOAD = 0.8;
/** From here on room is made, a few slots with each new entry. */
const HIGH_LOAD = 0.78;
/** What is left of it then. */
const LOAD_AFTER = 0.5;
/** Slots that are looked at with each new entry: room is made long before the table is full. */
const SWEPT = 64;
const SAMPLES = 1024;

/** Where the epoch of an entry is, in halves of words; the half behind it is the owner's. */
export const EPOCH = 2;
/** Words of a record that are the table's. */
export const OWN_WORDS = 2;

/**
 * Records by hashes of 64 bits, in a fixed amount of memory: open addressing with linear probing.
 *
 * All that is known of an entry stands together, so that it costs few cache lines: the lower half of its
 * hash, the epoch in which it was entered, and words of the owner, which are 0 at first. Upper halves stand
 * in an array of their own, so that a search goes along few lines, too.
 *
 * Entries of least worth make room for others: once the table is nearly full, a few slots are looked at with
 * each new entry, until all were.
 */
export class PrefixTable {
  readonly capacity: number;
  /** The words of a record. */
  readonly width: number;
  /** The upper halves of hashes; 0 where there is no entry. */
  readonly highs: Uint32Array;
  /** The records, and the same memory in other types. */
  readonly words: Uint32Array;
  readonly floats: Float32Array;
  readonly halves: Uint16Array;
  readonly bytes: Uint8Array;
  /** The epoch of entries that are new. */
  epoch = 0;
  size = 0;
  /** How often entries changed their slots. */
  moves = 0;
  /** Of no use but that compilers do not leave out what reads it. */
  touched = 0;
  readonly #worth: (slot: number) => number;
  readonly #slotsPerHash: number;
  /** The next slot to be looked at, and how many are left. */
  #hand = 0;
  #left = 0;
  #sweeps = 0;
  /** Entries that are worth less are dropped, and this share of those that are worth as much. */
  #limit = 0;
  #share = 0;
  /** No more are dropped once there are so few. */
  #least = 0;

  /** @param worth how much the entry in a slot is worth; the least go first. */
  constructor(bytes: number, ownerWords: number, worth: (slot: number) => number) {
    this.width = OWN_WORDS + ownerWords;
    this.capacity = Math.max(16, Math.floor(bytes / (4 + 4 * this.width)));
    this.highs = new Uint32Array(this.capacity);
    this.words = new Uint32Array(this.capacity * this.width);
    this.floats = new Float32Array(this.words.buffer);
    this.halves = new Uint16Array(this.words.buffer);
    this.bytes = new Uint8Array(this.words.buffer);
    this.#worth = worth;
    this.#slotsPerHash = this.capacity / 0x1_0000_0000;
  }

  /** Reads where a search begins: done for several before any is searched, they are fetched side by side. */
  touch(low: number): void {
    this.touched ^= this.highs[(low * this.#slotsPerHash) | 0];
  }

  /** The slot of an entry, or -1. */
  find(high: number, low: number): number {
    const { highs, words, width, capacity } = this;
    let slot = (low * this.#slotsPerHash) | 0;
    for (;;) {
      const there = highs[slot];
      if (there === 0) return -1;
      if (there === high && words[slot * width] === low) return slot;
      slot = slot + 1 === capacity ? 0 : slot + 1;
    }
  }

  /** The slot of an entry, which is new where there was none. Others may get other slots: see {@link moves}. */
  obtain(high: number, low: number): number {
    const found = this.find(high, low);
    return found >= 0 ? found : this.enter(high, low);
  }

  /** The slot of an entry that is not there yet. Others may get other slots. */
  enter(high: number, low: number): number {
    if (this.#left > 0 || this.size >= this.capacity * HIGH_LOAD) this.#makeRoom();
    const { highs, capacity } = this;
    let slot = (low * this.#slotsPerHash) | 0;
    while (highs[slot] !== 0) slot = slot + 1 === capacity ? 0 : slot + 1;
    highs[slot] = high;
    const start = slot * this.width;
    this.words[start] = low;
    this.halves[start * 2 + EPOCH] = this.epoch;
    this.size++;
    return slot;
  }

  #makeRoom(): void {
    if (this.#left <= 0) this.#beginSweep();
    this.#sweep(SWEPT);
    if (this.size < this.capacity * MOST_LOAD) return;
    this.#sweep(this.#left);
    if (this.size < this.capacity * MOST_LOAD) return;
    // Of a few entries, none may go by chance.
    this.#limit = Infinity;
    this.#least = this.capacity * LOAD_AFTER;
    this.#sweep(this.capacity);
  }

  /**
   * Finds out what to drop: what is below a quantile of a sample. Of those that are worth as much, some are
   * dropped by chance, others each time: in all parts of the table alike, because a part that stayed full
   * would become one cluster, and searches in it long.
   */
  #beginSweep(): void {
    const { capacity, highs } = this;
    const worths: number[] = [];
    const step = Math.max(1, Math.floor(capacity / SAMPLES));
    for (let slot = 0; slot < capacity; slot += step) {
      if (highs[slot] !== 0) worths.push(this.#worth(slot));
    }
    worths.sort((a, b) => a - b);
    const wanted = worths.length * (1 - LOAD_AFTER / HIGH_LOAD);
    this.#limit = worths[Math.floor(wanted)];
    const less = worths.indexOf(this.#limit);
    this.#share = (wanted - less) / (worths.lastIndexOf(this.#limit) + 1 - less);
    this.#sweeps++;
    this.#least = 0;
    this.#left = capacity;
  }

  /**
   * Looks at some slots, and on up to one that is empty: what stood behind those that are dropped moves
   * forward, so that searches still find it.
   */
  #sweep(slots: number): void {
    const { highs, capacity } = this;
    let slot = this.#hand;
    let left = slots;
    for (; left > 0 || highs[slot] !== 0; left--) {
      if (highs[slot] !== 0) {
        if (this.size > this.#least && this.#isDropped(slot)) this.#drop(slot);
        else this.#settle(slot);
      }
      slot = slot + 1 === capacity ? 0 : slot + 1;
    }
    this.#hand = slot;
    this.#left -= slots - left;
  }

  #isDropped(slot: number): boolean {
    const worth = this.#worth(slot);
    if (worth !== this.#limit) return worth < this.#limit;
    const round = Math.imul(this.#sweeps, 0x9e3779b1);
    const chance = (Math.imul(this.highs[slot] ^ round, 0x85ebca6b) >>> 0) / 2 ** 32;
    return chance < this.#share;
  }

  #drop(slot: number): void {
    const { words, width } = this;
    this.size--;
    this.moves++;
    this.highs[slot] = 0;
    const start = slot * width;
    for (let at = start; at < start + width; at++) words[at] = 0;
  }

  /** Moves an entry to the first empty slot of those where it is searched. */
  #settle(slot: number): void {
    const { highs, words, width, capacity } = this;
    let to = (words[slot * width] * this.#slotsPerHash) | 0;
    while (to !== slot && highs[to] !== 0) to = to + 1 === capacity ? 0 : to + 1;
    if (to === slot) return;
    highs[to] = highs[slot];
    for (let i = 0; i < width; i++) words[to * width + i] = words[slot * width + i];
    this.#drop(slot);
    this.size++;
  }
}
