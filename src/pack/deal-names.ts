import { bitsOf, shardOf } from "../packed/name-hash.ts";
import { MAX_BITS, scale } from "../packed/ribbon.ts";
import type { FilterWriter, ShardNames } from "./filter-writer.ts";
import { hostOfName, kindOfName, NAME_WORDS, type NameLog, OPAQUE_HOST } from "./name-log.ts";

/**
 * The width of names by their kind, in eighths of a bit: for each host one, the last for keys without a host, or
 * one for all. Kinds without a width have no place in a filter.
 */
export type NameWidths = readonly (Uint8Array | number)[];

/** The bits of a name; 0 for none. */
function nameBits(widths: NameWidths, high: number, word: number): number {
  const ofKind = widths[kindOfName(word)];
  if (typeof ofKind === "number") return bitsOf(ofKind, high);
  const host = hostOfName(word);
  return bitsOf(ofKind[host === OPAQUE_HOST ? ofKind.length - 1 : host], high);
}

/** How many names of a partition have 0, 1, 2 … bits; added to `counts`. */
export function countBits(
  names: NameLog,
  partition: number,
  widths: NameWidths,
  counts: Float64Array,
): void {
  for (const chunk of names.namesOf(partition)) {
    for (let at = 0; at < chunk.length; at += NAME_WORDS) {
      counts[nameBits(widths, chunk[at + 1], chunk[at + 2])]++;
    }
  }
}

/** The shards of a filter that have names in a partition, and whether the next one has names of the last. */
interface Extent {
  readonly first: number;
  readonly last: number;
  readonly goesOn: boolean;
}

const NOWHERE = 2 ** 32 - 1;

/**
 * Deals names out to the shards of filters, each for the names of some bits. Partitions must come in their
 * order; so do the shards of a filter then, and only the last one must wait for the next partition.
 */
export class NameDealer {
  readonly #names: NameLog;
  readonly #widths: NameWidths;
  readonly #filters: readonly FilterWriter[];
  /** Filters by their bits, -1 for none. */
  readonly #filterOf: Int32Array = new Int32Array(MAX_BITS + 1).fill(-1);
  /** For each filter, names of a shard that had others in the partition before. */
  readonly #waiting: ShardNames[][];

  constructor(names: NameLog, widths: NameWidths, filters: readonly FilterWriter[]) {
    this.#names = names;
    this.#widths = widths;
    this.#filters = filters;
    this.#waiting = filters.map(() => []);
    filters.forEach(({ bits }, i) => (this.#filterOf[bits] = i));
  }

  /** Builds the shards whose names are complete with those of a partition. */
  deal(partition: number): void {
    const extents = this.#filters.map((filter) => this.#extentOf(filter, partition));
    // The places of shards: those of the first filter, those of the second …
    let places = 0;
    const firstPlaces = extents.map(({ first, last }) => {
      const place = places - first;
      places += last - first + 1;
      return place;
    });
    const { low, high, starts } = this.#sorted(partition, firstPlaces, places);
    for (const [i, { first, last, goesOn }] of extents.entries()) {
      const waiting = this.#waiting[i];
      for (let shard = first; shard <= last; shard++) {
        const [from, to] = [starts[firstPlaces[i] + shard], starts[firstPlaces[i] + shard + 1]];
        waiting.push({ low: low.subarray(from, to), high: high.subarray(from, to) });
        if (shard < last || !goesOn) this.#filters[i].add(joined(waiting.splice(0)));
      }
    }
  }

  #extentOf({ shards }: FilterWriter, partition: number): Extent {
    const start = (partition * 2 ** 32) / this.#names.partitions;
    const end = ((partition + 1) * 2 ** 32) / this.#names.partitions;
    const last = scale(end - 1, shards);
    const goesOn = end < 2 ** 32 && scale(end, shards) === last;
    return { first: scale(start, shards), last, goesOn };
  }

  /** The names of a partition, put in the order of their places, and where those of each place begin. */
  #sorted(
    partition: number,
    firstPlaces: readonly number[],
    places: number,
  ): { low: Uint32Array; high: Uint32Array; starts: Uint32Array } {
    const filterOf = this.#filterOf;
    const shardCounts = this.#filters.map(({ shards }) => shards);
    const starts = new Uint32Array(places + 1);
    const chunks = Array.from(this.#names.namesOf(partition), (names) => {
      const placeOf = new Uint32Array(names.length / NAME_WORDS);
      for (let i = 0, at = 0; i < placeOf.length; i++, at += NAME_WORDS) {
        const filter = filterOf[nameBits(this.#widths, names[at + 1], names[at + 2])];
        placeOf[i] =
          filter === -1 ? NOWHERE : firstPlaces[filter] + shardOf(names[at], shardCounts[filter]);
        if (filter !== -1) starts[placeOf[i] + 1]++;
      }
      return { names, placeOf };
    });
    for (let place = 0; place < places; place++) starts[place + 1] += starts[place];
    const next = starts.slice();
    const [low, high] = [new Uint32Array(starts[places]), new Uint32Array(starts[places])];
    for (const { names, placeOf } of chunks) {
      for (let i = 0; i < placeOf.length; i++) {
        if (placeOf[i] === NOWHERE) continue;
        const at = next[placeOf[i]]++;
        low[at] = names[NAME_WORDS * i];
        high[at] = names[NAME_WORDS * i + 1];
      }
    }
    return { low, high, starts };
  }
}

function joined(parts: readonly ShardNames[]): ShardNames {
  if (parts.length === 1) return parts[0];
  const join = (column: "low" | "high"): Uint32Array => {
    const whole = new Uint32Array(parts.reduce((sum, part) => sum + part[column].length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part[column], at);
      at += part[column].length;
    }
    return whole;
  };
  return { low: join("low"), high: join("high") };
}
