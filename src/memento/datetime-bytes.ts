import { isDigit, ZERO } from "../bytes/ascii.ts";
import { MONTHS, tryDatetime, tryParseDatetime, WEEKDAYS, weekdayOf } from "./datetime.ts";

/** The length of `Wed, 09 Apr 2008 20:30:51 GMT`. */
export const HTTP_DATE_BYTES = 29;

/** The length of `2008-04-09T20:30:51Z`. */
export const RFC_3339_BYTES = 20;

/** The length of `20080409203051`. */
export const DATETIME_DIGITS = 14;

const DECODER = new TextDecoder();

/** As `tryParseDatetime`, of bytes; makes no string where the form is one of the usual ones. */
export function tryReadDatetime(bytes: Uint8Array, start: number, end: number): number | undefined {
  if (end - start === HTTP_DATE_BYTES && hasHttpDateShape(bytes, start)) {
    const month = monthAt(bytes, start + 8);
    const year = twoDigits(bytes, start + 12) * 100 + twoDigits(bytes, start + 14);
    const datetime = tryDatetime(
      year,
      month,
      twoDigits(bytes, start + 5),
      twoDigits(bytes, start + 17),
      twoDigits(bytes, start + 20),
      twoDigits(bytes, start + 23),
    );
    if (datetime !== undefined) return datetime;
  } else if (end - start === RFC_3339_BYTES && hasRfc3339Shape(bytes, start)) {
    const datetime = tryDatetime(
      twoDigits(bytes, start) * 100 + twoDigits(bytes, start + 2),
      twoDigits(bytes, start + 5),
      twoDigits(bytes, start + 8),
      twoDigits(bytes, start + 11),
      twoDigits(bytes, start + 14),
      twoDigits(bytes, start + 17),
    );
    if (datetime !== undefined) return datetime;
  } else if (end - start === DATETIME_DIGITS) {
    return tryReadDigits(bytes, start);
  }
  return tryParseDatetime(DECODER.decode(bytes.subarray(start, end)));
}

/** Reads the fourteen digits of YYYYMMDDhhmmss at `start`; `undefined` where there is no such time. */
export function tryReadDigits(bytes: Uint8Array, start: number): number | undefined {
  return tryDatetime(
    twoDigits(bytes, start) * 100 + twoDigits(bytes, start + 2),
    twoDigits(bytes, start + 4),
    twoDigits(bytes, start + 6),
    twoDigits(bytes, start + 8),
    twoDigits(bytes, start + 10),
    twoDigits(bytes, start + 12),
  );
}

/** Whether blanks, colons and `GMT` are where they are in `Wed, 09 Apr 2008 20:30:51 GMT`. */
function hasHttpDateShape(bytes: Uint8Array, at: number): boolean {
  return (
    isLetter(bytes[at]) &&
    isLetter(bytes[at + 1]) &&
    isLetter(bytes[at + 2]) &&
    bytes[at + 3] === 0x2c &&
    bytes[at + 4] === 0x20 &&
    bytes[at + 7] === 0x20 &&
    bytes[at + 11] === 0x20 &&
    bytes[at + 16] === 0x20 &&
    bytes[at + 19] === 0x3a &&
    bytes[at + 22] === 0x3a &&
    bytes[at + 25] === 0x20 &&
    bytes[at + 26] === 0x47 &&
    bytes[at + 27] === 0x4d &&
    bytes[at + 28] === 0x54
  );
}

function isLetter(byte: number): boolean {
  return (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
}

/** Whether dashes, colons and letters are where they are in `2008-04-09T20:30:51Z`. */
function hasRfc3339Shape(bytes: Uint8Array, at: number): boolean {
  return (
    bytes[at + 4] === 0x2d &&
    bytes[at + 7] === 0x2d &&
    bytes[at + 10] === 0x54 &&
    bytes[at + 13] === 0x3a &&
    bytes[at + 16] === 0x3a &&
    bytes[at + 19] === 0x5a
  );
}

/** Two digits as a number, or NaN, which no part of a datetime is, nor a sum it is in. */
function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = bytes[at];
  const ones = bytes[at + 1];
  return isDigit(tens) && isDigit(ones) ? (tens - ZERO) * 10 + ones - ZERO : Number.NaN;
}

