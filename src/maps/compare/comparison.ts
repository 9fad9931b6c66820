import type { Bound } from "../../ukvs/frequency.ts";
import type { RowSums } from "../explore/row-sums.ts";
import type { OverlapTable } from "./overlap.ts";

/** A compared map, with its totals. */
interface ComparedMap {
  readonly id: string;
  /** The name that the map states. */
  readonly name?: string;
  readonly rows: number;
  readonly captures: number;
  readonly bound: Bound;
  readonly voids: number;
  readonly wildcards: number;
  readonly wildcardCaptures: number;
  /** Top-level and registered domains with captures. */
  readonly tlds: number;
  readonly domains: number;
}

/** Items held by the same maps. */
export interface Combination {
  /** The maps that have rows for them. */
  readonly held: readonly string[];
  /** The maps that may hold them too: a wildcard covers them. */
  readonly may: readonly string[];
  readonly count: number;
  /** Keys whose captures differ between the maps that hold them. */
  readonly differing: number;
  /** The captures of each map, in the order of `maps`. */
  readonly captures: readonly number[];
}

/** How the holdings of maps overlap and differ. */
export interface MapComparison {
  readonly maps: readonly ComparedMap[];
  /** Keys of pages, by the maps that hold them; largest count first. */
  readonly keys: { readonly count: number; readonly combinations: readonly Combination[] };
  /** Registered domains, in the same way. */
  readonly domains: { readonly count: number; readonly combinations: readonly Combination[] };
}

/** Maximum number of combinations listed: three maps have up to 19, eight have thousands. */
const MAX_COMBINATIONS = 200;

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
    combinations: combinations.slice(0, MAX_COMBINATIONS),
  };
}

export function sumsOf(sums: RowSums): Omit<ComparedMap, "id" | "tlds" | "domains"> {
  const { rows, captures, bound, voids, wildcards, wildcardCaptures } = sums;
  return { rows, captures, bound, voids, wildcards, wildcardCaptures };
}
