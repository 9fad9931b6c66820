import { datetimeOfEpochMs, formatDatetime } from "../../memento/datetime.ts";
import type { DatetimeRange } from "../../ukvs/datetime-key.ts";
import type { Archive } from "./archive.ts";
import { knowsAbsence, type RoutedMap } from "./routed-map.ts";

/** A period, both ends included, fourteen digits as numbers; an end that is undefined is open. */
export interface TimeRange {
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
  return !index.isPresentDuring(surt, period);
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
  return index.isPresentDuring(surt, { from: year, until: year });
}

function beginsAfter({ from }: TimeRange, { until }: TimeRange): boolean {
  return from !== undefined && until !== undefined && from > until;
}
