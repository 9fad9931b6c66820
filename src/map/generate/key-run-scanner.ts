import type { FilterReason } from "../../input/filter.ts";
import type { JsonLayout } from "../../input/json-layout.ts";
import type { ScannerFilter } from "./scanner-filter.ts";

/** For which reasons a scanner can leave rows out; the first that applies is the one that counts. */
export const SCANNER_REASONS = [
  "revisit",
  "date",
  "status",
  "mime",
] as const satisfies readonly FilterReason[];

/**
 * Finds the keys of index lines faster than one line at a time: consecutive lines with the same key
 * come as one run.
 *
 * It can leave out what a filter leaves out, once it has been shown how rows are laid out and what
 * the filter makes of their values.
 */
export interface KeyRunScanner {
  /** Lines scanned last: those in runs, and those left out. */
  readonly lines: number;
  /** How many of them were left out, by the number of the reason in `SCANNER_REASONS`. */
  readonly rejected: readonly number[];
  /** Of the lines in runs, how many are of revisits. */
  readonly revisits: number;
  /** How many runs were found last. */
  readonly runs: number;
  /**
   * Four numbers a run: where its key begins, counted from the start of the scan; the length of the
   * key; its lines; and how many bytes the key shares with that of the run before.
   */
  readonly table: Int32Array;
  /** Whether a scan can get anywhere: JSON need not be looked at, or a layout is known. */
  readonly isReady: boolean;
  /** Says that lines of another part follow: forgets what it has learned. */
  startPart(filter: ScannerFilter): void;
  /**
   * Learns how some of the lines are laid out, down to the last fact.
   *
   * @param slot less than `MAX_LAYOUTS`; the layout that was there is forgotten.
   * @param verdict what to make of the facts that the layout has not.
   */
  learnLayout(slot: number, layout: JsonLayout, verdict: number): void;
  /**
   * Learns what to make of a value. Bits of the verdict: 1 for a revisit, then a bit for each of
   * `SCANNER_REASONS`.
   */
  learnValue(fact: number, bytes: Uint8Array, start: number, end: number, verdict: number): void;
  /** Takes the bytes whose lines are to be scanned; they stay as they are until the next take. */
  take(bytes: Uint8Array, end: number): void;
  /**
   * Scans whole lines from an offset on, and stops before the first that needs a closer look, or
   * after `maxLines`. Returns where it stopped.
   */
  scan(start: number, maxLines: number): number;
}
