import type { DamageLog } from "../bytes/damage.ts";
import { addLineCounts, type LineCounts, newLineCounts } from "../input/row-reader.ts";

/** The outcomes of the lines of an index; every dropped line is counted. */
export interface IndexCounts extends LineCounts {
  /** Unreadable ranges of files that were skipped; they do not count as lines. */
  damaged: number;
  /** Bytes of these ranges, as far as known. */
  damagedBytes: number;
  /** Lines counted into the map: `lines` minus the counts above. */
  counted: number;
  /** Captures in these lines: one each, but in logs the stated number. */
  captures: number;
  /** Captures known to be revisits: the page was unchanged. */
  revisits: number;
  /** Captures from samples: there may be more. */
  samples: number;
  /** Captures without a URI, whose key is the unchanged key column. */
  keyedByColumn: number;
}

const NONE = {
  damaged: 0,
  damagedBytes: 0,
  counted: 0,
  captures: 0,
  revisits: 0,
  samples: 0,
  keyedByColumn: 0,
};

export function newIndexCounts(): IndexCounts {
  return { ...newLineCounts(), ...NONE };
}

/** Adds `part` to `total`. */
export function addIndexCounts(total: IndexCounts, part: IndexCounts): void {
  addLineCounts(total, part);
  for (const name of Object.keys(NONE) as (keyof typeof NONE)[]) total[name] += part[name];
}

/** Counts damage skipped while reading lines; a truncated line is a bad line. */
export function countDamage(counts: IndexCounts, { places, bytes, cutLines }: DamageLog): void {
  counts.damaged += places;
  counts.damagedBytes += bytes;
  counts.lines += cutLines;
  counts.bad += cutLines;
}
