import { epochMs, formatDatetime, parsePaddedDatetime } from "../../src/memento/datetime.ts";

/** Mementos of one archive as the server streams them: pairs of datetime and pattern. */
export interface MementoChunk {
  readonly archive: string;
  /** URI templates with `{}` for the datetime of a memento. */
  readonly patterns: readonly string[];
  /** Alternately a 14-digit datetime and the index of its pattern. */
  readonly rows: readonly number[];
}

export interface Memento {
  readonly uri: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The id of its archive. */
  readonly archive: string;
}

export function mementosOf({ archive, patterns, rows }: MementoChunk): Memento[] {
  return Array.from({ length: rows.length / 2 }, (_, i) => {
    const datetime = rows[2 * i] ?? 0;
    const pattern = patterns[rows[2 * i + 1] ?? 0] ?? "";
    const uri = pattern.replace("{}", formatDatetime(datetime));
    return { uri, time: epochMs(datetime), archive };
  });
}

/** The index of the memento closest to a time, in a sorted list; -1 if it is empty. */
export function closest(mementos: readonly Memento[], time: number): number {
  const after = mementos.findIndex((each) => each.time >= time);
  if (after <= 0) return after === 0 ? 0 : mementos.length - 1;
  const distance = (place: number): number => Math.abs((mementos[place]?.time ?? 0) - time);
  return distance(after - 1) <= distance(after) ? after - 1 : after;
}

/** Whole years in bins of equal length. */
export interface Span {
  readonly from: number;
  readonly until: number;
  readonly bins: number;
  /** Whether a bin is three months, not one. */
  readonly isQuarters: boolean;
}

/** The years of all mementos. */
export function spanOf(mementos: readonly Memento[]): Span {
  const [first = 0, last = 0] = [mementos[0], mementos.at(-1)].map((each) =>
    new Date(each?.time ?? 0).getUTCFullYear(),
  );
  const years = last + 1 - first;
  const isQuarters = years > 12;
  const [from, until] = [Date.UTC(first, 0, 1), Date.UTC(last + 1, 0, 1)];
  return { from, until, bins: years * (isQuarters ? 4 : 12), isQuarters };
}

/** The number of mementos in each bin of a span. */
export function density(mementos: readonly Memento[], { from, until, bins }: Span): number[] {
  const counts = Array.from({ length: bins }, () => 0);
  for (const { time } of mementos) {
    const bin = Math.floor(((time - from) / (until - from)) * bins);
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts;
}

/** Parses a time in an address: 4 to 14 digits or ISO 8601; NaN if it is neither. */
export function timeOf(text: string = ""): number {
  try {
    return /^\d+$/.test(text) ? epochMs(parsePaddedDatetime(text)) : Date.parse(text);
  } catch {
    return Number.NaN;
  }
}
