import { isDigit } from "../bytes/bytes.ts";

const MIN_DIGITS = 4;
/** Fourteen, and three of milliseconds, which some indexers write. */
const MAX_DIGITS = 17;

/** The end of the datetime digits at `start`, or -1 if there are too few or too many. */
export function dateEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isDigit(bytes[at])) at++;
  const digits = at - start;
  return digits >= MIN_DIGITS && digits <= MAX_DIGITS ? at : -1;
}

const ZERO = 0x30;

/**
 * The end of the longest start of a datetime that is one: of `20140000000000`, which indexes have
 * where only the year is known, `2014` is left, as there is no month 0. The year is taken as it is.
 */
export function timePrefixEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start + MIN_DIGITS;
  for (const [least, most] of PARTS) {
    if (at >= end) break;
    const tens = bytes[at] - ZERO;
    const last = most === 31 ? daysOf(bytes, start) : most;
    // One digit stands for all numbers that begin with it.
    if (at + 1 === end) return tens * 10 <= last ? end : at;
    const value = tens * 10 + bytes[at + 1] - ZERO;
    if (value < least || value > last) return at;
    at += 2;
  }
  return Math.min(at, end);
}

/** Month, day, hour, minute, second. */
const PARTS = [
  [1, 12],
  [1, 31],
  [0, 23],
  [0, 59],
  [0, 59],
] as const;

/** The days of the month that six digits name. */
function daysOf(bytes: Uint8Array, start: number): number {
  const digit = (i: number): number => bytes[start + i] - ZERO;
  const year = digit(0) * 1000 + digit(1) * 100 + digit(2) * 10 + digit(3);
  const month = digit(4) * 10 + digit(5);
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
}
