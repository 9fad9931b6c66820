import type { DetectedFormat } from "../input/detect.ts";
import type { RowFault } from "./index-reader.ts";

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
