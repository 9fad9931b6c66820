import { isDigit } from "../../bytes/bytes.ts";

/** Possible errors in the datetime of a capture. */
export const DATETIME_FAULTS = [
  "not 14 digits",
  "no such month",
  "no such day",
  "no such time",
  "before the Web (1990)",
  "in the future",
] as const;

const IN_FUTURE = 5;
/** Months of a year, and 0 for none. */
export const MONTHS_PER_YEAR = 13;
const DAY_MS = 86_400_000;

/**
 * Parses the datetime of a capture, digits only.
 *
 * Keeps the year, the month (0 if unknown) and the error (-1 for none).
 */
export class DatetimeCheck {
  /** The first 14 digits; 0 without a datetime. */
  value = 0;
  /** -1 without a datetime. */
  year = -1;
  month = 0;
  /** An index into {@link DATETIME_FAULTS}. */
  fault = -1;
  /** The end of tomorrow, to tolerate clocks and time zones that are ahead. */
  readonly #limit: number;

  constructor() {
    const after = new Date(Date.now() + 2 * DAY_MS).toISOString();
    this.#limit = Number(after.slice(0, 10).replaceAll("-", "")) * 1e6;
  }

  /** Checks the datetime `bytes[start, end)`; a start of -1 means none. */
  set(bytes: Uint8Array, start: number, end: number): void {
    this.value = 0;
    this.year = -1;
    this.month = 0;
    this.fault = -1;
    if (start === -1) return;
    const length = end - start;
    if (length < 4 || !isDigit(bytes[start])) {
      this.fault = 0;
      return;
    }
    let value = 0;
    for (let i = 0; i < 14; i++) value = value * 10 + (i < length ? bytes[start + i] - 0x30 : 0);
    const month = length < 6 ? 0 : Math.floor(value / 1e8) % 100;
    this.value = value;
    this.year = Math.floor(value / 1e10);
    this.month = month <= 12 ? month : 0;
    this.fault = length === 14 ? this.#faultOf(value) : 0;
    // One such capture would stretch every chart.
    if (this.fault === IN_FUTURE) [this.year, this.month] = [-1, 0];
  }

  #faultOf(value: number): number {
    const { year, month } = this;
    const day = Math.floor(value / 1e6) % 100;
    const clock = value % 1e6;
    if (month === 0) return 1;
    if (day === 0 || day > daysOf(year, month)) return 2;
    // Second 60 is a leap second.
    if (clock >= 24e4 || clock % 1e4 >= 6000 || clock % 100 > 60) return 3;
    if (year < 1990) return 4;
    return value >= this.#limit ? IN_FUTURE : -1;
  }

  /** Year and month as one number that sorts by time; 0 for no datetime. */
  get code(): number {
    return this.year === -1 ? 0 : codeOf(this.year, this.month);
  }
}

function daysOf(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

export function codeOf(year: number, month: number): number {
  return year * MONTHS_PER_YEAR + month + 1;
}

/** The year of a {@link DatetimeCheck.code}; -1 for none. */
export function yearOf(code: number): number {
  return code === 0 ? -1 : Math.floor((code - 1) / MONTHS_PER_YEAR);
}

/** Formats a {@link DatetimeCheck.code}: `2014-03`, or `2014` if the month is unknown. */
export function monthName(code: number): string {
  const year = String(yearOf(code)).padStart(4, "0");
  const month = (code - 1) % MONTHS_PER_YEAR;
  return month === 0 ? year : `${year}-${String(month).padStart(2, "0")}`;
}
