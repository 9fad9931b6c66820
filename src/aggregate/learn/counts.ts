import { LRUCache } from "lru-cache";

/** Rows of numbers: some of the row itself, then the same number for each archive. */
export interface Table {
  readonly data: Float32Array;
  /** Numbers per row, and per archive in it. */
  readonly own: number;
  readonly each: number;
}

/** A table of one row. */
export function rowOf(archives: number, each: number, own: number = 0): Table {
  return { data: new Float32Array(own + archives * each), own, each };
}

/** A table with rows by key and bounded memory. The least recently used row is evicted. */
class KeyedTable<Key extends string | number> implements Table {
  readonly data: Float32Array;
  readonly own: number;
  readonly each: number;
  readonly capacity: number;
  readonly #width: number;
  readonly #rows: LRUCache<Key, number>;

  /** @param options.keyBytes of a row besides its numbers. */
  constructor(
    archives: number,
    options: Pick<Table, "own" | "each"> & { readonly bytes: number; readonly keyBytes: number },
  ) {
    const { own, each, bytes, keyBytes } = options;
    this.own = own;
    this.each = each;
    this.#width = own + each * archives;
    this.capacity = Math.max(16, Math.floor(bytes / (4 * this.#width + keyBytes)));
    this.data = new Float32Array(this.capacity * this.#width);
    this.#rows = new LRUCache({ max: this.capacity });
  }

  /** The least recently used first. */
  get keys(): Key[] {
    return [...this.#rows.rkeys()];
  }

  /** The row of a key, marked as used, or -1. */
  find(key: Key): number {
    return this.#rows.get(key) ?? -1;
  }

  /** A new row for a key without one. */
  enter(key: Key): number {
    const { size } = this.#rows;
    const row = size < this.capacity ? size : (this.#rows.pop() ?? 0);
    this.#rows.set(key, row);
    this.data.fill(0, row * this.#width, (row + 1) * this.#width);
    return row;
  }

  /** Where the numbers of a row start, or those of an archive in it. */
  at(row: number, archive?: number): number {
    const start = row * this.#width;
    return archive === undefined ? start : start + this.own + archive * this.each;
  }

  /** The rows in use, in the order of {@link keys}. */
  inUse(): Table {
    const { own, each } = this;
    const data = new Float32Array(this.#rows.size * this.#width);
    for (const [place, key] of this.keys.entries()) {
      const start = this.at(this.#rows.peek(key) ?? 0);
      data.set(this.data.subarray(start, start + this.#width), place * this.#width);
    }
    return { data, own, each };
  }
}

/** Counts are halved at this size, so that recent answers weigh more. */
const MAX_ASKED = 4096;
/** Bytes of a key: its text and the index. */
const PREFIX_BYTES = 150;

/** Answers by key prefix: queries and hits of each archive; each row also counts its lookups. */
export class PrefixCounts extends KeyedTable<string> {
  constructor(archives: number, bytes: number) {
    super(archives, { own: 1, each: 2, bytes, keyBytes: PREFIX_BYTES });
  }

  /** A new row; the key is copied, as a substring would keep the whole text in memory. */
  override enter(prefix: string): number {
    return super.enter(decoder.decode(encoder.encode(prefix)));
  }

  asked(row: number, archive: number): number {
    return this.data[this.at(row, archive)];
  }

  hits(row: number, archive: number): number {
    return this.data[this.at(row, archive) + 1];
  }

  add(row: number, archive: number, asked: number, hits: number): void {
    const { data } = this;
    const at = this.at(row, archive);
    if (data[at] >= MAX_ASKED) {
      data[at] /= 2;
      data[at + 1] /= 2;
    }
    data[at] += asked;
    data[at + 1] += hits;
  }
}

/** An archive's last answer for an original. */
export const KNOWN = { nothing: 0, miss: 1, hit: 2 } as const;

const ORIGINAL_BYTES = 60;
const DAY = 1;

/** The last answer of each archive for originals, by their hashes. Each row also has its lookups and the last day. */
export class Answers extends KeyedTable<number> {
  constructor(archives: number, bytes: number) {
    super(archives, { own: 2, each: 1, bytes, keyBytes: ORIGINAL_BYTES });
  }

  /** One of {@link KNOWN}. */
  of(row: number, archive: number): number {
    return this.data[this.at(row, archive)];
  }

  note(row: number, archive: number, isHit: boolean, day: number): void {
    this.data[this.at(row, archive)] = isHit ? KNOWN.hit : KNOWN.miss;
    this.data[this.at(row) + DAY] = day;
  }

  /** Days since the last answer. */
  age(row: number, day: number): number {
    return Math.max(0, day - this.data[this.at(row) + DAY]);
  }
}

/** A 53-bit hash of a text, unpredictable without the seed. */
export function hashOf(text: string, seed: number): number {
  let first = 0xdeadbeef ^ seed;
  let second = 0x41c6ce57 ^ Math.imul(seed, 0x9e3779b1);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    first = Math.imul(first ^ unit, 0x9e3779b1);
    second = Math.imul(second ^ unit, 0x5f356495);
    second ^= first >>> 15;
  }
  first =
    Math.imul(first ^ (first >>> 16), 0x85ebca6b) ^ Math.imul(second ^ (second >>> 13), 0xc2b2ae35);
  second =
    Math.imul(second ^ (second >>> 16), 0x85ebca6b) ^ Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return 2 ** 32 * (second & 0x1fffff) + (first >>> 0);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
