import { readSync } from "node:fs";
import { LF } from "../bytes/bytes.ts";
import { MAX_LINE_BYTES } from "../bytes/lines.ts";
import { MementoMapError } from "../errors.ts";
import { becameShorter } from "../files/input-file.ts";

const READ_BYTES = 1 << 20;
/** The room that {@link readBlocks} needs at most. */
export const BLOCK_BYTES: number = READ_BYTES + MAX_LINE_BYTES;

/** A part of a file that begins and ends at line ends. */
export interface LinesPart {
  /** Named in errors. */
  readonly source: string;
  readonly start: number;
  readonly end: number;
}

/** The room that {@link readBlocks} needs for a part. */
export function blockBytesFor({ start, end }: LinesPart): number {
  return Math.min(BLOCK_BYTES, end - start);
}

/**
 * Reads a part block by block into `buffer` and gives the length of the whole lines in it to `take`,
 * until that returns false. A line that does not fit is given as far as it does, and said not to be
 * whole.
 */
export function readBlocks(
  file: number,
  { source, start, end }: LinesPart,
  buffer: Uint8Array,
  take: (length: number, isWhole: boolean) => boolean,
): boolean {
  let offset = start;
  let held = 0;
  while (offset < end) {
    const wanted = Math.min(buffer.length - held, READ_BYTES, end - offset);
    const read = readSync(file, buffer, held, wanted, offset);
    if (read === 0) {
      throw becameShorter(source);
    }
    offset += read;
    const filled = held + read;
    const whole = offset === end ? filled : buffer.subarray(0, filled).lastIndexOf(LF) + 1;
    if (whole === 0 && filled === BLOCK_BYTES) return take(filled, false);
    if (whole > 0 && !take(whole, true)) return false;
    buffer.copyWithin(0, whole, filled);
    held = filled - whole;
  }
  return true;
}

/** The error for a line that does not fit. */
export function tooLong(source: string, line: number): MementoMapError {
  return new MementoMapError("MM_LIMIT", `the line is longer than ${MAX_LINE_BYTES} bytes`, {
    position: { source, line },
  });
}
