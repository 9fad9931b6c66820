import { closeSync, openSync, readSync } from "node:fs";
import { LF, markLength } from "../bytes/bytes.ts";
import { becameShorter, ioError } from "../errors.ts";
import type { RangeTask } from "./index-input.ts";

/** Bytes read at a time. */
export const RANGE_READ_BYTES: number = 1 << 21;

/**
 * The lines of a plain file that begin in a range, as chunks. A line belongs to the range it begins
 * in: the first begins after the first line end at or after `start - 1`, and the last contains
 * `end - 1`. A chunk is valid until the next one is requested.
 *
 * @param buffer of {@link RANGE_READ_BYTES}, which holds the chunks.
 * @throws MM_IO, also when the file has become shorter than the range
 */
export function* rangeChunks(
  { path, start, end }: RangeTask,
  buffer: Buffer,
): Generator<Uint8Array, void, undefined> {
  if (start >= end) return;
  try {
    const file = openSync(path, "r");
    try {
      let isCut = start > 0;
      for (let offset = Math.max(0, start - 1); ;) {
        const read = readSync(file, buffer, 0, buffer.length, offset);
        if (read === 0 && offset < end) throw becameShorter(path);
        if (read === 0) return;
        const chunk = buffer.subarray(0, read);
        let from = offset === 0 ? markLength(chunk) : 0;
        const endsAt = chunk.indexOf(LF, Math.max(0, end - 1 - offset));
        if (isCut) {
          const lineEnd = chunk.indexOf(LF);
          // The whole range may lie within a line that began before it.
          const next = lineEnd === -1 ? offset + read : offset + lineEnd + 1;
          if (next >= end) return;
          isCut = lineEnd === -1;
          from = lineEnd + 1;
        }
        const isLast = offset + read >= end && endsAt !== -1;
        if (!isCut) yield chunk.subarray(from, isLast ? endsAt + 1 : read);
        if (isLast) return;
        offset += read;
      }
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw ioError(error, path);
  }
}
