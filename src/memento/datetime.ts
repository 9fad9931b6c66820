import { MementoMapError, quote } from "../errors.ts";
import { isDigit, ZERO } from "../bytes/bytes.ts";

/*
 * A datetime is the fourteen digits of YYYYMMDDhhmmss in UTC as one number, 20080409203051: exact,
 * ordered like the time itself, and half the size of an object.
 */

/** As HTTP dates name them. */
const MONTHS: readonly string[] = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
/** As HTTP dates name them, beginning with the day that the first of January 1970 was. */
const WEEKDAYS: readonly string[] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const DAYS_OF_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const SECONDS_OF_DAY = 86_400;

/** The datetime of a clock reading, or `undefined` where there is no such time: months have their own lengths. */
function tryDatetime(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number | undefined {
  const isTime =
    year >= 0 &&
    year <= 9999 &&
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    (day <= 28 || day <= daysOfMonth(year, month)) &&
    hour >= 0 &&
    hour <= 23 &&
    minute >= 0 &&
    minute <= 59 &&
    second >= 0 &&
    second <= 59;
  return isTime
    ? year * 1e10 + month * 1e8 + day * 1e6 + hour * 1e4 + minute * 100 + second
    : undefined;
}

function daysOfMonth(year: number, month: number): number {
  if (month !== 2) return DAYS_OF_MONTH[month - 1];
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
}

/** Milliseconds since 1970 of a datetime. */
export function epochMs(datetime: number): number {
  return (epochDays(datetime) * SECONDS_OF_DAY + secondOfDay(datetime)) * 1000;
}

/** The datetime of a time in milliseconds since 1970, which are cut to whole seconds. */
export function datetimeOfEpochMs(ms: number): number {
  const seconds = Math.floor(ms / 1000);
  const days = Math.floor(seconds / SECONDS_OF_DAY);
  const second = seconds - days * SECONDS_OF_DAY;
  const clock =
    Math.floor(second / 3600) * 1e4 + (Math.floor(second / 60) % 60) * 100 + (second % 60);
  return dateOfEpochDays(days) * 1e6 + clock;
}

/**
 * Days since 1970, by the civil calendar extended to all years.
 *
 * Years begin in March here, so that the leap day is the last of its year. 719,468 is the number
 * of days from 1 March of the year 0 to 1970.
 */
function epochDays(datetime: number): number {
  const date = Math.floor(datetime / 1e6);
  const month = Math.floor(date / 100) % 100;
  const year = Math.floor(date / 10_000) - (month <= 2 ? 1 : 0);
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + (date % 100) - 1;
  const leapDays = Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400);
  return year * 365 + leapDays + dayOfYear - 719_468;
}

function dateOfEpochDays(epoch: number): number {
  const days = epoch + 719_468;
  const era = Math.floor(days / 146_097);
  const dayOfEra = days - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return year * 10_000 + month * 100 + day;
}

function secondOfDay(datetime: number): number {
  const clock = datetime % 1e6;
  const minutes = Math.floor(clock / 100);
  return Math.floor(minutes / 100) * 3600 + (minutes % 100) * 60 + (clock % 100);
}

/** Fourteen digits, also of years before 1000. */
export function formatDatetime(datetime: number): string {
  return String(datetime).padStart(14, "0");
}

/** `Wed, 09 Apr 2008 20:30:51 GMT`, the form of HTTP headers and of link-format. */
export function formatHttpDate(datetime: number): string {
  const digits = formatDatetime(datetime);
  const weekday = WEEKDAYS[weekdayOf(datetime)];
  const month = MONTHS[Number(digits.slice(4, 6)) - 1];
  return `${weekday}, ${digits.slice(6, 8)} ${month} ${digits.slice(0, 4)} ${clockOf(digits)} GMT`;
}

/** `2008-04-09T20:30:51Z`, the form of JSON TimeMaps. */
export function formatRfc3339(datetime: number): string {
  const digits = formatDatetime(datetime);
  return `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6, 8)}T${clockOf(digits)}Z`;
}

function clockOf(digits: string): string {
  return `${digits.slice(8, 10)}:${digits.slice(10, 12)}:${digits.slice(12)}`;
}

/** The place of its day in {@link WEEKDAYS}. */
function weekdayOf(datetime: number): number {
  return ((epochDays(datetime) % 7) + 7) % 7;
}

