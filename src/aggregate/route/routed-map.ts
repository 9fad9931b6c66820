import type { Answer } from "../../lookup/map-lookup.ts";
import type { MemoryIndex } from "../../lookup/memory-index.ts";
import type { PackedLookup } from "../../lookup/packed-lookup.ts";
import { datetimeOfEpochMs, formatDatetime } from "../../memento/datetime.ts";
import type { DatetimeRange } from "../../ukvs/record.ts";
import type { Archive } from "./archive.ts";
import { areKnownRules } from "../../surt/rules.ts";

/** The map of an archive, as used by a router. */
export interface RoutedMap {
  /** The whole map, in memory. A packed map has no datetimes. */
  readonly index: MemoryIndex | PackedLookup;
  /** The time that the map describes, in milliseconds since 1970; undefined if unknown. */
  readonly updatedAt: number | undefined;
  /** From then on the map is not trusted about absence; milliseconds since 1970, default never. */
  readonly staleAt?: number | undefined;
}

/**
 * Whether a map can prove absence.
 *
 * A page of a map covers only its own part, and keys made by unknown rules may be present under other
 * forms. A map made of samples, such as an aggregator's log, knows only its own rows: a row can state
 * absence, but a missing row means nothing. All such maps are still trusted about presence.
 *
 * @param isStated whether a row of the map states the absence, as opposed to a missing row.
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

/** Whether two periods are disjoint. */
export function areApart(a: TimeRange, b: TimeRange): boolean {
  return beginsAfter(a, b) || beginsAfter(b, a);
}

function beginsAfter({ from }: TimeRange, { until }: TimeRange): boolean {
  return from !== undefined && until !== undefined && from > until;
}

/** The answer of a map for a SURT; of a page of a map, by its own rows only. */
export function answerOf({ index }: RoutedMap, surt: string, at?: DatetimeRange): Answer {
  return index.ownRows.lookupSurtSync(surt, { at });
}

/**
 * Whether a map with a URI present proves that nothing of it is held from a period.
 *
 * A map describes the time before it was made. So it proves nothing for a period that is open or ends
 * later, or if it does not state its time.
 *
 * @throws MM_BAD_LINE and the like for rows that `validate` rejects.
 */
export function knowsNothingOf(map: RoutedMap, surt: string, { from, until }: TimeRange): boolean {
  const { updatedAt } = map;
  // Another page may have a broader key.
  if (!knowsAbsence(map, true)) return false;
  if (until === undefined || updatedAt === undefined || until > datetimeOfEpochMs(updatedAt))
    return false;
  const start = from === undefined ? {} : { from: formatDatetime(from) };
  return !answerOf(map, surt, { ...start, until: formatDatetime(until) }).present;
}

/**
 * Whether an archive may hold something from the year of a datetime, according to the list of archives
 * and the row of its map.
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
 * Estimates the probability that a URI is held from the key of a map that covers it.
 *
 * A key of the URI itself is practically certain. Under a wildcard that covers `o` originals, `d` steps
 * above the URI, the URI is either one of the `o` held or one of those requested but not held. The number
 * of the latter is unknown; it grows with each step up the tree of the Web and is assumed to be
 * `GROWTH ** d`:
 *
 *     likelihood = o / (o + GROWTH ** d)
 *
 * A wildcard just above the URI with many originals comes near to 1, one for a whole top-level domain with
 * a few near to 0. The estimate is for ranking archives: how often a wildcard is right depends on the
 * requests, which no map knows.
 */
const GROWTH = 4;

/** Below 1, as a map may be older than its archive. */
const EXACT = 0.99;

/** Bounds of the likelihood of a wildcard. */
const MAX_OF_WILDCARD = 0.95;
const MIN_OF_WILDCARD = 0.01;

/** Assumed if a map does not state both. */
const MEMENTOS_PER_ORIGINAL = 3;

/** The usefulness of a query, according to the map. */
export interface Estimate {
  /** The probability, from 0 to 1, that the archive has a memento. */
  readonly likelihood: number;
  /** Expected number of mementos. */
  readonly mementos: number;
}

/**
 * @param frequency of a key that makes a URI present: `30/10`; either number may be missing.
 * @param distance steps from the URI up to the key.
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
