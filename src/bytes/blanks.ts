import { COMMA, SPACE } from "./ascii.ts";

/** The offset of the first byte from `from` on that is no blank or control character; or `end`. */
export function skipBlanks(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] <= SPACE) at++;
  return at;
}

/** The same, for lists whose separators do not matter. */
export function skipBlanksAndCommas(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && (bytes[at] <= SPACE || bytes[at] === COMMA)) at++;
  return at;
}
