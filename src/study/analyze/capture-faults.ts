import { isDigit } from "../../bytes/bytes.ts";

/** What can be wrong with the datetime of a capture that has one. */
export const DATETIME_FAULTS = [
  "not 14 digits",
  "no such month",
  "no such day",
  "no such time",
  "before the Web (1990)",
  "in the future",
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
  /** The end of tomorrow, for clocks and time zones that are ahead. */
  readonly #limit = new Date(Date.now() + 2 * DAY_MS)
    .toISOString()
    .slice(0, 10)
    .replaceAll("-", "");

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
    else if (!isBefore(bytes, start, this.#limit)) {
      this.fault = 5;
      // One such capture would stretch every chart.
      this.year = -1;
      this.month = 0;
    }
  }

  /** Year and month as one number that sorts by time; 0 for no datetime. */
  get code(): number {
    return this.year === -1 ? 0 : this.year * MONTHS_PER_YEAR + this.month + 1;
  }
}

const DAY_MS = 86_400_000;

function isBefore(bytes: Uint8Array, start: number, digits: string): boolean {
  for (let i = 0; i < digits.length; i++) {
    const difference = bytes[start + i] - digits.charCodeAt(i);
    if (difference !== 0) return difference < 0;
  }
  return false;
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
