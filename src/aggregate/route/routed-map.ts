import type { MemoryIndex } from "../../map/lookup/memory-index.ts";

/** The map of an archive, as a router uses it. */
export interface RoutedMap {
  readonly index: MemoryIndex;
  /** What the map describes, at that time, in milliseconds since 1970; undefined: nobody knows. */
  readonly updatedAt: number | undefined;
  /**
   * From then on the map is no longer trusted where it says absent; milliseconds since 1970,
   * default never.
   */
  readonly staleAt?: number | undefined;
}

/**
 * Whether a map can say that something is absent.
 *
 * A page of a map answers only for its own part, and of keys that were made by rules nobody here
 * knows it cannot be said that one is missing. A map made of samples, such as the log of an
 * aggregator, knows only what is in it: what it says is absent, but not that all else is. Such a map
 * is still believed where it says present.
 *
 * @param isStated whether a row of the map says so, and not that there is none.
 */
export function knowsAbsence({ index: { headers } }: RoutedMap, isStated: boolean): boolean {
  const { canonicalization, page, sample } = headers.meta;
  if (sample === true && !isStated) return false;
  const areKeysKnown =
    canonicalization === undefined || canonicalization === "surt" || canonicalization === "index";
  return page === undefined && areKeysKnown;
}
