import { MementoMapError, quote } from "../../errors.ts";
import { YEARS } from "./archive-shape.ts";

/** Which sample archive to make. */
export interface SampleOptions {
  /** The number of captures, 1 or more. */
  readonly lines: number;
  /** A whole number; the same seed gives the same bytes. Default 1. */
  readonly seed?: number | undefined;
  /** The first year of captures. Default 1992, the earliest. */
  readonly startYear?: number | undefined;
  /** The last year of captures. Default 2018, the latest. */
  readonly endYear?: number | undefined;
}

/** {@link SampleOptions} with nothing left out. */
export type CheckedSampleOptions = { readonly [Name in keyof SampleOptions]-?: number };

const FIRST_YEAR = YEARS[0].year;
const LAST_YEAR = YEARS[YEARS.length - 1].year;

/**
 * Options with their defaults.
 *
 * @throws {MementoMapError} `MM_USAGE` if one is out of range.
 */
export function checkSampleOptions(options: SampleOptions): CheckedSampleOptions {
  const { lines, seed = 1, startYear = FIRST_YEAR, endYear = LAST_YEAR } = options;
  if (!Number.isSafeInteger(lines) || lines < 1) throw outOfRange("lines", lines, "1 or more");
  if (!Number.isSafeInteger(seed)) throw outOfRange("seed", seed, "a whole number");
  const areYears = Number.isInteger(startYear) && Number.isInteger(endYear);
  if (!(areYears && startYear >= FIRST_YEAR && startYear <= endYear && endYear <= LAST_YEAR)) {
    const range = `a range within ${FIRST_YEAR}-${LAST_YEAR}`;
    throw outOfRange("years", `${startYear}-${endYear}`, range);
  }
  return { lines, seed, startYear, endYear };
}

/** The error for an option whose value is of no use. */
export function outOfRange(name: string, value: unknown, expected: string): MementoMapError {
  return new MementoMapError(
    "MM_USAGE",
    `sample ${name} must be ${expected}, not ${quote(String(value))}`,
  );
}
