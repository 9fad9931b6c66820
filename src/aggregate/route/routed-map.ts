import type { Answer } from "../../lookup/map-lookup.ts";
import type { MemoryIndex } from "../../lookup/memory-index.ts";
import type { PackedLookup } from "../../lookup/packed-lookup.ts";
import { datetimeOfEpochMs, formatDatetime } from "../../memento/datetime.ts";
import type { DatetimeRange } from "../../ukvs/record.ts";
import type { Archive } from "./archive.ts";
import { areKnownRules } from "../../surt/rules.ts";

/** The map of an archive, as a router uses it. */
export interface RoutedMap {
  /** All of the map, in memory. A packed map knows nothing of times. */
  readonly index: MemoryIndex | PackedLookup;
  /** The time that the map describes, in milliseconds since 1970; undefined if it is unknown. */
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

function beginsAfter({ from }: TimeRange, { until }: TimeRange): boolean {
  return from !== undefined && until !== undefined && from > until;
}

/** What the rows of a map say of a SURT; of a page, what they say by themselves. */
export function answerOf({ index }: RoutedMap, surt: string, at?: DatetimeRange): Answer {
  return index.ownRows.lookupSurtSync(surt, { at });
}

/**
 * Whether a map that says present knows that there is nothing of a period.
 *
 * A map tells about the time before it was made. So it knows nothing of a period that is open, or
 * ends later; nor where it does not say when it was made.
 *
 * @throws MM_BAD_LINE and the like for rows that `validate` would not have let pass.
 */
export function knowsNothingOf(map: RoutedMap, surt: string, { from, until }: TimeRange): boolean {
  const { updatedAt } = map;
  // Another page may have a wider key.
  if (!knowsAbsence(map, true)) return false;
  if (until === undefined || updatedAt === undefined || until > datetimeOfEpochMs(updatedAt))
    return false;
  const start = from === undefined ? {} : { from: formatDatetime(from) };
  return !answerOf(map, surt, { ...start, until: formatDatetime(until) }).present;
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
  map: RoutedMap,
  surt: string,
): boolean {
  if (areApart(archive, { from: datetime, until: datetime })) return false;
  const year = formatDatetime(datetime).slice(0, 4);
  return answerOf(map, surt, { from: year, until: year }).present;
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

/** Bounds of the likelihood of a wildcard. */
const MAX_OF_WILDCARD = 0.95;
const MIN_OF_WILDCARD = 0.01;

/** Where a map does not tell both. */
const MEMENTOS_PER_ORIGINAL = 3;

/** How useful it is to ask an archive, going by what its map states. */
export interface Estimate {
  /** From 0 to 1: that the archive has a memento. */
  readonly likelihood: number;
  /** How many mementos there will be, on average. */
  readonly mementos: number;
}

/**
 * @param frequency of a key that makes a URI present: `30/10`, either of which may not be stated.
 * @param distance how far above the URI the key is.
 */
export function estimate(frequency: string, distance: number): Estimate {
  const [mementos, originals] = frequency.split("/").map((count) => Number.parseInt(count, 10));
  if (distance === 0) return { likelihood: EXACT, mementos: Math.max(1, mementos || 1) };
  const held = originals >= 0 ? originals : Math.max(1, (mementos || 0) / MEMENTOS_PER_ORIGINAL);
  const share = held / (held + GROWTH ** distance);
  const likelihood = Math.min(MAX_OF_WILDCARD, Math.max(MIN_OF_WILDCARD, share));
  const each = mementos >= 0 && originals > 0 ? mementos / originals : MEMENTOS_PER_ORIGINAL;
  return { likelihood, mementos: likelihood * each };
}