/** An RFC 1123 date with its liberties: one digit of a day, no weekday, no seconds, a zone. */
const LOOSE_DATE =
  /^(?:[a-z]+,?\s*)?(\d{1,2})[ -]([a-z]{3})[a-z]*[ -](\d{4}),?\s+(\d\d?):(\d\d)(?::(\d\d))?\s*(?:GMT|UTC?|Z|([+-])(\d\d):?(\d\d))?$/i;

/** RFC 3339 and its ISO 8601 relatives; with no zone it is UTC, as everywhere in Memento. */
const ISO_DATE =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s*(?:Z|([+-])(\d\d):?(\d\d))?$/i;

/**
 * Reads a datetime as archives write it: RFC 1123 and what is meant as such, RFC 3339, or fourteen
 * digits. `undefined` for anything else, and for times that do not exist.
 */
export function tryParseDatetime(text: string): number | undefined {
  const trimmed = text.trim();
  const loose = LOOSE_DATE.exec(trimmed);
  if (loose !== null) {
    const [, day, name = "", year, hour, minute, second = "0", sign, zoneHour, zoneMinute] = loose;
    const month = MONTHS.findIndex((m) => m.toLowerCase() === name.toLowerCase()) + 1;
    const local = tryDatetime(+year, month, +day, +hour, +minute, +second);
    return toUtc(local, sign, zoneHour, zoneMinute);
  }
  const iso = ISO_DATE.exec(trimmed);
  if (iso !== null) {
    const [, year, month, day, hour, minute, second = "0", sign, zoneHour, zoneMinute] = iso;
    const local = tryDatetime(+year, +month, +day, +hour, +minute, +second);
    return toUtc(local, sign, zoneHour, zoneMinute);
  }
  return /^\d{14}$/.test(trimmed) ? tryParseDigits(trimmed) : undefined;
}

function toUtc(
  local: number | undefined,
  sign: string | undefined,
  hours: string | undefined,
  minutes: string | undefined,
): number | undefined {
  if (local === undefined || sign === undefined) return local;
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000;
  const utc = datetimeOfEpochMs(epochMs(local) + (sign === "+" ? -offsetMs : offsetMs));
  return utc >= 0 && utc < 1e14 ? utc : undefined;
}

function tryParseDigits(digits: string): number | undefined {
  const part = (from: number): number => Number(digits.slice(from, from + 2));
  return tryDatetime(Number(digits.slice(0, 4)), part(4), part(6), part(8), part(10), part(12));
}

/**
 * Reads `YYYY[MM[DD[hh[mm[ss]]]]]`; what is missing is the first of its kind, so that `2008` is the
 * beginning of that year.
 *
 * @throws MM_BAD_INPUT for other text and times that do not exist.
 */
export function parsePaddedDatetime(text: string): number {
  if (/^\d{4}(?:\d\d){0,5}$/.test(text)) {
    const datetime = tryParseDigits(text + "00000101000000".slice(text.length));
    if (datetime !== undefined) return datetime;
  }
  throw new MementoMapError(
    "MM_BAD_INPUT",
    `not a datetime: ${quote(text)}; write YYYY[MM[DD[hh[mm[ss]]]]]`,
  );
}

/**
 * Reads the `Accept-Datetime` header of a request to a TimeGate.
 *
 * @throws MM_BAD_INPUT for what is not a datetime.
 */
export function parseAcceptDatetime(text: string): number {
  const datetime = tryParseDatetime(text);
  if (datetime !== undefined) return datetime;
  throw new MementoMapError(
    "MM_BAD_INPUT",
    `not a datetime: ${quote(text)}; write it like "Wed, 09 Apr 2008 20:30:51 GMT"`,
  );
}

/** The length of `Wed, 09 Apr 2008 20:30:51 GMT`. */
const HTTP_DATE_BYTES = 29;

/** The length of `2008-04-09T20:30:51Z`. */
const RFC_3339_BYTES = 20;

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

const MONTH_LETTERS = Int32Array.from(
  MONTHS,
  (name) => (name.charCodeAt(0) << 16) | (name.charCodeAt(1) << 8) | name.charCodeAt(2),
);

function monthAt(bytes: Uint8Array, at: number): number {
  const letters = (bytes[at] << 16) | (bytes[at + 1] << 8) | bytes[at + 2];
  for (let i = 0; i < 12; i++) if (MONTH_LETTERS[i] === letters) return i + 1;
  return 0;
}

/**
 * The end of a time that is named by its first digits, fourteen digits as a number: `2014` lasts
 * until 20141231235959.
 *
 * To compare with: months have up to 31 days here, which is behind all days they have and before
 * the next month.
 */
export function lastSecondOf(digits: string): number {
  return Number(digits + "99991231235959".slice(digits.length));
}
