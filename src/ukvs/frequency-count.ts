import { isDigit } from "../bytes/ascii.ts";

/** The number of mementos that a frequency begins with, bounds left out; 0 if it states none. */
export function frequencyCount(bytes: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end && isDigit(bytes[at]); at++) count = count * 10 + bytes[at] - 0x30;
  return count;
}
