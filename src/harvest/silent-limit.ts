import type { AnswerRows, RowPlace } from "./answer-rows.ts";
import { comparePlaces, isSameRow } from "./answer-rows.ts";

/** Rows of an answer that is looked at more closely, whatever their number. */
const MANY_ROWS = 1000;

/**
 * Whether a number of rows may be a limit that someone chose: 10, 500, 1,500, 100,000, 65,536.
 */
export function isRoundCount(count: number): boolean {
  if (count < 10) return false;
  let digits = count;
  while (digits % 10 === 0) digits /= 10;
  const isDecimal = digits !== count && (digits < 10 || digits === 15 || digits === 25);
  const isBinary = count >= 16 && Number.isInteger(Math.log2(count));
  return isDecimal || isBinary;
}

/** Whether to find out if an answer has all rows. */
export function needsCheck(count: number, limit: number): boolean {
  return count === limit || count >= MANY_ROWS || isRoundCount(count);
}

/** Whether an answer has all the rows there are. */
export type Completeness = "whole" | "cut" | "unknown";

/**
 * Compares the end of an answer with the row that the server calls the last.
 *
 * A server that does not know how to give its rows in reverse gives the first one again: then
 * nothing is known.
 */
export function completeness(rows: AnswerRows, lastOfAll: RowPlace | undefined): Completeness {
  const { first, last } = rows;
  if (first === undefined || last === undefined || lastOfAll === undefined) return "unknown";
  if (comparePlaces(first, last) >= 0) return "unknown"; // not sorted, or one place only
  const order = comparePlaces(lastOfAll, last);
  if (order === 0) return isSameRow(lastOfAll, last) ? "whole" : "cut";
  return order > 0 ? "cut" : "unknown";
}
