import type { DamageLog } from "../../bytes/damage.ts";
import type { FilterReason } from "../../input/filter.ts";

/** What became of the lines of an index; nothing is dropped without a count. */
export interface IndexCounts {
  lines: number;
  blank: number;
  headers: number;
  /** Records of `dns:` and the like. */
  nonWeb: number;
  bad: number;
  /** Parts of files that could not be read and were skipped; they do not count as lines. */
  damaged: number;
  /** Bytes of those stretches, as far as they are known. */
  damagedBytes: number;
  /** Lines that show nothing, such as failed requests of an access log. */
  unproven: number;
  readonly filtered: Record<FilterReason, number>;
  /** Lines that were counted into the map: all that the counts above leave of `lines`. */
  counted: number;
  /** What they stand for: one capture each, but as many as they say in maps and logs. */
  captures: number;
  /** Of the captures, those known to be revisits: the page was found unchanged. */
  revisits: number;
  /** Of the captures, those of samples: there may be more. */
  samples: number;
  /** Of the captures, those whose key was made from the URI. */
  keyedByUri: number;
  /** Rows whose key column was compared with the SURT of their URI. */
  keysChecked: number;
  /** Of those, the ones that differ. */
  keysDifferent: number;
}

export function newIndexCounts(): IndexCounts {
  return {
    lines: 0,
    blank: 0,
    headers: 0,
    nonWeb: 0,
    bad: 0,
    damaged: 0,
    damagedBytes: 0,
    unproven: 0,
    filtered: { status: 0, mime: 0, date: 0, exclude: 0, revisit: 0 },
    counted: 0,
    captures: 0,
    revisits: 0,
    samples: 0,
    keyedByUri: 0,
    keysChecked: 0,
    keysDifferent: 0,
  };
}

/** Adds `part` to `total`. */
export function addIndexCounts(total: IndexCounts, part: IndexCounts): void {
  total.lines += part.lines;
  total.blank += part.blank;
  total.headers += part.headers;
  total.nonWeb += part.nonWeb;
  total.bad += part.bad;
  total.damaged += part.damaged;
  total.damagedBytes += part.damagedBytes;
  total.unproven += part.unproven;
  total.counted += part.counted;
  total.captures += part.captures;
  total.revisits += part.revisits;
  total.samples += part.samples;
  total.keyedByUri += part.keyedByUri;
  total.keysChecked += part.keysChecked;
  total.keysDifferent += part.keysDifferent;
  for (const reason of Object.keys(total.filtered) as FilterReason[]) {
    total.filtered[reason] += part.filtered[reason];
  }
}

/** Counts what was skipped while lines were made; a line that was cut is a bad line. */
export function countDamage(counts: IndexCounts, { places, bytes, cutLines }: DamageLog): void {
  counts.damaged += places;
  counts.damagedBytes += bytes;
  counts.lines += cutLines;
  counts.bad += cutLines;
}
