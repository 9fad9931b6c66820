import { fingerprint, shardOf } from "../packed/name-hash.ts";
import { crc32, type Filter, type Shard } from "../packed/packed-file.ts";
import { buildRibbon, ribbonValue } from "../packed/ribbon.ts";

/** Names of one shard. */
export interface ShardNames {
  readonly low: Uint32Array;
  readonly high: Uint32Array;
  /** The value of each name; undefined in filters of rows. */
  readonly values?: Uint32Array | undefined;
}

/** Distributes names to a range of shards of a filter; yields the names of each shard. */
export function* shardsOf(
  { low, high, values }: ShardNames,
  shards: number,
  first: number = 0,
  last: number = shards - 1,
): Generator<ShardNames, void, undefined> {
  const count = low.length;
  const starts = new Uint32Array(last - first + 2);
  for (let i = 0; i < count; i++) starts[shardOf(low[i], shards) - first + 1]++;
  for (let i = 1; i < starts.length; i++) starts[i] += starts[i - 1];
  const next = starts.slice();
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[next[shardOf(low[i], shards) - first]++] = i;
  for (let shard = first; shard <= last; shard++) {
    const own = order.subarray(starts[shard - first], starts[shard - first + 1]);
    yield {
      low: own.map((name) => low[name]),
      high: own.map((name) => high[name]),
      values: values && own.map((name) => values[name]),
    };
  }
}

/** Names per shard: small shards need the fewest slots per name and are cheap to fetch. */
export const SHARD_NAMES = 8192;

/** A filter of a packed map while its shards are built, one after the other. */
export class FilterWriter implements Filter {
  readonly kind: Filter["kind"];
  readonly bits: number;
  readonly shards: number;
  /** The words of the shards built so far. */
  readonly words: Uint32Array[] = [];
  readonly #checkedBits: number;
  /** Names not yet added. */
  #left: number;
  readonly #directory: Omit<Shard, "words">[] = [];

  /** @param checkedBits fingerprint bits per slot; the bits above them are the value. */
  constructor(kind: Filter["kind"], names: number, bits: number, checkedBits: number = bits) {
    this.kind = kind;
    this.bits = bits;
    this.shards = Math.max(1, Math.round(names / SHARD_NAMES));
    this.#checkedBits = checkedBits;
    this.#left = names;
  }

  /** Builds the next shard and verifies it by looking up all of its names. */
  add({ low, high, values: kept }: ShardNames): void {
    const count = low.length;
    const { bits } = this;
    const checkedBits = this.#checkedBits;
    const mask = checkedBits === 32 ? -1 : (1 << checkedBits) - 1;
    const values = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      values[i] = fingerprint(low[i], high[i]) & mask;
      if (kept !== undefined && checkedBits < 32) values[i] |= kept[i] << checkedBits;
    }
    const { slots, seed, words } = buildRibbon({ count, low, high, values }, bits);
    const place = Int32Array.of(0, slots, seed);
    for (let i = 0; i < count; i++) {
      const found = ribbonValue(words, place, 0, bits, low[i], high[i], bits, values[i]);
      if (found !== 0) throw new Error("a held name is not found in its shard");
    }
    const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
    this.#directory.push({ slots, seed, crc: crc32(bytes, 0, bytes.length) });
    this.words.push(words);
    this.#left -= count;
  }

  /** The directory entries of the shards, the first of which begins at `start`. */
  directory(start: number): Shard[] {
    if (this.#left !== 0) throw new Error(`${this.#left} names are in no shard`);
    let at = start;
    return this.#directory.map((shard, i) => {
      const words = at;
      at += this.words[i].length;
      return { words, ...shard };
    });
  }
}
