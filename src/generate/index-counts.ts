import type { FilterReason } from "../input/filter.ts";

/** What became of the lines of an index; nothing is dropped without a count. */
export interface IndexCounts {
  lines: number;
  blank: number;
  headers: number;
  /** Records of `dns:` and the like. */
  nonWeb: number;
  bad: number;
  readonly filtered: Record<FilterReason, number>;
  /** Counted into the map. */
  captures: number;
}

export function newIndexCounts(): IndexCounts {
  return {
    lines: 0,
    blank: 0,
    headers: 0,
    nonWeb: 0,
    bad: 0,
    filtered: { status: 0, mime: 0, date: 0, exclude: 0 },
    captures: 0,
  };
}

/** Adds `part` to `total`. */
export function addIndexCounts(total: IndexCounts, part: IndexCounts): void {
  total.lines += part.lines;
  total.blank += part.blank;
  total.headers += part.headers;
  total.nonWeb += part.nonWeb;
  total.bad += part.bad;
  total.captures += part.captures;
  for (const reason of Object.keys(total.filtered) as FilterReason[]) {
    total.filtered[reason] += part.filtered[reason];
  }
}
