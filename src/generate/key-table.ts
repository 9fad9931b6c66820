import { compareRanges, copyRange, hashRange } from "../bytes/bytes.ts";
import { sortKeys } from "../bytes/sort-keys.ts";

/** What a key costs besides its bytes: start, count, hash, place in a lane, two hash slots. */
const ENTRY_BYTES = 4 + 8 + 4 + 4 + 8;

/** Fraction of the memory for the bytes of keys; web keys are about 55 bytes long. */
const ARENA_SHARE = 0.65;

const FIRST_SLOTS = 1 << 10;
/** Maximum load of the slots in use. */
const MAX_LOAD = 0.6;

const NONE = -1;

/** Keys in order, with their counts. */
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

  /** The ordered lane grows from the front, the keys that went aside from the back. */
  readonly #lanes: Uint32Array;
  #orderedSize = 0;
  /** The end of the ordered lane, or NONE at the start of a run. */
  #last = NONE;
  /** The keys that are prefixes of the last key of the ordered lane, shortest first, including itself. */
  readonly #prefixes: number[] = [];
  /** Indexes into the ordered lane where a new run of increasing keys begins. */
  #runs: number[] = [];

  #asideSize = 0;
  /** The hashes of the keys set aside, in that order. */
  readonly #hashes: Uint32Array;
  /**
   * By hash, the place + 1 of a key in that order; 0 is free. Only the first slots are in use while
   * there are few such keys: a large table would take a page of memory for each of them.
   */
  readonly #slots: Uint32Array;
  #slotMask = FIRST_SLOTS - 1;

  /** @param memoryBytes maximum memory of the table; pages are touched only as it fills. */
  constructor(memoryBytes: number) {
    const arenaBytes = Math.max(1 << 16, Math.floor(memoryBytes * ARENA_SHARE));
    this.#maxKeys = Math.max(1 << 10, Math.floor((memoryBytes - arenaBytes) / ENTRY_BYTES));
    this.#arena = new Uint8Array(arenaBytes);
    this.#starts = new Uint32Array(this.#maxKeys + 1);
    this.#counts = new Float64Array(this.#maxKeys);
    this.#lanes = new Uint32Array(this.#maxKeys);
    this.#hashes = new Uint32Array(this.#maxKeys);
    this.#slots = new Uint32Array(1 << Math.ceil(Math.log2(this.#maxKeys * 1.5)));
  }

  get size(): number {
    return this.#size;
  }

  /** Total length of all keys. */
  get keyBytes(): number {
    return this.#arenaEnd;
  }

  /** Starts a run, such as a new file: the following keys need not sort after earlier ones. */
  startRun(): void {
    this.#last = NONE;
  }

  /** Adds `count` to the key that was added last. */
  repeat(count: number): void {
    this.#counts[this.#current] += count;
  }

  /**
   * Adds `count` to a key; false, with nothing done, when the table is full.
   */
  add(bytes: Uint8Array, start: number, end: number, count: number): boolean {
    const last = this.#last;
    if (last !== NONE) {
      const arena = this.#arena;
      const lastStart = this.#starts[last];
      const lastLength = this.#starts[last + 1] - lastStart;
      const length = end - start;
      const limit = length < lastLength ? length : lastLength;
      let i = 0;
      while (i < limit && bytes[start + i] === arena[lastStart + i]) i++;
      const order = i < limit ? bytes[start + i] - arena[lastStart + i] : length - lastLength;
      if (order === 0) {
        this.#counts[last] += count;
        this.#current = last;
        return true;
      }
      if (order < 0) {
        if (i === length && this.#addToPrefix(length, count)) return true;
        return this.#addAside(bytes, start, end, count);
      }
      this.#forgetPrefixes(i);
    }
    const id = this.#append(bytes, start, end, count);
    if (id === NONE) return false;
    if (last === NONE) {
      this.#runs.push(this.#orderedSize);
      this.#prefixes.length = 0;
    }
    this.#lanes[this.#orderedSize++] = id;
    this.#last = id;
    this.#prefixes.push(id);
    return true;
  }

  /**
   * Adds to a key that is a prefix of the last one, if it was seen before.
   *
   * Most out-of-order keys of a sorted index are such prefixes: `/a?x` comes after `/a/b`, and its key is
   * `/a`.
   */
  #addToPrefix(length: number, count: number): boolean {
    const starts = this.#starts;
    for (let i = this.#prefixes.length - 1; i >= 0; i--) {
      const id = this.#prefixes[i];
      const prefixLength = starts[id + 1] - starts[id];
      if (prefixLength > length) continue;
      if (prefixLength < length) return false;
      this.#counts[id] += count;
      this.#current = id;
      return true;
    }
    return false;
  }

  /** Drops the prefixes of the last key that the next one, which shares `shared` bytes, lacks. */
  #forgetPrefixes(shared: number): void {
    const starts = this.#starts;
    const prefixes = this.#prefixes;
    while (prefixes.length > 0) {
      const id = prefixes[prefixes.length - 1];
      if (starts[id + 1] - starts[id] <= shared) return;
      prefixes.pop();
    }
  }

  #addAside(bytes: Uint8Array, start: number, end: number, count: number): boolean {
    const hash = hashRange(bytes, start, end);
    const slots = this.#slots;
    let slot = hash & this.#slotMask;
    for (; slots[slot] !== 0; slot = (slot + 1) & this.#slotMask) {
      const place = slots[slot] - 1;
      if (this.#hashes[place] !== hash) continue;
      const id = this.#lanes[this.#maxKeys - 1 - place];
      if (this.#equals(id, bytes, start, end)) {
        this.#counts[id] += count;
        this.#current = id;
        return true;
      }
    }
    const id = this.#append(bytes, start, end, count);
    if (id === NONE) return false;
    const place = this.#asideSize++;
    this.#lanes[this.#maxKeys - 1 - place] = id;
    this.#hashes[place] = hash;
    slots[slot] = place + 1;
    if (this.#asideSize > this.#slotMask * MAX_LOAD) this.#useMoreSlots();
    return true;
  }

  #useMoreSlots(): void {
    const slots = this.#slots;
    const size = Math.min((this.#slotMask + 1) * 4, slots.length);
    const mask = size - 1;
    if (mask === this.#slotMask) return;
    this.#slotMask = mask;
    slots.fill(0, 0, size);
    for (let place = 0; place < this.#asideSize; place++) {
      let slot = this.#hashes[place] & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = place + 1;
    }
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

  /** Hands the keys to `take`, sorted in the table's own memory, and empties the table. */
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
    this.#prefixes.length = 0;
    this.#runs = [];
    if (this.#asideSize > 0) this.#slots.fill(0, 0, this.#slotMask + 1);
    this.#asideSize = 0;
  }

  #sortedIds(): Uint32Array {
    const lanes: Uint32Array[] = [];
    let from = 0;
    for (const to of [...this.#runs.slice(1), this.#orderedSize]) {
      // Consecutive runs that are in order, such as parts of one sorted file, form one lane.
      const goesOn =
        to < this.#orderedSize && this.#compare(this.#lanes[to - 1], this.#lanes[to]) < 0;
      if (goesOn) continue;
      if (to > from) lanes.push(this.#lanes.subarray(from, to));
      from = to;
    }
    // Parts of one sorted file that were read from its end follow each other only now.
    lanes.sort((a, b) => this.#compare(a[0], b[0]));
    const ordered = this.#mergeLanes(lanes);
    if (this.#asideSize === 0) return ordered;
    // Last, because it may be by far the longest: each merge makes a copy.
    const aside = this.#lanes.subarray(this.#maxKeys - this.#asideSize);
    sortKeys(aside, this.#arena, this.#starts);
    return ordered.length === 0 ? aside : this.#mergeTwo(ordered, aside);
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
      merged[n++] = order <= 0 ? a[i++] : b[j++];
    }
    const rest = i < a.length ? a.subarray(i) : b.subarray(j);
    merged.set(rest, n);
    return merged.subarray(0, n + rest.length);
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

/** Default memory of a run of the program. */
export const DEFAULT_MEMORY_BYTES: number = 512 * 2 ** 20;
/** Memory of Node itself, and of each thread besides its table. */
const BASE_BYTES = 72 * 2 ** 20;
const THREAD_BYTES = 40 * 2 ** 20;
/** Additional memory if threads decompress: streams, and chunks not yet garbage-collected. */
const INFLATE_BYTES = 32 * 2 ** 20;
const MIN_TABLE_BYTES = 4 * 2 ** 20;

/** The number of threads that fit in memory; at least one. */
export function threadsWithin(memoryBytes: number, threads: number): number {
  const each = THREAD_BYTES + INFLATE_BYTES + MIN_TABLE_BYTES;
  return Math.max(1, Math.min(threads, Math.floor((memoryBytes - BASE_BYTES) / each)));
}

/** The maximum size of each thread's key table so that the process stays within its memory. */
export function tableBytes(
  memoryBytes: number,
  threads: number,
  inflates: boolean = false,
): number {
  const threadBytes = THREAD_BYTES + (inflates ? INFLATE_BYTES : 0);
  const left = memoryBytes - BASE_BYTES - threads * threadBytes;
  return Math.max(MIN_TABLE_BYTES, Math.min(Math.floor(left / threads), 2 ** 31));
}
