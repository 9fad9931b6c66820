import { CR, LF, SPACE } from "../../bytes/bytes.ts";

/** The end of the line that `at` is in, without CR and LF. */
export function lineEnd(bytes: Uint8Array, at: number): number {
  let end = at;
  while (end < bytes.length && bytes[end] !== LF) end++;
  return end > at && bytes[end - 1] === CR ? end - 1 : end;
}

/** The start of the line behind a line end. */
export function nextLine(bytes: Uint8Array, end: number): number {
  return bytes[end] === CR ? end + 2 : end + 1;
}

/** Whether a key cannot go on at `at`. */
export function isKeyEnd(bytes: Uint8Array, at: number): boolean {
  return at >= bytes.length || bytes[at] <= SPACE;
}

/** The end of the key that starts a line. */
export function keyEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] > SPACE) at++;
  return at;
}
