import type { Bound } from "../../ukvs/frequency.ts";
import { readableName } from "../explore/key-node.ts";
import type { RowSums } from "../explore/row-sums.ts";
import type { OverlapTable } from "./overlap.ts";

/** What a map, or a part of it, adds up to. */
export interface ComparedSums {
  readonly rows: number;
  readonly captures: number;
  readonly bound: Bound;
  readonly voids: number;
  readonly wildcards: number;
  readonly wildcardCaptures: number;
}

interface ComparedMap extends ComparedSums {
  readonly id: string;
  /** What the map calls itself. */
  readonly name?: string;
  /** Top-level and registered domains of which it holds something. */
  readonly tlds: number;
  readonly domains: number;
}

/** Things that the same maps hold. */
export interface Combination {
  /** The maps that have rows for them. */
  readonly held: readonly string[];
  /** The maps that may hold them, too: a wildcard covers them. */
  readonly may: readonly string[];
  readonly count: number;
  /** Keys whose captures differ between the maps that hold them. */
  readonly differing: number;
  /** The captures of each map, in the order of `maps`. */
  readonly captures: readonly number[];
}

/** A top-level or registered domain. */
export interface ComparedDomain {
  /** As `explore` takes it: `com,example,`. */
  readonly prefix: string;
  /** For people: `*.example.com`. */
  readonly url: string;
  /** For each map. */
  readonly maps: readonly ComparedSums[];
  /** Keys of pages: all, those that more than one map holds, and those that only one holds, for each map. */
  readonly keys: number;
  readonly shared: number;
  readonly only: readonly number[];
  /** Of those that only one map holds: how many another may hold, too, as a wildcard covers them. */
  readonly onlyPerhaps: number;
}

/** A registered domain that only one map holds. */
export interface OnlyDomain {
  readonly prefix: string;
  readonly url: string;
  readonly captures: number;
  readonly rows: number;
  /** Maps whose wildcards above, such as `com,*`, cover it. */
  readonly may: readonly string[];
}

/** How the holdings of maps overlap and differ. */
export interface MapComparison {
  readonly maps: readonly ComparedMap[];
  /** Keys of pages, by the maps that hold them; most first. */
  readonly keys: { readonly count: number; readonly combinations: readonly Combination[] };
  /** Registered domains, in the same way. */
  readonly domains: { readonly count: number; readonly combinations: readonly Combination[] };
  /** Top-level domains with most captures. */
  readonly tlds: readonly ComparedDomain[];
  /** Registered domains with most captures. */
  readonly largest: readonly ComparedDomain[];
  /** Registered domains whose captures differ most. */
  readonly differing: readonly ComparedDomain[];
  /** For each map: the largest registered domains that no other has rows for. */
  readonly only: readonly { readonly map: string; readonly domains: readonly OnlyDomain[] }[];
}

/** Combinations listed at most: three maps have up to 19, eight have thousands. */
const MOST_COMBINATIONS = 200;

export function combinationsOf(table: OverlapTable, ids: readonly string[]): MapComparison["keys"] {
  const entries = table.entries().filter(({ held }) => held !== 0);
  const named = (bits: number): string[] => ids.filter((_, index) => (bits & (1 << index)) !== 0);
  const combinations = entries
    .map(({ held, may, numbers: [count = 0, differing = 0, ...captures] }) => ({
      held: named(held),
      may: named(may),
      count,
      differing,
      captures,
    }))
    .toSorted((a, b) => b.count - a.count);
  return {
    count: combinations.reduce((sum, { count }) => sum + count, 0),
    combinations: combinations.slice(0, MOST_COMBINATIONS),
  };
}

export function sumsOf(sums: RowSums): ComparedSums {
  const { rows, captures, bound, voids, wildcards, wildcardCaptures } = sums;
  return { rows, captures, bound, voids, wildcards, wildcardCaptures };
}

export function domainOf(
  text: string,
  sums: readonly RowSums[],
  table: OverlapTable,
): ComparedDomain {
  const only = sums.map(() => 0);
  let [keys, shared, onlyPerhaps] = [0, 0, 0];
  for (const { held, may, numbers } of table.entries()) {
    const [count = 0] = numbers;
    keys += count;
    if ((held & (held - 1)) !== 0) shared += count;
    else {
      only[31 - Math.clz32(held)] += count;
      if (may !== 0) onlyPerhaps += count;
    }
  }
  const prefix = `${text},`;
  return {
    prefix,
    url: readableName(prefix),
    maps: sums.map((one) => sumsOf(one)),
    keys,
    shared,
    only,
    onlyPerhaps,
  };
}
