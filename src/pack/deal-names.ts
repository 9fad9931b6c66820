import { bitsOf } from "../packed/name-hash.ts";
import { MAX_BITS, scale } from "../packed/ribbon.ts";
import { type FilterWriter, type ShardNames, shardsOf } from "./filter-writer.ts";
import { hostOfName, kindOfName, NAME_WORDS, type NameLog } from "./name-log.ts";

/**
 * The width of names by their kind, in eighths of a bit: one for each host, or one for all. Kinds without a width have no place in a filter.
 */
export type NameWidths = readonly (Uint8Array | number)[];

/** The bits of a name; 0 for none. */
function nameBits(widths: NameWidths, high: number, word: number): number {
  const ofKind = widths[kindOfName(word)];
  return bitsOf(typeof ofKind === "number" ? ofKind : ofKind[hostOfName(word)], high);
}

/** Adds to `counts` the numbers of names of a partition with 0, 1, 2 … bits. */
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

/**
 * Distributes names to the shards of filters by their number of bits. Partitions must be added in order, so
 * that shards fill in order, too, and only the last shard of a filter must wait for the next partition.
 */
export class NameDealer {
  readonly #names: NameLog;
  readonly #widths: NameWidths;
  readonly #filters: readonly FilterWriter[];
  /** Filters by their bits, -1 for none. */
  readonly #filterOf: Int32Array = new Int32Array(MAX_BITS + 1).fill(-1);
  /** For each filter, names of a shard that continues in the next partition. */
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
    const { partitions } = this.#names;
    const start = (partition * 2 ** 32) / partitions;
    const end = ((partition + 1) * 2 ** 32) / partitions;
    for (const [i, names] of this.#byFilter(partition).entries()) {
      const filter = this.#filters[i];
      const { shards } = filter;
      const waiting = this.#waiting[i];
      let shard = scale(start, shards);
      const last = scale(end - 1, shards);
      const goesOn = end < 2 ** 32 && scale(end, shards) === last;
      for (const own of shardsOf(names, shards, shard, last)) {
        waiting.push(own);
        if (shard < last || !goesOn) filter.add(joined(waiting.splice(0)));
        shard++;
      }
    }
  }

  /** The names of a partition that each filter has. */
  #byFilter(partition: number): ShardNames[] {
    const chunks = [...this.#names.namesOf(partition)];
    const room = chunks.reduce((sum, { length }) => sum + length / NAME_WORDS, 0);
    const dealt = this.#filters.map(() => ({
      count: 0,
      low: new Uint32Array(room),
      high: new Uint32Array(room),
    }));
    for (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += NAME_WORDS) {
        const filter = this.#filterOf[nameBits(this.#widths, chunk[at + 1], chunk[at + 2])];
        if (filter === -1) continue;
        const names = dealt[filter];
        names.low[names.count] = chunk[at];
        names.high[names.count++] = chunk[at + 1];
      }
    }
    return dealt.map(({ low, high, count }) => ({
      low: low.subarray(0, count),
      high: high.subarray(0, count),
    }));
  }
}

/** Joins the names of a shard from several partitions. */
function joined(parts: readonly ShardNames[]): ShardNames {
  if (parts.length === 1) return parts[0];
  const [low, high] = (["low", "high"] as const).map((column) => {
    const whole = new Uint32Array(parts.reduce((sum, part) => sum + part[column].length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part[column], at);
      at += part[column].length;
    }
    return whole;
  });
  return { low, high };
}
