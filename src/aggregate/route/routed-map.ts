import { hasSurt } from "../../lookup/map-lookup.ts";
import type { MemoryIndex } from "../../lookup/memory-index.ts";
import type { PackedLookup } from "../../lookup/packed-lookup.ts";
import { datetimeOfEpochMs, formatDatetime } from "../../memento/datetime.ts";
import type { DatetimeRange } from "../../ukvs/record.ts";
import type { Archive } from "./archive.ts";
import { SLASH } from "../../bytes/bytes.ts";
import { areKnownRules } from "../../surt/rules.ts";

/** The map of an archive, as a router uses it. */
export interface RoutedMap {
  /** All of the map, in memory. A packed map knows nothing of times. */
  readonly index: MemoryIndex | PackedLookup;
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
  const { canonicalization, page, part, sample } = headers.meta;
  if (sample === true && !isStated) return false;
  return page === undefined && part === undefined && areKnownRules(canonicalization);
}

/** A period, both ends included, fourteen digits as numbers; an end that is undefined is open. */
interface TimeRange {
  readonly from?: number | undefined;
  readonly until?: number | undefined;
}

/** Whether two periods have no moment in common. */
export function areApart(a: TimeRange, b: TimeRange): boolean {
  return beginsAfter(a, b) || beginsAfter(b, a);
}

/**
 * Whether a map knows that there is nothing of a period under the key of a row that says present.
 *
 * A map tells about the time before it was made. So it knows nothing of a period that is open, or
 * ends later; nor where it does not say when it was made.
 *
 * @throws MM_BAD_LINE and the like for rows that `validate` would not have let pass.
 */
export function knowsNothingOf(
  map: RoutedMap,
  surt: Uint8Array,
  { from, until }: TimeRange,
): boolean {
  const { index, updatedAt } = map;
  // Another page may have a wider key.
  if (!knowsAbsence(map, true)) return false;
  if (until === undefined || updatedAt === undefined || until > datetimeOfEpochMs(updatedAt))
    return false;
  const period: DatetimeRange = {
    ...(from === undefined ? {} : { from: formatDatetime(from) }),
    until: formatDatetime(until),
  };
  return !hasSurt(index.ownRows, surt, 0, surt.length, period);
}

/**
 * Whether an archive may have something of the year of a moment, as far as the list of archives and
 * the row of its map tell.
 *
 * @throws as `knowsNothingOf`.
 */
export function mayHoldYearOf(
  datetime: number,
  archive: Archive,
  { index }: RoutedMap,
  surt: Uint8Array,
): boolean {
  if (areApart(archive, { from: datetime, until: datetime })) return false;
  const year = formatDatetime(datetime).slice(0, 4);
  return hasSurt(index.ownRows, surt, 0, surt.length, { from: year, until: year });
}

function beginsAfter({ from }: TimeRange, { until }: TimeRange): boolean {
  return from !== undefined && until !== undefined && from > until;
}

/**
 * What a map's key tells about the chance that a URI below it is held.
 *
 * A key for the URI itself is as good as certain. Under a wildcard that covers `o` originals, `d`
 * steps above the URI, the URI is one of the `o` that are held or one of those that are asked for
 * and are not. How many the latter are is not known; each step up the tree of the Web makes them
 * more, so they are taken to be `GROWTH ** d`:
 *
 *     likelihood = o / (o + GROWTH ** d)
 *
 * A wildcard just above the URI with many originals comes near to 1, one for a whole top-level
 * domain with a few near to 0. It is meant to rank archives: how often a wildcard is right depends
 * on what people ask for, which no map knows.
 */
const GROWTH = 4;

/** A map may be older than its archive. */
const EXACT = 0.99;

/** No wildcard is as good as the key itself, and none says nothing. */
const MOST_OF_WILDCARD = 0.95;
const LEAST_OF_WILDCARD = 0.01;

/** Where a map does not tell both. */
export const MEMENTOS_PER_ORIGINAL = 3;

/**
 * How useful it is to ask an archive, going by what its map states; make one and use it again.
 */
export class Estimate {
  /** From 0 to 1: that the archive has a memento. */
  likelihood = 0;
  /** How many mementos there will be, on average. */
  mementos = 0;

  /** Takes a frequency `bytes[start, end)` of a key that makes a URI present. */
  take(bytes: Uint8Array, start: number, end: number, distance: number): void {
    let slash = start;
    while (slash < end && bytes[slash] !== SLASH) slash++;
    this.takeCounts(countAt(bytes, start, slash), countAt(bytes, slash + 1, end), distance);
  }

  /** Takes counts of such a key; -1 for one that is not stated. */
  takeCounts(statedMementos: number, statedOriginals: number, distance: number): void {
    if (distance === 0) {
      this.likelihood = EXACT;
      this.mementos = Math.max(1, statedMementos);
      return;
    }
    const originals =
      statedOriginals >= 0 ? statedOriginals : Math.max(1, statedMementos / MEMENTOS_PER_ORIGINAL);
    const share = originals / (originals + GROWTH ** distance);
    this.likelihood = Math.min(MOST_OF_WILDCARD, Math.max(LEAST_OF_WILDCARD, share));
    const each =
      statedMementos >= 0 && statedOriginals > 0
        ? statedMementos / statedOriginals
        : MEMENTOS_PER_ORIGINAL;
    this.mementos = this.likelihood * each;
  }
}

/** The digits that `bytes[start, end)` begins with, as a number; -1 where there are none. */
function countAt(bytes: Uint8Array, start: number, end: number): number {
  let count = -1;
  for (let at = start; at < end; at++) {
    const digit = bytes[at] - 0x30;
    if (digit < 0 || digit > 9) break;
    count = (count < 0 ? 0 : count * 10) + digit;
  }
  return count;
}
