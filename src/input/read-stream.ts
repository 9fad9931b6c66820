import type { StreamPart } from "../bytes/damage.ts";
import { wholeLines } from "../bytes/lines.ts";
import { type DetectedFormat, rowSource } from "./formats.ts";
import type { RowFault, RowReader } from "./row-reader.ts";
import { rowBlocks, type RowSourceOptions } from "./rows.ts";
import { textOf } from "./stream-lines.ts";

/**
 * Hands the lines of a stream, decompressed, to a reader: its own, or those that it is written as.
 * Returns the first that cannot be read, if that is a reason to stop. Holds one chunk and the longest
 * line.
 *
 * @throws MM_LIMIT for a line that is too long, and what writing rows throws.
 */
export async function readStream(
  parts: AsyncIterable<StreamPart>,
  format: DetectedFormat,
  reader: RowReader,
  options: RowSourceOptions,
): Promise<RowFault | undefined> {
  const { source, maxLineBytes } = options;
  const linesRead = (): number => reader.partLines;
  const rows = await rowSource(format);
  return readBlocks(
    rows === undefined
      ? wholeLines(textOf(parts, options), source, maxLineBytes, linesRead)
      : rowBlocks(rows(parts, options)),
    reader,
  );
}

/** Hands blocks of whole lines to a reader. Returns as {@link readStream}. */
export async function readBlocks(
  blocks: AsyncIterable<Uint8Array>,
  reader: RowReader,
): Promise<RowFault | undefined> {
  for await (const lines of blocks) {
    const fault = reader.readLines(lines, 0, lines.length);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
