import { CLOSE_PAREN, QUESTION } from "../bytes/ascii.ts";

/** Whether a column holds a SURT, `com,example)/a`, and not `example.com/a`. */
export function looksLikeSurt(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end && bytes[i] !== QUESTION; i++) {
    if (bytes[i] === CLOSE_PAREN) return true;
  }
  return false;
}
