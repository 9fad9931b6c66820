import { compareRanges } from "../bytes/compare.ts";
import { copyRange } from "../bytes/copy.ts";
import { hashRange } from "../bytes/hash.ts";
import { sortKeys } from "./sort-keys.ts";

/** What a key costs besides its bytes: start, count, hash, place in a lane, two hash slots. */
const ENTRY_BYTES = 4 + 8 + 4 + 4 + 8;

/** Share of the memory that goes to the bytes of keys; web keys are about 55 bytes long. */
const ARENA_SHARE = 0.65;

const NONE = -1;

/** Takes the sorted content of a full table. */
export interface SortedKeys {
  /** Calls back for every key in byte order, once each, with its count. */
  forEach(visit: (arena: Uint8Array, start: number, end: number, count: number) => void): void;
  readonly size: number;
}

/**
 * Counts keys within a fixed amount of memory, and gives them back sorted.
 *
 * Index files are mostly sorted already. So there are two lanes. A key that comes after the last
 * one joins the *ordered lane*: it needs no hash and no sort. Any other key goes *aside*, to a hash
 * table that is sorted at the end. Sorted input costs one comparison a key, unsorted input works
 * all the same, and the result is the same for both.
 */
export class KeyTable {
  readonly #arena: Uint8Array;
  readonly #starts: Uint32Array;
  readonly #counts: Float64Array;
  readonly #maxKeys: number;
  #size = 0;
  #arenaEnd = 0;
  /** The key added last, for `repeat`. */
  #current = NONE;

  readonly #ordered: Uint32Array;
  #orderedSize = 0;
  /** The end of the ordered lane, or NONE at the start of a run. */
  #last = NONE;
  /** Indexes into the ordered lane where a new run of increasing keys begins. */
  #runs: number[] = [];

  readonly #hashes: Uint32Array;
  /** Key id + 1 by hash; 0 is free. */
  readonly #slots: Uint32Array;
  readonly #slotMask: number;
  #asideSize = 0;

  /** @param memoryBytes all that the table may hold; pages are touched only as it fills. */
  constructor(memoryBytes: number) {
    const arenaBytes = Math.max(1 << 16, Math.floor(memoryBytes * ARENA_SHARE));
    this.#maxKeys = Math.max(1 << 10, Math.floor((memoryBytes - arenaBytes) / ENTRY_BYTES));
    this.#arena = new Uint8Array(arenaBytes);
    this.#starts = new Uint32Array(this.#maxKeys + 1);
    this.#counts = new Float64Array(this.#maxKeys);
    this.#ordered = new Uint32Array(this.#maxKeys);
    this.#hashes = new Uint32Array(this.#maxKeys);
    const slots = 1 << Math.ceil(Math.log2(this.#maxKeys * 1.5));
    this.#slots = new Uint32Array(slots);
    this.#slotMask = slots - 1;
  }

  get size(): number {
    return this.#size;
  }

  /** Says that what follows need not come after what was added so far: a new file, say. */
  startRun(): void {
    this.#last = NONE;
  }

  /** Adds `count` to the key that was added last. */
  repeat(count: number): void {
    this.#counts[this.#current] += count;
  }

  /** Adds `count` to a key; false, with nothing done, when the table is full. */
  add(bytes: Uint8Array, start: number, end: number, count: number): boolean {
    const last = this.#last;
    if (last !== NONE) {
      const arena = this.#arena;
      const lastStart = this.#starts[last];
      const lastLength = this.#starts[last + 1] - lastStart;
      const length = end - start;
      const shared = length < lastLength ? length : lastLength;
      let i = 0;
      while (i < shared && bytes[start + i] === arena[lastStart + i]) i++;
      const order = i < shared ? bytes[start + i] - arena[lastStart + i] : length - lastLength;
      if (order === 0) {
        this.#counts[last] += count;
        this.#current = last;
        return true;
      }
      if (order < 0) return this.#addAside(bytes, start, end, count);
    }
    const id = this.#append(bytes, start, end, count);
    if (id === NONE) return false;
    if (last === NONE) this.#runs.push(this.#orderedSize);
    this.#ordered[this.#orderedSize++] = id;
    this.#last = id;
    return true;
  }

  #addAside(bytes: Uint8Array, start: number, end: number, count: number): boolean {
    const hash = hashRange(bytes, start, end);
    const slots = this.#slots;
    const mask = this.#slotMask;
    let slot = hash & mask;
    for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const id = slots[slot] - 1;
      if (this.#hashes[id] === hash && this.#equals(id, bytes, start, end)) {
        this.#counts[id] += count;
        this.#current = id;
        return true;
      }
    }
    const id = this.#append(bytes, start, end, count);
    if (id === NONE) return false;
    this.#hashes[id] = hash;
    slots[slot] = id + 1;
    this.#asideSize++;
    return true;
  }

