import { bitsOf, shardOf } from "../packed/name-hash.ts";
import { MAX_BITS, scale } from "../packed/ribbon.ts";
import { OPAQUE_HOST } from "./host-profiles.ts";
import { NAME_WORDS } from "./name-log.ts";

/** The width of names in eighths of a bit: one for all hosts, or one for each; those of 0 bits are left out. */
export type NameWidths = number | Uint8Array;

/** A set of names that is cut into shards. */
export interface FilterPlan {
  /** The number of the filter in the file. */
  readonly filter: number;
  /** Bits of a slot. */
  readonly bits: number;
  readonly shards: number;
}

/** Names of one shard. */
export interface ShardNames {
  readonly filter: number;
  readonly shard: number;
  readonly low: Uint32Array;
  readonly high: Uint32Array;
  /** What is kept with each name; undefined in filters of rows and voids. */
  readonly values?: Uint32Array | undefined;
}

/** The shards of a filter that have names in a partition. */
interface Extent {
  readonly first: number;
  readonly last: number;
  /** Whether all of the first and of the last shard is in the partition. */
  readonly isFirstWhole: boolean;
  readonly isLastWhole: boolean;
}

function extentOf(shards: number, partitionBits: number, partition: number): Extent {
  const start = partition * 2 ** (32 - partitionBits);
  const end = start + 2 ** (32 - partitionBits);
  const [first, last] = [scale(start, shards), scale(end - 1, shards)];
  return {
    first,
    last,
    isFirstWhole: start === 0 || scale(start - 1, shards) !== first,
    isLastWhole: end === 2 ** 32 || scale(end, shards) !== last,
  };
}

/** The bits of a name; hosts are counted from `firstHost` on. */
export function nameBits(
  widths: NameWidths,
  high: number,
  host: number,
  firstHost: number,
): number {
  if (typeof widths === "number") return bitsOf(widths, high);
  return bitsOf(widths[host === OPAQUE_HOST ? widths.length - 1 : firstHost + host], high);
}

const NOWHERE = 2 ** 32 - 1;

/** Deals the names of a partition out to the shards of filters. */
export class DealtNames {
  readonly #filters: readonly FilterPlan[];
  readonly #extents: readonly Extent[];
  /** Where the shards of each filter begin among those of all. */
  readonly #offsets: number[] = [];
  /** Filters by their bits, -1 for none. */
  readonly #filterOf: Int32Array = new Int32Array(MAX_BITS + 1).fill(-1);
  readonly #counts: Uint32Array;
  /** For each filter, how many shards it has, and the place that its shard 0 would have. */
  readonly #shards: Float64Array;
  readonly #firsts: Int32Array;
  readonly #added: { readonly names: Uint32Array; readonly places: Uint32Array }[] = [];

  constructor(filters: readonly FilterPlan[], partitionBits: number, partition: number) {
    this.#filters = filters;
    this.#extents = filters.map(({ shards }) => extentOf(shards, partitionBits, partition));
    let places = 0;
    filters.forEach(({ bits }, i) => {
      this.#filterOf[bits] = i;
      this.#offsets.push(places);
      places += this.#extents[i].last - this.#extents[i].first + 1;
    });
    this.#counts = new Uint32Array(places);
    this.#shards = Float64Array.from(filters, ({ shards }) => shards);
    this.#firsts = Int32Array.from(this.#offsets, (offset, i) => offset - this.#extents[i].first);
  }

  /** Takes names, each with the words of a name log; they must not change afterwards. */
  add(names: Uint32Array, widths: NameWidths, firstHost: number): void {
    const count = names.length / NAME_WORDS;
    const places = new Uint32Array(count);
    const [filterOf, counts] = [this.#filterOf, this.#counts];
    const [shards, firsts] = [this.#shards, this.#firsts];
    for (let i = 0, at = 0; i < count; i++, at += NAME_WORDS) {
      const filter = filterOf[nameBits(widths, names[at + 1], names[at + 2], firstHost)];
      if (filter === -1) {
        places[i] = NOWHERE;
        continue;
      }
      const place = firsts[filter] + shardOf(names[at], shards[filter]);
      places[i] = place;
      counts[place]++;
    }
    this.#added.push({ names, places });
  }

  /** For each filter its shards, in order; and whether all their names are in this partition. */
  *shards(): Generator<{ readonly names: ShardNames; readonly isWhole: boolean }[]> {
    const { length } = this.#counts;
    const starts = new Uint32Array(length + 1);
    for (let i = 0; i < length; i++) starts[i + 1] = starts[i] + this.#counts[i];
    const [low, high] = [new Uint32Array(starts[length]), new Uint32Array(starts[length])];
    const next = starts.slice();
    for (const { names, places } of this.#added) {
      for (let i = 0; i < places.length; i++) {
        if (places[i] === NOWHERE) continue;
        const at = next[places[i]]++;
        low[at] = names[NAME_WORDS * i];
        high[at] = names[NAME_WORDS * i + 1];
      }
    }
    for (const [i, { filter }] of this.#filters.entries()) {
      const { first, last, isFirstWhole, isLastWhole } = this.#extents[i];
      yield Array.from({ length: last - first + 1 }, (_, index) => {
        const shard = first + index;
        const [from, to] = [starts[this.#offsets[i] + index], starts[this.#offsets[i] + index + 1]];
        const names = { filter, shard, low: low.subarray(from, to), high: high.subarray(from, to) };
        const isWhole = (shard > first || isFirstWhole) && (shard < last || isLastWhole);
        return { names, isWhole };
      });
    }
  }
}
