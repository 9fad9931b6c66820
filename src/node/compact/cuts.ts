import type { FileHandle } from "node:fs/promises";
import { LF, SPACE } from "../../bytes/ascii.ts";
import { isSafeCut } from "../../compact/safe-cut.ts";

const WINDOW_BYTES = 1 << 18;

/**
 * Cuts the rows of a sorted map file, `[start, end)`, into about `parts` ranges of about equal
 * size that can be compacted on their own. Gives the offsets between them, `start` and `end`
 * included. Reads a little around each cut.
 */
export async function findCuts(
  file: FileHandle,
  start: number,
  end: number,
  parts: number,
): Promise<number[]> {
  const cuts = [start];
  for (let part = 1; part < parts; part++) {
    const wanted = start + Math.floor(((end - start) * part) / parts);
    const cut = await safeCutAfter(file, Math.max(wanted, cuts.at(-1) ?? start), end);
    if (cut === undefined) break;
    cuts.push(cut);
  }
  return [...cuts, end];
}

/** The offset of the first line behind `from` before which a cut is safe, if there is one. */
export async function safeCutAfter(
  file: FileHandle,
  from: number,
  end: number,
): Promise<number | undefined> {
  const buffer = Buffer.allocUnsafe(WINDOW_BYTES);
  let before: Buffer | undefined;
  let offset = from;
  let isFirst = true;
  while (offset < end) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(WINDOW_BYTES, end - offset), offset);
    const window = buffer.subarray(0, bytesRead);
    let at = 0;
    for (;;) {
      const lineEnd = window.indexOf(LF, at);
      if (lineEnd === -1) break;
      const key = keyOf(window, at, lineEnd);
      // The first line is likely cut short, and a blank one says nothing.
      if (!isFirst && key.length > 0) {
        if (before !== undefined && isSafeCut(before, before.length, key, key.length)) {
          return offset + at;
        }
        before = Buffer.from(key);
      }
      isFirst = false;
      at = lineEnd + 1;
    }
    // A line longer than the window: leave the rest in one part.
    if (at === 0) return undefined;
    offset += at;
  }
  return undefined;
}

function keyOf(window: Buffer, start: number, end: number): Buffer {
  let keyEnd = start;
  while (keyEnd < end && window[keyEnd] > SPACE) keyEnd++;
  return window.subarray(start, keyEnd);
}
