import { fingerprint, shardOf } from "../packed/name-hash.ts";
import { crc32, type Filter, type Shard } from "../packed/packed-file.ts";
import { buildRibbon, ribbonValue } from "../packed/ribbon.ts";

/** Names of one shard. */
export interface ShardNames {
  readonly low: Uint32Array;
  readonly high: Uint32Array;
  /** What is kept with each name; undefined in filters of rows. */
  readonly values?: Uint32Array | undefined;
}

/** Deals names out to shards of a filter, from one to another, and gives those of each. */
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

/** Names of a shard: small ones need the fewest slots for each, and are fetched alone. */
export const SHARD_NAMES = 8192;

/** A filter of a packed map while its shards are built, one after the other. */
export class FilterWriter implements Filter {
  readonly kind: Filter["kind"];
  readonly bits: number;
  readonly shards: number;
  /** The words of the shards that are there. */
  readonly words: Uint32Array[] = [];
  readonly #checkedBits: number;
  /** Names that are to come. */
  #left: number;
  readonly #directory: Omit<Shard, "words">[] = [];

  /** @param checkedBits how many bits of a slot are of the fingerprint; those above are of the value. */
  constructor(kind: Filter["kind"], names: number, bits: number, checkedBits: number = bits) {
    this.kind = kind;
    this.bits = bits;
    this.shards = Math.max(1, Math.round(names / SHARD_NAMES));
    this.#checkedBits = checkedBits;
    this.#left = names;
  }

  /** Builds the next shard, and looks up all of its names in it. */
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

  /** The entries of the shards in the directory of a file, where the first one begins at `start`. */
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
