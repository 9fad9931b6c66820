import type { StreamPart } from "../bytes/damage.ts";
import { cutLines } from "../bytes/lines.ts";
import { type DetectedFormat, rowSource } from "./formats.ts";
import type { RowFault, RowReader } from "./row-reader.ts";
import { rowBlocks, type RowSourceOptions } from "./rows.ts";
import { textOf } from "./stream-lines.ts";

/** The lines of a stream, decompressed, in blocks: its own, or those that it is written as. */
export async function* linesOf(
  parts: AsyncIterable<StreamPart>,
  format: DetectedFormat,
  options: RowSourceOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const rows = await rowSource(format);
  yield* rows === undefined
    ? cutLines(textOf(parts, options), options.maxLineBytes)
    : rowBlocks(rows(parts, options));
}

/**
 * Hands blocks of whole lines to a reader. Returns the first that cannot be read, if that is a reason
 * to stop.
 */
export async function readBlocks(
  blocks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  reader: Pick<RowReader, "readLines">,
): Promise<RowFault | undefined> {
  for await (const lines of blocks) {
    const fault = reader.readLines(lines, 0, lines.length);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
