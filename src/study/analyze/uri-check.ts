import { CLOSE_PAREN, COLON, COMMA, PERCENT, isDigit } from "../../bytes/ascii.ts";

/** What can be wrong with the URI of a capture, or with its host; the first that fits is counted. */
export const URI_FAULTS = [
  "no host",
  "host with characters no host has",
  "neither http nor https",
  "blank, control or non-ASCII character",
  "broken percent-encoding",
  "longer than 2,048 bytes",
] as const;

const MAX_URI_BYTES = 2048;
const BAD_BYTE = 1;
const ESCAPE = 2;

/** What a byte means to the check of a URI. */
const BYTE_CLASS = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++)
  if (byte <= 0x20 || byte >= 0x7f) BYTE_CLASS[byte] = BAD_BYTE;
BYTE_CLASS[PERCENT] = ESCAPE;

const isHostByte = new Uint8Array(256);
for (const letter of "abcdefghijklmnopqrstuvwxyz0123456789-_,") {
  isHostByte[letter.charCodeAt(0)] = 1;
}

/** The fault of a URI, `bytes[start, end)`, as an index into {@link URI_FAULTS}; -1 for none. */
export function uriFault(bytes: Uint8Array, start: number, end: number): number {
  if (!isHttp(bytes, start, end)) return 2;
  let classes = 0;
  for (let at = start; at < end; at++) classes |= BYTE_CLASS[bytes[at]];
  if ((classes & BAD_BYTE) !== 0) return 3;
  if ((classes & ESCAPE) !== 0 && hasBrokenEscape(bytes, start, end)) return 4;
  return end - start > MAX_URI_BYTES ? 5 : -1;
}

/** The fault of the host of a SURT, `bytes[start, end)`; as {@link uriFault}. */
export function hostFault(bytes: Uint8Array, start: number, end: number): number {
  if (start >= end || bytes[start] === CLOSE_PAREN) return 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte === CLOSE_PAREN) return bytes[at - 1] === COMMA ? 1 : -1;
    if (byte === COLON) return portFault(bytes, at + 1, end);
    // IPv6 addresses stand in brackets.
    if (isHostByte[byte] === 0) return bytes[start] === 0x5b ? -1 : 1;
  }
  return 0;
}

function portFault(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isDigit(bytes[at])) at++;
  return at > start && bytes[at] === CLOSE_PAREN ? -1 : 1;
}

/** Bare hosts and paths, as some indexes have them, are fine too. */
function isHttp(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end && isSchemeByte(bytes[at])) at++;
  const hasScheme = at > start && at + 2 < end && bytes[at] === COLON && bytes[at + 1] === 0x2f;
  if (!hasScheme || bytes[at + 2] !== 0x2f) return true;
  const length = at - start;
  if (length !== 4 && length !== 5) return false;
  const lower = (i: number): number => bytes[start + i] | 0x20;
  const isHttpName = lower(0) === 0x68 && lower(1) === 0x74 && lower(2) === 0x74;
  return isHttpName && lower(3) === 0x70 && (length === 4 || lower(4) === 0x73);
}

function isSchemeByte(byte: number): boolean {
  const letter = byte | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || isDigit(byte) || (byte >= 0x2b && byte <= 0x2e);
}

function hasBrokenEscape(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (bytes[at] !== PERCENT) continue;
    if (at + 2 >= end || !isHex(bytes[at + 1]) || !isHex(bytes[at + 2])) return true;
  }
  return false;
}

function isHex(byte: number): boolean {
  const letter = byte | 0x20;
  return isDigit(byte) || (letter >= 0x61 && letter <= 0x66);
}
