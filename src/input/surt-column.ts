import { CLOSE_PAREN, QUESTION, SLASH } from "../bytes/bytes.ts";

/** Whether a column holds a SURT, `com,example)/a`, and not `example.com/a`. */
export function looksLikeSurt(bytes: Uint8Array, start: number, end: number): boolean {
  return surtHostEnd(bytes, start, end) !== -1;
}

/** The offset of the `)` that makes a column a SURT, or -1. */
export function surtHostEnd(bytes: Uint8Array, start: number, end: number): number {
  for (let i = start; i < end && bytes[i] !== QUESTION; i++) {
    if (bytes[i] === CLOSE_PAREN && endsHost(bytes, i, end)) return i === start ? -1 : i;
  }
  return -1;
}

/** Whether the path, the query or nothing follows a `)`. */
function endsHost(bytes: Uint8Array, paren: number, end: number): boolean {
  const next = bytes[paren + 1];
  return paren + 1 === end || next === SLASH || next === QUESTION;
}
