import { bitsOf, fingerprint, shardOf } from "./name-hash.ts";
import { crc32, cut, damaged, type PackedHead } from "./packed-file.ts";
import { MAX_BITS, ribbonValue } from "./ribbon.ts";

/** A name is not in a filter. */
export const ABSENT = -1;
/** The shard of a name must be loaded first: `missingShard`. */
export const UNLOADED = -2;

/** Numbers of a shard: its first word, its slots, its seed, its checksum, and 1 if it is loaded. */
const SHARD = 5;
const SHARD_CRC = 3;
const SHARD_IS_LOADED = 4;

/** Where the filters are among the sets of names: rows at their bits, and hosts behind them. */
const HOSTS = MAX_BITS + 1;
/** Numbers of a set: its first shard, how many it has, and the bits of a slot. */
const SET = 3;
/** Sets are in front of the shards. */
const FIRST_SHARD = (HOSTS + 1) * SET;

/**
 * The filters of a packed map: sets of names, by their hashes.
 *
 * Holds a buffer of the size of the file, of which only the shards that were asked for take memory.
 * A shard is checked when it is loaded.
 */
export class Filters {
  /** The shard that was missing. */
  missingShard = -1;

  readonly #source: string;
  readonly #dataStart: number;
  readonly #words: Uint32Array;
  /** Sets of names, and the shards that they are in. */
  readonly #tables: Int32Array;
  readonly #voids: Uint32Array;
  readonly #fingerprintBits: number;

  /** @param data all of the data; if it is not given, {@link load} brings the shards. */
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

  /** The value of a host behind its fingerprint; ABSENT or UNLOADED. */
  host(low: number, high: number): number {
    return this.#value(HOSTS, low, high, this.#fingerprintBits);
  }

  /** Not negative if a row of this width is there; ABSENT or UNLOADED. */
  row(low: number, high: number, width: number): number {
    const bits = bitsOf(width, high);
    return bits === 0 ? 0 : this.#value(bits, low, high, bits);
  }

  /** Whether a name is a void. They are in the head, so nothing is missing. */
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

  /** Where the bytes of a shard are in the file. */
  extent(shard: number): { readonly offset: number; readonly length: number } {
    const at = FIRST_SHARD + shard * SHARD;
    const words = this.#tables[at] >>> 0;
    const isLast = at + SHARD === this.#tables.length;
    const next = isLast ? this.#words.length : this.#tables[at + SHARD] >>> 0;
    return { offset: this.#dataStart + 4 * words, length: 4 * (next - words) };
  }

  /** Takes the bytes of a shard. @throws MM_BAD_INPUT where they are not what was written; MM_CUT */
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

  /** What a set gives a name, if it may be in it; else ABSENT or UNLOADED. */
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
