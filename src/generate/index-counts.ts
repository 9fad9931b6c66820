import type { DamageLog } from "../bytes/damage.ts";
import { addLineCounts, type LineCounts, newLineCounts } from "../input/row-reader.ts";

/** What became of the lines of an index; nothing is dropped without a count. */
export interface IndexCounts extends LineCounts {
  /** Parts of files that could not be read and were skipped; they do not count as lines. */
  damaged: number;
  /** Bytes of those stretches, as far as they are known. */
  damagedBytes: number;
  /** Lines that were counted into the map: all that the counts above leave of `lines`. */
  counted: number;
  /** What they stand for: one capture each, but as many as they say in logs. */
  captures: number;
  /** Of the captures, those known to be revisits: the page was found unchanged. */
  revisits: number;
  /** Of the captures, those of samples: there may be more. */
  samples: number;
  /** Of the captures, those without a URI, whose key is the key column as it stands. */
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

/** Counts what was skipped while lines were made; a line that was cut is a bad line. */
export function countDamage(counts: IndexCounts, { places, bytes, cutLines }: DamageLog): void {
  counts.damaged += places;
  counts.damagedBytes += bytes;
  counts.lines += cutLines;
  counts.bad += cutLines;
}
