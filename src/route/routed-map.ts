import type { MemoryIndex } from "../lookup/memory-index.ts";

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
 * knows it cannot be said that one is missing. Such a map is still believed where it says present.
 */
export function knowsAbsence({ index: { headers } }: RoutedMap): boolean {
  const { canonicalization, page } = headers.meta;
  const areKeysKnown =
    canonicalization === undefined || canonicalization === "surt" || canonicalization === "index";
  return page === undefined && areKeysKnown;
}
