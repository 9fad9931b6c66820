import { formatAmount } from "../format.ts";
import { isMementoMapError } from "../errors.ts";
import { type CdxCursor, type CdxQuery, lastRowUrl } from "./cdx-request.ts";
import { type PoliteClient, startOf } from "./polite-client.ts";

/** A round number of fewer rows than this is no limit of a server. */
const MIN_SUSPECT_ROWS = 100;
/** An answer of this many rows is checked, whatever the number. */
const MANY_ROWS = 1000;

/**
 * Finds out whether a server has sent all rows that a cursor asks for, or stopped at a limit of its
 * own without saying so: asks for the last row, and compares.
 *
 * @param limit the number of rows that were asked for.
 * @returns why captures may be missing; undefined where none are.
 */
export async function missingRows(
  client: PoliteClient,
  api: string,
  query: CdxQuery,
  cursor: CdxCursor,
  rows: AnswerRows,
  limit: number,
): Promise<string | undefined> {
  if (rows.count !== limit && rows.count < MANY_ROWS && !isRoundCount(rows.count)) return undefined;
  const isPage = cursor.paging === "pages";
  if (isPage && rows.count <= (cursor.checkedRows ?? 0)) return undefined;
  const found = completeness(rows, await lastRow(client, lastRowUrl(api, query, cursor)));
  const mayBeLimit =
    rows.count === limit || (rows.count >= MIN_SUSPECT_ROWS && isRoundCount(rows.count));
  // Pages hold whole blocks, so their numbers of rows are round without a limit.
  if (found === "whole" || (found === "unknown" && (isPage || !mayBeLimit))) return undefined;
  const stopped = `the server stopped at ${formatAmount(rows.count, "row")}`;
  const maybe = found === "unknown" ? ", which may be a limit" : "";
  return `${stopped}${maybe}: captures may be missing, and the index is marked as a sample; fetch it in parts with --from and --to`;
}

/** The first row of an answer; undefined where the server refuses, or answers something else. */
async function lastRow(client: PoliteClient, url: string): Promise<RowPlace | undefined> {
  try {
    const text = await client.ask(url, ({ chunks }) => startOf(chunks), { retries: 0 });
    const line = text.split(/\r?\n/).find((each) => !isNoRow(each));
    return line === undefined ? undefined : placeOf(line);
  } catch (error) {
    if (isMementoMapError(error) && error.code === "MM_HTTP") return undefined;
    throw error;
  }
}

/** A row of an index as far as its place among the others goes. */
interface RowPlace {
  readonly key: string;
  /** Fourteen digits. */
  readonly datetime: string;
  /** The row itself, which tells captures of the same second apart. */
  readonly line: string;
}

/** The number of rows of an answer, and its ends. */
export class AnswerRows {
  /** Rows, without headers and blank lines. */
  count = 0;
  first: RowPlace | undefined;
  last: RowPlace | undefined;

  add(line: string): void {
    if (isNoRow(line)) return;
    this.count++;
    const place = placeOf(line);
    if (place === undefined) return;
    this.first ??= place;
    this.last = place;
  }
}

/** The key and datetime of a row of CDX, CDXJ, or JSON with their names; undefined where it has none. */
function placeOf(line: string): RowPlace | undefined {
  const [, key, datetime] =
    /^(\S+)[ \t]+(\d{14})\d{0,3}(?:[ \t]|$)/.exec(line) ??
    /^\s*\{(?=.*"urlkey":\s*"((?:[^"\\]|\\.)*)").*"timestamp":\s*"?(\d{14})/.exec(line) ??
    [];
  return key === undefined || datetime === undefined ? undefined : { key, datetime, line };
}

/** The order of an index. */
function comparePlaces(a: RowPlace, b: RowPlace): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1;
  return Number(a.datetime) - Number(b.datetime);
}

/** Whether these are the same row; an array may have a comma or bracket around it, and one may be cut. */
function isSameRow(a: RowPlace, b: RowPlace): boolean {
  const [one, other] = [a, b].map(({ line }) =>
    line.replace(/^\s*\[?\s*|(?<![\s,\]])[\s,\]]+$/g, ""),
  );
  return one.startsWith(other) || other.startsWith(one);
}

function isNoRow(line: string): boolean {
  return line.trim() === "" || /^(?:[!@]| ?CDX )/.test(line);
}

/** Whether a number of rows may be a limit that someone chose: 10, 500, 1,500, 100,000, 65,536. */
function isRoundCount(count: number): boolean {
  if (count < 10) return false;
  let digits = count;
  while (digits % 10 === 0) digits /= 10;
  const isDecimal = digits !== count && (digits < 10 || digits === 15 || digits === 25);
  const isBinary = count >= 16 && Number.isInteger(Math.log2(count));
  return isDecimal || isBinary;
}

/** Whether an answer has all the rows there are. */
type Completeness = "whole" | "cut" | "unknown";

/**
 * Compares the end of an answer with the row that the server calls the last.
 *
 * A server that does not know how to give its rows in reverse gives the first one again: then
 * nothing is known.
 */
function completeness(rows: AnswerRows, lastOfAll: RowPlace | undefined): Completeness {
  const { first, last } = rows;
  if (first === undefined || last === undefined || lastOfAll === undefined) return "unknown";
  if (comparePlaces(first, last) > 0) return "unknown"; // not sorted
  const order = comparePlaces(lastOfAll, last);
  if (order !== 0) return order > 0 ? "cut" : "unknown";
  // All rows may be of one key and second, so that only the rows themselves tell first and last apart.
  if (comparePlaces(first, last) === 0 && isSameRow(lastOfAll, first)) return "unknown";
  return isSameRow(lastOfAll, last) ? "whole" : "cut";
}