  #append(bytes: Uint8Array, start: number, end: number, count: number): number {
    const id = this.#size;
    const at = this.#arenaEnd;
    if (id === this.#maxKeys || at + (end - start) > this.#arena.length) return NONE;
    this.#starts[id] = at;
    this.#arenaEnd = copyRange(bytes, start, end, this.#arena, at);
    this.#starts[id + 1] = this.#arenaEnd;
    this.#counts[id] = count;
    this.#size = id + 1;
    this.#current = id;
    return id;
  }

  #equals(id: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.#starts[id];
    const length = this.#starts[id + 1] - from;
    if (length !== end - start) return false;
    const arena = this.#arena;
    for (let i = 0; i < length; i++) if (arena[from + i] !== bytes[start + i]) return false;
    return true;
  }

  /** Gives the keys sorted, hands them to `take`, and empties the table. */
  drain(take: (keys: SortedKeys) => void): void {
    const order = this.#sortedIds();
    const [arena, starts, counts] = [this.#arena, this.#starts, this.#counts];
    take({
      size: order.length,
      forEach(visit) {
        for (const id of order) visit(arena, starts[id], starts[id + 1], counts[id]);
      },
    });
    this.#clear();
  }

  #clear(): void {
    this.#size = 0;
    this.#arenaEnd = 0;
    this.#current = NONE;
    this.#orderedSize = 0;
    this.#last = NONE;
    this.#runs = [];
    if (this.#asideSize > 0) this.#slots.fill(0);
    this.#asideSize = 0;
  }

  #sortedIds(): Uint32Array {
    const lanes: Uint32Array[] = [];
    for (const [i, from] of this.#runs.entries()) {
      const to = this.#runs[i + 1] ?? this.#orderedSize;
      lanes.push(this.#ordered.subarray(from, to));
    }
    if (this.#asideSize > 0) lanes.push(this.#sortedAside());
    return this.#mergeLanes(lanes);
  }

  #sortedAside(): Uint32Array {
    const aside = new Uint32Array(this.#asideSize);
    let n = 0;
    for (const slot of this.#slots) if (slot !== 0) aside[n++] = slot - 1;
    sortKeys(aside, this.#arena, this.#starts);
    return aside;
  }

  /** Merges sorted lanes pairwise; the counts of a key in both go to one of them. */
  #mergeLanes(lanes: Uint32Array[]): Uint32Array {
    let level = lanes;
    while (level.length > 1) {
      const next: Uint32Array[] = [];
      for (let i = 0; i < level.length; i += 2) {
        const second = level[i + 1];
        next.push(second === undefined ? level[i] : this.#mergeTwo(level[i], second));
      }
      level = next;
    }
    return level[0] ?? new Uint32Array(0);
  }

  #mergeTwo(a: Uint32Array, b: Uint32Array): Uint32Array {
    const merged = new Uint32Array(a.length + b.length);
    if (this.#compare(a[a.length - 1], b[0]) < 0) {
      merged.set(a);
      merged.set(b, a.length);
      return merged;
    }
    let [i, j, n] = [0, 0, 0];
    while (i < a.length && j < b.length) {
      const order = this.#compare(a[i], b[j]);
      if (order === 0) this.#counts[a[i]] += this.#counts[b[j++]];
      else merged[n++] = order < 0 ? a[i++] : b[j++];
    }
    while (i < a.length) merged[n++] = a[i++];
    while (j < b.length) merged[n++] = b[j++];
    return merged.subarray(0, n);
  }

  #compare(a: number, b: number): number {
    const starts = this.#starts;
    return compareRanges(
      this.#arena,
      starts[a],
      starts[a + 1],
      this.#arena,
      starts[b],
      starts[b + 1],
    );
  }
}
