import { readSync } from "node:fs";
import { LF, SPACE } from "../bytes/ascii.ts";

const WINDOW_BYTES = 1 << 16;

/**
 * The offset of the first line of a file that begins behind `from`, before `end`, and before which a
 * cut is good, by the keys that stand at the start of lines; undefined if there is none.
 *
 * Reads 64 KiB at a time. Nothing is found behind a line that is longer.
 */
export function cutAfter(
  file: number,
  from: number,
  end: number,
  isGood: (before: Uint8Array, key: Uint8Array) => boolean,
): number | undefined {
  const buffer = Buffer.allocUnsafe(WINDOW_BYTES);
  let before: Uint8Array | undefined;
  let offset = from;
  let isFirst = true;
  while (offset < end) {
    const length = readSync(file, buffer, 0, Math.min(WINDOW_BYTES, end - offset), offset);
    const window = buffer.subarray(0, length);
    let at = 0;
    for (;;) {
      const lineEnd = window.indexOf(LF, at);
      if (lineEnd === -1) break;
      const key = keyOf(window, at, lineEnd);
      // The first line is likely cut short, and a blank one says nothing.
      if (!isFirst && key.length > 0) {
        if (before !== undefined && isGood(before, key)) return offset + at;
        before = Uint8Array.from(key);
      }
      isFirst = false;
      at = lineEnd + 1;
    }
    if (at === 0) return undefined;
    offset += at;
  }
  return undefined;
}

function keyOf(window: Uint8Array, start: number, end: number): Uint8Array {
  let keyEnd = start;
  while (keyEnd < end && window[keyEnd] > SPACE) keyEnd++;
  return window.subarray(start, keyEnd);
}
