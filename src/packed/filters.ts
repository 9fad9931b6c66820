import { bitsOf, fingerprint, shardOf } from "./name-hash.ts";
import { crc32, cut, damaged, type PackedHead } from "./packed-file.ts";
import { MAX_BITS, ribbonValue } from "./ribbon.ts";

/** The name is not in the filter. */
export const ABSENT = -1;
/** The shard of the name must be loaded first: `missingShard`. */
export const UNLOADED = -2;

/** Fields of a shard: first word, slots, seed, checksum, and 1 if it is loaded. */
const SHARD = 5;
const SHARD_CRC = 3;
const SHARD_IS_LOADED = 4;

/** Index of the set of hosts; sets of rows are indexed by their bits. */
const HOSTS = MAX_BITS + 1;
/** Fields of a set: first shard, number of shards, and bits per slot. */
const SET = 3;
/** Shards are stored after the sets. */
const FIRST_SHARD = (HOSTS + 1) * SET;

/**
 * The filters of a packed map: sets of names, by their hashes.
 *
 * Reserves a buffer of the size of the file; only shards that were loaded take memory. A shard is checked
 * when it is loaded.
 */
export class Filters {
  /** The shard missing from the last query. */
  missingShard = -1;

  readonly #source: string;
  readonly #dataStart: number;
  readonly #words: Uint32Array;
  /** Sets of names, then their shards. */
  readonly #tables: Int32Array;
  readonly #voids: Uint32Array;
  readonly #fingerprintBits: number;

  /** @param data all of the data; without it, shards are added by {@link load}. */
  constructor(
    { header, shards, voids, dataStart, end }: PackedHead,
    source: string,
    data?: Uint32Array,
  ) {
    this.#voids = voids;
    this.#source = source;
    this.#dataStart = dataStart;
    this.#words = data ?? new Uint32Array((end - dataStart) / 4);
    this.#tables = new Int32Array(FIRST_SHARD + shards.length * SHARD);
    shards.forEach(({ words, slots, seed, crc }, i) => {
      this.#tables.set([words, slots, seed, crc], FIRST_SHARD + i * SHARD);
    });
    this.#fingerprintBits = header.table.fingerprint;
    let firstShard = 0;
    for (const { kind, bits, shards: count } of header.filters) {
      this.#tables.set([firstShard, count, bits], (kind === "hosts" ? HOSTS : bits) * SET);
      firstShard += count;
    }
    if (data !== undefined) for (let i = 0; i < firstShard; i++) this.#check(i);
  }

  /** The value of a host, without its fingerprint; ABSENT or UNLOADED. */
  host(low: number, high: number): number {
    return this.#value(HOSTS, low, high, this.#fingerprintBits);
  }

  /** Not negative if there may be a row of this width; else ABSENT or UNLOADED. */
  row(low: number, high: number, width: number): number {
    const bits = bitsOf(width, high);
    return bits === 0 ? 0 : this.#value(bits, low, high, bits);
  }

  /** Whether a name is a void. Voids are in the head, so they are always loaded. */
  isVoid(low: number, high: number): boolean {
    const voids = this.#voids;
    const wanted = low >>> 0;
    let from = 0;
    let to = voids.length >>> 1;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (voids[2 * middle] < wanted) from = middle + 1;
      else to = middle;
    }
    for (; voids[2 * from] === wanted; from++) {
      if (voids[2 * from + 1] === high >>> 0) return true;
    }
    return false;
  }

  get shardCount(): number {
    return (this.#tables.length - FIRST_SHARD) / SHARD;
  }

  /** The range of a shard in the file. */
  extent(shard: number): { readonly offset: number; readonly length: number } {
    const at = FIRST_SHARD + shard * SHARD;
    const words = this.#tables[at] >>> 0;
    const isLast = at + SHARD === this.#tables.length;
    const next = isLast ? this.#words.length : this.#tables[at + SHARD] >>> 0;
    return { offset: this.#dataStart + 4 * words, length: 4 * (next - words) };
  }

  /** Adds the bytes of a shard. @throws MM_BAD_INPUT if they are damaged; MM_CUT */
  load(shard: number, bytes: Uint8Array): void {
    const own = this.#bytesOf(shard);
    if (bytes.length !== own.length) throw cut(this.#source);
    own.set(bytes);
    this.#check(shard);
  }

  #check(shard: number): void {
    const bytes = this.#bytesOf(shard);
    const at = FIRST_SHARD + shard * SHARD;
    if (crc32(bytes, 0, bytes.length) !== this.#tables[at + SHARD_CRC] >>> 0) {
      throw damaged(`shard ${shard}`, this.#source);
    }
    this.#tables[at + SHARD_IS_LOADED] = 1;
  }

  #bytesOf(shard: number): Uint8Array {
    const { offset, length } = this.extent(shard);
    const start = this.#words.byteOffset + offset - this.#dataStart;
    return new Uint8Array(this.#words.buffer, start, length);
  }

  /** The value of a name, if it may be in the set; else ABSENT or UNLOADED. */
  #value(set: number, low: number, high: number, checkedBits: number): number {
    const tables = this.#tables;
    const shardCount = tables[set * SET + 1];
    if (shardCount === 0) return ABSENT;
    const shard = tables[set * SET] + shardOf(low, shardCount);
    const at = FIRST_SHARD + SHARD * shard;
    if (tables[at + SHARD_IS_LOADED] === 0) {
      this.missingShard = shard;
      return UNLOADED;
    }
    const bits = tables[set * SET + 2];
    const check = fingerprint(low, high);
    return ribbonValue(this.#words, tables, at, bits, low, high, checkedBits, check);
  }
}
