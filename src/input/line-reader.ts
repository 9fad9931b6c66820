import type { DetectedFormat } from "./detect.ts";

/** A line that cannot be read. */
export interface RowFault {
  /** Lines before it in the same part. */
  readonly linesBefore: number;
  readonly code: "MM_BAD_LINE" | "MM_LIMIT";
  readonly message: string;
  /** The beginning of the line. */
  readonly line: string;
}

/** Takes the lines of indexes, block by block. */
export interface LineReader {
  /** Says that other bytes follow: another file, or another part of it. */
  startPart(format: DetectedFormat): void;
  /** Lines read of the current part. */
  readonly partLines: number;
  /**
   * Takes the lines of `bytes[start, end)`, which must be whole ones; the last may lack its end.
   * Returns the first line that cannot be read, if that is a reason to stop.
   */
  readLines(bytes: Uint8Array, start: number, end: number): RowFault | undefined;
}
