import { joinBytes } from "./join.ts";
import { MementoMapError } from "../errors.ts";
import { LF } from "./ascii.ts";

/** A line longer than this is an error, not a reason to use more memory. */
export const MAX_LINE_BYTES: number = 2 ** 20;

/**
 * Regroups chunks so that each holds whole lines, with their ends; only the last line of all may
 * lack its end.
 *
 * A chunk is mostly a part of the one it came from, and valid until the next is asked for. Holds
 * one chunk and the longest line.
 *
 * @param linesRead says how many lines the consumer has taken, to name the line that is too long.
 * @throws MM_LIMIT for a line longer than `maxLineBytes`.
 */
export async function* wholeLines(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  source: string,
  maxLineBytes: number = MAX_LINE_BYTES,
  linesRead?: () => number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let held: Uint8Array = new Uint8Array(0);
  const checkLength = (length: number): void => {
    if (length <= maxLineBytes) return;
    const line = linesRead === undefined ? undefined : linesRead() + 1;
    throw new MementoMapError("MM_LIMIT", `the line is longer than ${maxLineBytes} bytes`, {
      position: { source, line },
    });
  };
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(LF) + 1;
    if (end === 0) {
      held = joinBytes([held, chunk]);
      checkLength(held.length);
      continue;
    }
    let start = 0;
    if (held.length > 0) {
      start = chunk.indexOf(LF) + 1;
      const first = joinBytes([held, chunk.subarray(0, start)]);
      checkLength(first.length - 1);
      yield first;
    }
    if (start < end) yield chunk.subarray(start, end);
    held = chunk.slice(end);
  }
  if (held.length > 0) yield held;
}
