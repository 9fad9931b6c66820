import { CLOSE_PAREN, COLON, COMMA, isDigit, PERCENT } from "../../bytes/bytes.ts";

/** What can be wrong with the datetime of a capture that has one. */
export const DATETIME_FAULTS = [
  "not 14 digits",
  "no such month",
  "no such day",
  "no such time",
  "before the Web (1990)",
] as const;

/** Months of a year, and 0 for none. */
export const MONTHS_PER_YEAR = 13;

/**
 * Looks at the datetime of a capture, `bytes[start, end)`, digits only.
 *
 * Keeps what is known: the year, the month (0 if unknown) and the fault (-1 for none).
 */
export class DatetimeCheck {
  /** -1 where there is no datetime. */
  year = -1;
  month = 0;
  /** An index into {@link DATETIME_FAULTS}. */
  fault = -1;

  set(bytes: Uint8Array, start: number, end: number): void {
    this.year = -1;
    this.month = 0;
    this.fault = -1;
    if (start === -1) return;
    const length = end - start;
    if (length < 4 || !isDigit(bytes[start])) {
      this.fault = 0;
      return;
    }
    this.year = pair(bytes, start) * 100 + pair(bytes, start + 2);
    const month = length < 6 ? 0 : pair(bytes, start + 4);
    if (month >= 1 && month <= 12) this.month = month;
    if (length !== 14) this.fault = 0;
    else if (this.month === 0) this.fault = 1;
    else if (!isDay(this.year, month, pair(bytes, start + 6))) this.fault = 2;
    else if (!isTime(bytes, start + 8)) this.fault = 3;
    else if (this.year < 1990) this.fault = 4;
  }

  /** Year and month as one number that sorts by time; 0 for no datetime. */
  get code(): number {
    return this.year === -1 ? 0 : this.year * MONTHS_PER_YEAR + this.month + 1;
  }
}

/** The year and month of a {@link DatetimeCheck.code}; undefined for none. */
export function yearMonthOf(code: number): { year: number; month: number } | undefined {
  if (code === 0) return undefined;
  return { year: Math.floor((code - 1) / MONTHS_PER_YEAR), month: (code - 1) % MONTHS_PER_YEAR };
}

/** The year of a {@link DatetimeCheck.code}; -1 for none. */
export function yearOf(code: number): number {
  return code === 0 ? -1 : Math.floor((code - 1) / MONTHS_PER_YEAR);
}

function pair(bytes: Uint8Array, at: number): number {
  return (bytes[at] - 0x30) * 10 + (bytes[at + 1] - 0x30);
}

function isTime(bytes: Uint8Array, at: number): boolean {
  // A leap second has the number 60.
  return pair(bytes, at) < 24 && pair(bytes, at + 2) < 60 && pair(bytes, at + 4) <= 60;
}

const DAYS = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDay(year: number, month: number, day: number): boolean {
  if (day < 1 || day > DAYS[month]) return false;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return !(month === 2 && day === 29 && !isLeap);
}

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
