import { fingerprint } from "../packed/name-hash.ts";
import { crc32 } from "../packed/packed-file.ts";
import {
  buildRibbon,
  MAX_BITS,
  type Ribbon,
  type RibbonEntries,
  ribbonValue,
} from "../packed/ribbon.ts";
import {
  DealtNames,
  type FilterPlan,
  nameBits,
  type NameWidths,
  type ShardNames,
} from "./dealt-names.ts";
import { type ListKind, listOf, NAME_WORDS, type NameLogPart, namesOf } from "./name-log.ts";

/** The names of a map. */
export interface MapNames {
  readonly partitionBits: number;
  /** Those of its parts, and the number of the first host of each. */
  readonly parts: readonly { readonly names: NameLogPart; readonly firstHost: number }[];
}

/** Names that are put into filters of the same kind. */
export interface NameSelection {
  readonly kind: ListKind;
  readonly widths: NameWidths;
}

/** Shards of one filter that follow each other, as they are written. */
export interface ShardRun {
  readonly filter: number;
  readonly first: number;
  readonly slots: Uint32Array;
  readonly seeds: Uint32Array;
  readonly crcs: Uint32Array;
  readonly words: Uint32Array<ArrayBuffer>;
}

export interface BuiltPartition {
  readonly runs: readonly ShardRun[];
  /** Names of shards that reach into other partitions. */
  readonly pieces: readonly ShardNames[];
}

/** Builds shards. */
export class ShardBuilder {
  /** How many names of a partition have 0, 1, 2 … bits. */
  count(names: MapNames, partition: number, selections: readonly NameSelection[]): number[] {
    const counts = Array.from({ length: MAX_BITS + 1 }, () => 0);
    for (const { kind, widths } of selections) {
      for (const [own, firstHost] of chunksOf(names, kind, partition)) {
        for (let at = 0; at < own.length; at += NAME_WORDS) {
          counts[nameBits(widths, own[at + 1], own[at + 2], firstHost)]++;
        }
      }
    }
    return counts;
  }

  /**
   * Builds the shards of a partition, and asks each for all of its names.
   *
   * Holds the names of the partition, and the shards.
   */
  build(
    names: MapNames,
    partition: number,
    selections: readonly NameSelection[],
    filters: readonly FilterPlan[],
  ): BuiltPartition {
    const dealt = new DealtNames(filters, names.partitionBits, partition);
    for (const { kind, widths } of selections) {
      for (const [own, firstHost] of chunksOf(names, kind, partition)) {
        dealt.add(own, widths, firstHost);
      }
    }
    const runs: ShardRun[] = [];
    const pieces: ShardNames[] = [];
    for (const [i, shards] of [...dealt.shards()].entries()) {
      const { bits } = filters[i];
      const whole = shards.filter(({ isWhole }) => isWhole);
      if (whole.length > 0) {
        runs.push(
          this.solve(
            whole.map((shard) => shard.names),
            bits,
            bits,
          ),
        );
      }
      for (const { names: own, isWhole } of shards) {
        if (!isWhole) pieces.push({ ...own, low: own.low.slice(), high: own.high.slice() });
      }
    }
    return { runs, pieces };
  }

  /**
   * Makes ribbons of shards that follow each other, and asks each for all of its names.
   *
   * @param checkedBits how many bits of a slot are of the fingerprint; those above are of the value.
   */
  solve(shards: readonly ShardNames[], bits: number, checkedBits: number): ShardRun {
    const ribbons = shards.map((names) => {
      return askedRibbon(entriesOf(names, checkedBits), bits);
    });
    const [{ filter, shard: first }] = shards;
    return {
      filter,
      first,
      slots: Uint32Array.from(ribbons, ({ slots }) => slots),
      seeds: Uint32Array.from(ribbons, ({ seed }) => seed),
      crcs: Uint32Array.from(ribbons, ({ words }) =>
        crc32(new Uint8Array(words.buffer), 0, words.byteLength),
      ),
      words: joinWords(ribbons.map(({ words }) => words)),
    };
  }
}

/** The names of a list, and the number of the first host of the part that they are from. */
function* chunksOf(
  { parts, partitionBits }: MapNames,
  kind: ListKind,
  partition: number,
): Generator<readonly [names: Uint32Array, firstHost: number], void, undefined> {
  const list = listOf(kind, partitionBits, partition);
  for (const { names, firstHost } of parts) {
    for (const chunk of namesOf(names, list)) yield [chunk, firstHost];
  }
}

function entriesOf({ low, high, values }: ShardNames, checkedBits: number): RibbonEntries {
  const count = low.length;
  const mask = checkedBits === 32 ? -1 : (1 << checkedBits) - 1;
  const own = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const kept = values === undefined || checkedBits === 32 ? 0 : values[i] << checkedBits;
    own[i] = (fingerprint(low[i], high[i]) & mask) | kept;
  }
  return { count, low, high, values: own };
}

/** Makes a ribbon, and asks it for every name, as readers do. */
function askedRibbon(entries: RibbonEntries, bits: number): Ribbon {
  const ribbon = buildRibbon(entries, bits);
  const { count, low, high, values } = entries;
  const place = Int32Array.of(0, ribbon.slots, ribbon.seed);
  for (let i = 0; i < count; i++) {
    const value = ribbonValue(ribbon.words, place, 0, bits, low[i], high[i], bits, values[i]);
    if (value !== 0) throw new Error("a held name is not found in its shard");
  }
  return ribbon;
}

/** Joins arrays. */
export function joinWords(parts: readonly Uint32Array[]): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
