/**
 * Finds the keys of index lines faster than one line at a time: consecutive lines with the same key
 * come as one run.
 */
export interface KeyRunScanner {
  /** Lines in the runs found last. */
  readonly lines: number;
  /** Of those lines, how many are of revisits. */
  readonly revisits: number;
  /** How many runs were found last. */
  readonly runs: number;
  /**
   * Four numbers a run: where its key begins, counted from the start of the scan; the length of the
   * key; its lines; and how many bytes the key shares with that of the run before.
   */
  readonly table: Int32Array;
  /**
   * Takes whole lines of `bytes[start, end)`, and stops before the first that needs a closer look,
   * or after `maxLines`. Returns where it stopped.
   */
  scan(bytes: Uint8Array, start: number, end: number, maxLines: number): number;
}
