import { MementoMapError, quote } from "../errors.ts";

/**
 * The time a datetime key covers, both ends included. Each end is a prefix of `YYYYMMDDhhmmss` and
 * stands for all times that begin with it; an end that is absent is open.
 */
export interface DatetimeRange {
  readonly from?: string;
  readonly until?: string;
}

const PREFIX = /^\d{4,14}$/;
const MAX_LENGTH = 14;

/**
 * Reads a datetime key: a prefix of 4 to 14 digits, or a range `a:b`, `a:`, `:b`, `:`.
 *
 * @throws MementoMapError `MM_BAD_KEY` for other text, times that do not exist, and ranges that end
 *   before they begin.
 */
export function parseDatetimeKey(text: string): DatetimeRange {
  const parts = text.split(":");
  if (parts.length > 2) throw badKey(text, 'more than one ":"');
  const [first = "", last = first] = parts;
  if (parts.length === 1 && first === "") throw badKey(text, "it is empty");
  for (const prefix of [first, last]) if (prefix !== "") checkPrefix(prefix, text);
  if (first !== "" && last !== "" && first.slice(0, last.length) > last) {
    throw badKey(text, "it ends before it begins");
  }
  return {
    ...(first === "" ? {} : { from: first }),
    ...(last === "" ? {} : { until: last }),
  };
}

/** Writes the shortest key that covers the same time: a range from and until one prefix is that. */
export function formatDatetimeKey(range: DatetimeRange): string {
  const { from = "", until = "" } = range;
  return from === until && from !== "" ? from : `${from}:${until}`;
}

/**
 * Whether a range holds a time of 14 digits.
 *
 * @throws MementoMapError `MM_BAD_KEY` if `datetime14` is no such time.
 */
export function covers(range: DatetimeRange, datetime14: string): boolean {
  if (datetime14.length !== MAX_LENGTH) throw badKey(datetime14, "expected YYYYMMDDhhmmss");
  checkPrefix(datetime14, datetime14);
  const { from, until } = range;
  return (
    (from === undefined || datetime14 >= from) &&
    (until === undefined || datetime14.slice(0, until.length) <= until)
  );
}

/** Whether two ranges have a time in common. */
export function overlap(a: DatetimeRange, b: DatetimeRange): boolean {
  return firstTime(a) <= lastTime(b) && firstTime(b) <= lastTime(a);
}

/** Whether all times of a range are in another. */
export function contains(outer: DatetimeRange, inner: DatetimeRange): boolean {
  return firstTime(outer) <= firstTime(inner) && lastTime(inner) <= lastTime(outer);
}

/** Fourteen digits: what a beginning leaves out counts as 0. */
function firstTime({ from = "" }: DatetimeRange): string {
  return from.padEnd(MAX_LENGTH, "0");
}

/** Fourteen digits: what an end leaves out counts as 9. */
function lastTime({ until = "" }: DatetimeRange): string {
  return until.padEnd(MAX_LENGTH, "9");
}

/** Refuses digits that begin no time: there is no month 13, and none begins with 2. */
function checkPrefix(prefix: string, key: string): void {
  if (!PREFIX.test(prefix))
    throw badKey(key, "expected 4 to 14 digits, a prefix of YYYYMMDDhhmmss");
  const year = Number(prefix.slice(0, 4));
  const month = Number(prefix.slice(4, 6));
  checkPart(key, "month", prefix.slice(4, 6), 1, 12);
  checkPart(key, "day", prefix.slice(6, 8), 1, daysOf(year, month));
  checkPart(key, "hour", prefix.slice(8, 10), 0, 23);
  checkPart(key, "minute", prefix.slice(10, 12), 0, 59);
  checkPart(key, "second", prefix.slice(12, 14), 0, 59);
}

function checkPart(key: string, name: string, digits: string, least: number, most: number): void {
  if (digits === "") return;
  // A single digit is the first of two: it stands for all numbers that begin with it.
  const missing = 10 ** (2 - digits.length);
  const low = Number(digits) * missing;
  if (low + missing - 1 < least || low > most) throw badKey(key, `there is no ${name} ${digits}`);
}

function daysOf(year: number, month: number): number {
  if (month === 2) {
    return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  }
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function badKey(key: string, fault: string): MementoMapError {
  return new MementoMapError("MM_BAD_KEY", `datetime key ${quote(key)}: ${fault}`);
}
