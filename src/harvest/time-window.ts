/** The captures of a stretch of time, both ends included; an end that is missing is open. */
export interface TimeWindow {
  /** Some or all of fourteen digits. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Whether a datetime of fourteen digits is in a window. */
export function isWithin(datetime: string, { from, to }: TimeWindow): boolean {
  return (
    (from === undefined || datetime.slice(0, from.length) >= from) &&
    (to === undefined || datetime.slice(0, to.length) <= to)
  );
}

/** Datetimes of the rows that a window is known to hold; fourteen digits each. */
export interface KnownTimes {
  readonly earliest: string;
  readonly median: string;
  readonly latest: string;
}

/**
 * Smaller windows that hold the same captures, from the earliest to the latest; undefined where the
 * window is one second.
 */
export function splitWindow(window: TimeWindow, times: KnownTimes): TimeWindow[] | undefined {
  const { from, to } = window;
  const { earliest, median, latest } = times;
  if (earliest !== latest) {
    const middle = median === earliest ? secondAfter(median) : median;
    return [
      { from, to: secondBefore(middle) },
      { from: middle, to },
    ];
  }
  const windows: TimeWindow[] = [{ from: median, to: median }];
  if (from !== median) windows.unshift({ from, to: secondBefore(median) });
  if (to !== median) windows.push({ from: secondAfter(median), to });
  return windows.length === 1 ? undefined : windows;
}

function secondBefore(datetime: string): string {
  return moved(datetime, -1);
}

function secondAfter(datetime: string): string {
  return moved(datetime, 1);
}

/** Indexes have datetimes that no clock shows; they are only compared, so any neighbour will do. */
function moved(datetime: string, seconds: 1 | -1): string {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(datetime) ?? [];
  const isoText = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const time = new Date(isoText);
  const isClock = !Number.isNaN(time.getTime()) && time.toISOString() === isoText;
  const next = isClock ? new Date(time.getTime() + seconds * 1000) : undefined;
  const year4 = next === undefined ? -1 : next.getUTCFullYear();
  if (next === undefined || year4 < 0 || year4 > 9999) {
    return String(Number(datetime) + seconds).padStart(14, "0");
  }
  return next.toISOString().replaceAll(/\D/g, "").slice(0, 14);
}