/** The three letters of each month in one number. */
const MONTH_LETTERS = Int32Array.from(
  MONTHS,
  (name) => (name.charCodeAt(0) << 16) | (name.charCodeAt(1) << 8) | name.charCodeAt(2),
);

function monthAt(bytes: Uint8Array, at: number): number {
  const letters = (bytes[at] << 16) | (bytes[at + 1] << 8) | bytes[at + 2];
  for (let i = 0; i < 12; i++) if (MONTH_LETTERS[i] === letters) return i + 1;
  return 0;
}

const MONTH_BYTES: readonly Uint8Array[] = MONTHS.map((name) => new TextEncoder().encode(name));
const WEEKDAY_BYTES: readonly Uint8Array[] = WEEKDAYS.map((name) => new TextEncoder().encode(name));

/** Writes what {@link formatHttpDate} makes at `at`; returns the offset behind it. */
export function writeHttpDate(datetime: number, target: Uint8Array, at: number): number {
  const date = Math.floor(datetime / 1e6);
  const yearMonth = Math.floor(date / 100);
  const year = Math.floor(yearMonth / 100);
  copyThree(WEEKDAY_BYTES[weekdayOf(datetime)], target, at);
  target[at + 3] = 0x2c;
  target[at + 4] = 0x20;
  writeTwo(date - yearMonth * 100, target, at + 5);
  target[at + 7] = 0x20;
  copyThree(MONTH_BYTES[yearMonth - year * 100 - 1], target, at + 8);
  target[at + 11] = 0x20;
  writeYear(year, target, at + 12);
  target[at + 16] = 0x20;
  writeClock(datetime - date * 1e6, target, at + 17);
  target[at + 25] = 0x20;
  target[at + 26] = 0x47;
  target[at + 27] = 0x4d;
  target[at + 28] = 0x54;
  return at + HTTP_DATE_BYTES;
}

/** Writes what {@link formatRfc3339} makes at `at`; returns the offset behind it. */
export function writeRfc3339(datetime: number, target: Uint8Array, at: number): number {
  const date = Math.floor(datetime / 1e6);
  const yearMonth = Math.floor(date / 100);
  const year = Math.floor(yearMonth / 100);
  writeYear(year, target, at);
  target[at + 4] = 0x2d;
  writeTwo(yearMonth - year * 100, target, at + 5);
  target[at + 7] = 0x2d;
  writeTwo(date - yearMonth * 100, target, at + 8);
  target[at + 10] = 0x54;
  writeClock(datetime - date * 1e6, target, at + 11);
  target[at + 19] = 0x5a;
  return at + RFC_3339_BYTES;
}

/** Writes what {@link formatDatetime} makes at `at`; returns the offset behind it. */
export function writeDatetime(datetime: number, target: Uint8Array, at: number): number {
  let rest = datetime;
  for (let i = at + 12; i >= at; i -= 2) {
    const left = Math.floor(rest / 100);
    writeTwo(rest - left * 100, target, i);
    rest = left;
  }
  return at + DATETIME_DIGITS;
}

/** `20:30:51` of 203051. */
function writeClock(clock: number, target: Uint8Array, at: number): void {
  const hourMinute = Math.floor(clock / 100);
  const hour = Math.floor(hourMinute / 100);
  writeTwo(hour, target, at);
  target[at + 2] = 0x3a;
  writeTwo(hourMinute - hour * 100, target, at + 3);
  target[at + 5] = 0x3a;
  writeTwo(clock - hourMinute * 100, target, at + 6);
}

function writeYear(year: number, target: Uint8Array, at: number): void {
  const century = Math.floor(year / 100);
  writeTwo(century, target, at);
  writeTwo(year - century * 100, target, at + 2);
}

function writeTwo(value: number, target: Uint8Array, at: number): void {
  const tens = Math.floor(value / 10);
  target[at] = ZERO + tens;
  target[at + 1] = ZERO + value - tens * 10;
}

function copyThree(letters: Uint8Array, target: Uint8Array, at: number): void {
  target[at] = letters[0];
  target[at + 1] = letters[1];
  target[at + 2] = letters[2];
}
