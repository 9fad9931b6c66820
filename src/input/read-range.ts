import { closeSync, openSync, readSync } from "node:fs";
import { LF, markLength } from "../bytes/bytes.ts";
import { ioError } from "../errors.ts";
import { cutShort } from "./file-chunks.ts";
import type { RangeTask } from "./index-input.ts";
import type { RowFault, RowReader } from "./row-reader.ts";

const READ_BYTES = 1 << 21;

/** How large the buffer of a {@link RangeBuffer} must be. */
function rangeBufferBytes(maxLineBytes: number): number {
  return READ_BYTES + maxLineBytes + 1;
}

/** Reads parts of uncompressed files into a reader, through one buffer that is kept. */
export class RangeBuffer {
  readonly #maxLineBytes: number;
  #buffer: Buffer | undefined;

  /** @param buffer of at least `rangeBufferBytes`; made when it is first needed by default. */
  constructor(maxLineBytes: number, buffer?: Buffer) {
    this.#maxLineBytes = maxLineBytes;
    this.#buffer = buffer;
  }

  /** @throws MM_IO, also where the file has become shorter than the part says */
  read(task: RangeTask, reader: Pick<RowReader, "readLines">): RowFault | undefined {
    if (task.start >= task.end) return undefined;
    try {
      const file = openSync(task.path, "r");
      try {
        return this.#readFile(file, task, reader);
      } finally {
        closeSync(file);
      }
    } catch (error) {
      throw ioError(error, task.path);
    }
  }

  #readFile(
    file: number,
    { path, start, end }: RangeTask,
    reader: Pick<RowReader, "readLines">,
  ): RowFault | undefined {
    this.#buffer ??= Buffer.allocUnsafeSlow(rangeBufferBytes(this.#maxLineBytes));
    const buffer = this.#buffer;
    // A line belongs to the part it begins in; so this part begins behind the first line end at or
    // after `start - 1`, and ends with the line that `end - 1` is in.
    let offset = Math.max(0, start - 1);
    let skipping = start > 0;
    let held = 0;
    for (;;) {
      const wanted = Math.min(READ_BYTES, buffer.length - held);
      const read = readSync(file, buffer, held, wanted, offset);
      if (read === 0 && offset < end) throw cutShort(path, offset, end);
      const filled = held + read;
      let from = offset === 0 ? markLength(buffer.subarray(0, filled)) : 0;
      if (skipping) {
        const lineEnd = buffer.subarray(0, filled).indexOf(LF);
        if (lineEnd === -1 || offset - held + lineEnd + 1 >= end) {
          // The whole part lies within a line that began before it.
          if (offset + read >= end) return undefined;
          offset += read;
          held = 0;
          continue;
        }
        from = lineEnd + 1;
        skipping = false;
      }
      const base = offset - held;
      offset += read;
      let to = filled;
      let last = read === 0;
      if (base + filled >= end) {
        const lineEnd = buffer.subarray(0, filled).indexOf(LF, Math.max(from, end - 1 - base));
        if (lineEnd !== -1) {
          to = lineEnd + 1;
          last = true;
        }
      }
      if (!last) {
        const lineEnd = buffer.subarray(from, filled).lastIndexOf(LF);
        if (lineEnd === -1 && filled - from > this.#maxLineBytes) last = true;
        else to = lineEnd === -1 ? from : from + lineEnd + 1;
      }
      const fault = reader.readLines(buffer, from, to);
      if (fault !== undefined || last) return fault;
      buffer.copyWithin(0, to, filled);
      held = filled - to;
    }
  }
}
