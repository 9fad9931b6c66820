import {
  CLOSE_PAREN,
  COMMA,
  DELETE,
  MINUS,
  NINE,
  PLUS,
  QUESTION,
  QUOTE,
  SLASH,
  SPACE,
  STAR,
  ZERO,
} from "../bytes/bytes.ts";

const TILDE = 0x7e;
/** No count of so many digits is beyond 2^53-1. */
const SAFE_DIGITS = 15;

/** What needs no closer look in a label of a host, and in a path. */
const HOST = bytesOf((byte) => /[a-z\d_.:-]/.test(String.fromCharCode(byte)));
const PATH = bytesOf(
  (byte) => byte > SPACE && byte < DELETE && byte !== QUESTION && byte !== STAR && byte !== QUOTE,
);

/**
 * The end of the key of a row that is as nearly all rows are: a key of common characters, a space and
 * a frequency. Such a row has no fault in itself. -1 where a closer look is needed.
 *
 * One pass over `bytes[start, end)`; makes nothing.
 */
export function plainKeyEnd(bytes: Uint8Array, start: number, end: number): number {
  let labelStart = start;
  let at = start;
  for (;;) {
    while (at < end && HOST[bytes[at]] === 1) at++;
    if (at === labelStart || at >= end) return -1;
    if (bytes[at] === CLOSE_PAREN) break;
    if (bytes[at] !== COMMA) return -1;
    at++;
    labelStart = at;
    if (bytes[at] === STAR) return withFrequency(bytes, at + 1, end);
  }
  const pathStart = at + 1;
  if (pathStart >= end || bytes[pathStart] !== SLASH) return -1;
  at = pathStart + 1;
  while (at < end && PATH[bytes[at]] === 1) at++;
  if (bytes[at] === STAR) return bytes[at - 1] === SLASH ? withFrequency(bytes, at + 1, end) : -1;
  if (bytes[at - 1] === SLASH && at > pathStart + 1) return -1;
  return withFrequency(bytes, at, end);
}

/** The end of the key, if a space and a frequency follow. */
function withFrequency(bytes: Uint8Array, keyEnd: number, end: number): number {
  if (keyEnd >= end || bytes[keyEnd] !== SPACE) return -1;
  return plainFrequencyEnd(bytes, keyEnd + 1, end) === end ? keyEnd : -1;
}

/** The end of a frequency with a count of mementos, as writers have it; -1 where there is none. */
export function plainFrequencyEnd(bytes: Uint8Array, start: number, end: number): number {
  const at = countEnd(bytes, start, end);
  return at !== -1 && at < end && bytes[at] === SLASH ? countEnd(bytes, at + 1, end) : at;
}

/** The end of a count of some digits and perhaps a bound; -1 where there is none. */
function countEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] >= ZERO && bytes[at] <= NINE) at++;
  if (at === start || at - start > SAFE_DIGITS) return -1;
  const byte = at < end ? bytes[at] : 0;
  return byte === PLUS || byte === MINUS || byte === TILDE ? at + 1 : at;
}

function bytesOf(isMember: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (isMember(byte) ? 1 : 0));
}
