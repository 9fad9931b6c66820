import { MementoMapError, quote } from "../errors.ts";

/*
 * A datetime is the fourteen digits of YYYYMMDDhhmmss in UTC as one number, 20080409203051: exact, in
 * chronological order,
 * and half the size of an object.
 */

/** The names in HTTP dates. */
const MONTHS: readonly string[] = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const WEEKDAYS: readonly string[] = "Sun Mon Tue Wed Thu Fri Sat".split(" ");

const MS_OF_400_YEARS = 146_097 * 86_400_000;

/** Converts a datetime to milliseconds since 1970. */
export function epochMs(datetime: number): number {
  const clock = datetime % 1e6;
  const date = Math.floor(datetime / 1e6);
  const year = Math.floor(date / 10_000);
  const month = (Math.floor(date / 100) % 100) - 1;
  const [hour, minute] = [Math.floor(clock / 1e4), Math.floor(clock / 100) % 100];
  // `Date.UTC` reads years up to 99 as 19xx; the calendar repeats every 400 years.
  const ms = Date.UTC(year + 400, month, date % 100, hour, minute, clock % 100);
  return ms - MS_OF_400_YEARS;
}

/** Converts milliseconds since 1970 to a datetime, truncated to whole seconds. */
export function datetimeOfEpochMs(ms: number): number {
  const time = new Date(ms);
  const date = time.getUTCFullYear() * 10_000 + (time.getUTCMonth() + 1) * 100 + time.getUTCDate();
  const clock = time.getUTCHours() * 1e4 + time.getUTCMinutes() * 100 + time.getUTCSeconds();
  return date * 1e6 + clock;
}

/** Fourteen digits, padded for years before 1000. */
export function formatDatetime(datetime: number): string {
  return String(datetime).padStart(14, "0");
}

/** `Wed, 09 Apr 2008 20:30:51 GMT`, the form of HTTP headers and of link-format. */
export function formatHttpDate(datetime: number): string {
  const digits = formatDatetime(datetime);
  const weekday = WEEKDAYS[new Date(epochMs(datetime)).getUTCDay()];
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

/** An RFC 1123 date with common variations: one-digit day, no weekday, no seconds, a zone. */
const LOOSE_DATE =
  /^(?:[a-z]+,?\s*)?(\d{1,2})[ -]([a-z]{3})[a-z]*[ -](\d{4}),?\s+(\d\d?):(\d\d)(?::(\d\d))?\s*(?:GMT|UTC?|Z|([+-])(\d\d):?(\d\d))?$/i;

/** RFC 3339 and similar ISO 8601 forms; UTC if there is no zone, as everywhere in Memento. */
const ISO_DATE =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s*(?:Z|([+-])(\d\d):?(\d\d))?$/i;

/**
 * Parses a datetime as archives write it: RFC 1123 and its variations, RFC 3339, or fourteen digits. `undefined` for
 * anything else and for nonexistent times.
 */
export function tryParseDatetime(text: string): number | undefined {
  const trimmed = text.trim();
  const loose = LOOSE_DATE.exec(trimmed);
  if (loose !== null) {
    const [, day, name = "", year, ...clock] = loose;
    const month = MONTHS.findIndex((m) => m.toLowerCase() === name.toLowerCase()) + 1;
    return toUtc(+year * 10_000 + month * 100 + +day, clock);
  }
  const iso = ISO_DATE.exec(trimmed);
  if (iso !== null) {
    const [, year, month, day, ...clock] = iso;
    return toUtc(+year * 10_000 + +month * 100 + +day, clock);
  }
  return /^\d{14}$/.test(trimmed) ? ifExists(Number(trimmed)) : undefined;
}

type Clock = readonly (string | undefined)[];

function toUtc(
  date: number,
  [hour, minute, second = "0", sign, zoneHour, zoneMinute]: Clock,
): number | undefined {
  const local = ifExists(date * 1e6 + Number(hour) * 1e4 + Number(minute) * 100 + Number(second));
  if (local === undefined || sign === undefined) return local;
  const offsetMs = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000;
  const utc = datetimeOfEpochMs(epochMs(local) + (sign === "+" ? -offsetMs : offsetMs));
  return utc >= 0 && utc < 1e14 ? utc : undefined;
}

/** The datetime, or undefined if it does not exist, such as 31 April. */
function ifExists(datetime: number): number | undefined {
  return datetimeOfEpochMs(epochMs(datetime)) === datetime ? datetime : undefined;
}

/**
 * Parses `YYYY[MM[DD[hh[mm[ss]]]]]`; missing fields get their first value, so that `2008` is the beginning of
 * that year.
 *
 * @throws MM_BAD_INPUT for other text and nonexistent times.
 */
export function parsePaddedDatetime(text: string): number {
  if (/^\d{4}(?:\d\d){0,5}$/.test(text)) {
    const datetime = ifExists(Number(text + "00000101000000".slice(text.length)));
    if (datetime !== undefined) return datetime;
  }
  throw new MementoMapError(
    "MM_BAD_INPUT",
    `not a datetime: ${quote(text)}; write YYYY[MM[DD[hh[mm[ss]]]]]`,
  );
}

/**
 * Parses the `Accept-Datetime` header of a TimeGate request.
 *
 * @throws MM_BAD_INPUT for an invalid datetime.
 */
export function parseAcceptDatetime(text: string): number {
  const datetime = tryParseDatetime(text);
  if (datetime !== undefined) return datetime;
  throw new MementoMapError(
    "MM_BAD_INPUT",
    `not a datetime: ${quote(text)}; write it like "Wed, 09 Apr 2008 20:30:51 GMT"`,
  );
}

/** The length of `20080409203051`. */
export const DATETIME_DIGITS = 14;

const DECODER = new TextDecoder();

/** Like `tryParseDatetime`, for bytes. */
export function tryReadDatetime(bytes: Uint8Array, start: number, end: number): number | undefined {
  return tryParseDatetime(DECODER.decode(bytes.subarray(start, end)));
}

/**
 * The last second of a period given by its first digits, as a 14-digit number: `2014` ends at 20141231235959.
 *
 * For comparisons only: every month ends on day 31 here, which may not exist but sorts before the next month.
 */
export function lastSecondOf(digits: string): number {
  return Number(digits + "99991231235959".slice(digits.length));
}
