import { joinBytes, LF } from "../bytes/bytes.ts";
import { holdChunk } from "../bytes/hold-chunk.ts";
import { type DamageLog, isChunk, type StreamPart } from "../bytes/damage.ts";
import { type Peeked, peekParts, withoutMark } from "../bytes/peek.ts";
import { badInput } from "../errors.ts";
import type { RowSourceOptions } from "./rows.ts";

/** The first bytes of an index, from which its format is detected. */
export const HEAD_BYTES: number = 1 << 18;

/** The text of a stream of lines, without what damage has left of a line. */
export function textOf(
  parts: AsyncIterable<StreamPart>,
  { source, maxLineBytes, damage }: Omit<RowSourceOptions, "archive">,
): AsyncIterable<Uint8Array> {
  return withoutMark(
    damage === undefined ? unbroken(parts, source) : uncutLines(parts, maxLineBytes, damage),
  );
}

/**
 * A stream that must be whole, because what it holds makes no sense in part.
 *
 * @throws MM_BAD_INPUT at a gap.
 */
export async function* unbroken(
  parts: AsyncIterable<StreamPart>,
  source: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const part of parts) {
    if (isChunk(part)) {
      yield part;
    } else if (part.kind === "gap") {
      const message = `${part.damage.message}; this format cannot be read in part`;
      throw badInput(source, message);
    }
  }
}

/**
 * A stream with gaps, without what gaps have left of a line: that is counted as cut. Holds one chunk
 * and the longest line; of one that is longer than `maxLineBytes` the beginning is given as it is.
 *
 * Behind a gap the first line is whole where all members before the gap ended with a line, as in
 * files that are written in blocks of lines; else it is the end of a line that is lost.
 */
async function* uncutLines(
  parts: AsyncIterable<StreamPart>,
  maxLineBytes: number,
  damage: DamageLog,
): AsyncGenerator<Uint8Array, void, undefined> {
  let areMembersLines = true;
  /** Whether the end of a lost line comes next. */
  let isCut = false;
  /** The beginning of a line. */
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  for await (const part of parts) {
    if (!isChunk(part)) {
      if (part.kind === "member") {
        areMembersLines &&= heldBytes === 0;
        continue;
      }
      if (heldBytes > 0) damage.cutLines++;
      held.length = heldBytes = 0;
      isCut = !areMembersLines;
      continue;
    }
    const from = isCut ? part.indexOf(LF) + 1 : 0;
    if (isCut && from === 0) continue;
    if (isCut) damage.cutLines++;
    isCut = false;
    const end = Math.max(from, part.lastIndexOf(LF) + 1);
    if (end > from || heldBytes > maxLineBytes) {
      yield joinBytes([...held.splice(0), part.subarray(from, end)]);
      heldBytes = 0;
    }
    if (end === part.length) continue;
    holdChunk(held, part.subarray(end));
    heldBytes += part.length - end;
  }
  if (heldBytes > 0) yield joinBytes(held);
}

/**
 * Looks at the first bytes of a stream, up to the first gap and the last whole line before it,
 * without taking them away. Holds what was looked at.
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
