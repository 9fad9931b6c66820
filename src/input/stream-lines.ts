import { joinBytes, LF, markLength } from "../bytes/bytes.ts";
import { isChunk, type StreamPart } from "../bytes/damage.ts";
import { cutLines } from "../bytes/lines.ts";
import { type Peeked, peekParts } from "../bytes/peek.ts";
import { type DetectedFormat, rowSource } from "./formats.ts";
import { rowBlocks, type RowSourceOptions } from "./rows.ts";

/** Number of first bytes used to detect the format of an index. */
export const HEAD_BYTES: number = 1 << 18;

/**
 * The lines of a decompressed stream, in blocks: its own, without remains of damaged lines, or
 * converted ones.
 */
export async function* linesOf(
  parts: AsyncIterable<StreamPart>,
  format: DetectedFormat,
  options: RowSourceOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const rows = await rowSource(format);
  if (rows !== undefined) {
    yield* rowBlocks(rows(parts, options));
    return;
  }
  let isFirst = true;
  for await (const lines of cutLines(parts, options.maxLineBytes, options.damage)) {
    yield isFirst ? lines.subarray(markLength(lines)) : lines;
    isFirst = false;
  }
}

/**
 * Peeks at the first bytes of a stream, up to the last whole line before the first gap, without
 * consuming them. Holds those bytes.
 */
export async function peekHead<Part extends StreamPart>(
  stream: AsyncIterable<Part>,
): Promise<Peeked<Part>> {
  let size = 0;
  let isCut = false;
  const { held, all, close } = await peekParts(stream, (part) => {
    if (isChunk(part)) size += part.length;
    else isCut = part.kind === "gap" && size > 0;
    return isCut || size >= HEAD_BYTES;
  });
  const parts: readonly StreamPart[] = held;
  const head = joinBytes(parts.filter(isChunk)).subarray(0, HEAD_BYTES);
  return { head: isCut ? head.subarray(0, head.lastIndexOf(LF) + 1) : head, chunks: all, close };
}
