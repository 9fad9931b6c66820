import { BACKSLASH, QUOTE, SPACE, TAB } from "../bytes/ascii.ts";
import { compareRanges } from "../bytes/compare.ts";

/** Whether a byte separates columns. */
export function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}

/** The offset of the first byte from `at` on that is no blank, or `end`. */
export function skipBlanks(bytes: Uint8Array, at: number, end: number): number {
  let next = at;
  while (next < end && isBlank(bytes[next])) next++;
  return next;
}

/**
 * The offset after the column that starts at `start`; a quoted column may hold blanks.
 *
 * A quote that is never closed takes the rest of the line, which then reads as no JSON string.
 */
export function columnEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  if (bytes[start] === QUOTE) {
    at++;
    while (at < end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    at = Math.min(at, end);
  }
  while (at < end && !isBlank(bytes[at])) at++;
  return at;
}

/** The offset after the last of `count` columns, or -1 if there are fewer. */
export function columnsEnd(bytes: Uint8Array, start: number, end: number, count: number): number {
  let at = start;
  for (let column = 0; column < count; column++) {
    if (column > 0) at = skipBlanks(bytes, at, end);
    if (at >= end) return -1;
    at = columnEnd(bytes, at, end);
  }
  return at;
}

/**
 * Compares key columns one after the other, as written, by unsigned bytes. How many blanks stand
 * between them does not matter.
 */
export function compareColumns(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  let left = aStart;
  let right = bStart;
  while (left < aEnd && right < bEnd) {
    const leftEnd = columnEnd(a, left, aEnd);
    const rightEnd = columnEnd(b, right, bEnd);
    const order = compareRanges(a, left, leftEnd, b, right, rightEnd);
    if (order !== 0) return order;
    left = skipBlanks(a, leftEnd, aEnd);
    right = skipBlanks(b, rightEnd, bEnd);
  }
  return aEnd - left - (bEnd - right);
}
