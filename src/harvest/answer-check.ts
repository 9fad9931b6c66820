import { formatAmount } from "../format.ts";
import { isMementoMapError } from "../errors.ts";
import { type CdxCursor, type CdxQuery, lastRowUrl } from "./cdx-request.ts";
import { type PoliteClient, startOf } from "./polite-client.ts";

/** Servers have no limits below this number of rows, even round ones. */
const MIN_SUSPECT_ROWS = 100;
/** Responses of at least this many rows are always checked. */
const ALWAYS_CHECK_ROWS = 1000;

/**
 * Detects whether a server has sent all requested rows, or silently stopped at its own limit: requests
 * the last row, and compares.
 *
 * @param limit the requested number of rows.
 * @returns why captures may be missing; undefined if none are.
 */
export async function missingRows(
  client: PoliteClient,
  api: string,
  query: CdxQuery,
  cursor: CdxCursor,
  rows: AnswerRows,
  limit: number,
): Promise<string | undefined> {
  if (rows.count !== limit && rows.count < ALWAYS_CHECK_ROWS && !isRoundCount(rows.count))
    return undefined;
  const isPage = cursor.paging === "pages";
  if (isPage && rows.count <= (cursor.checkedRows ?? 0)) return undefined;
  const found = completeness(rows, await lastRow(client, lastRowUrl(api, query, cursor)));
  const mayBeLimit =
    rows.count === limit || (rows.count >= MIN_SUSPECT_ROWS && isRoundCount(rows.count));
  // Pages are whole blocks, so a round number of rows does not indicate a limit.
  if (found === "whole" || (found === "unknown" && (isPage || !mayBeLimit))) return undefined;
  const stopped = `the server stopped at ${formatAmount(rows.count, "row")}`;
  const maybe = found === "unknown" ? ", which may be a limit" : "";
  return `${stopped}${maybe}: captures may be missing, so the index is marked as a sample; fetch it in parts with --from and --to`;
}

/** The first row of a response; undefined if the server returns an error or anything else. */
async function lastRow(client: PoliteClient, url: string): Promise<RowPlace | undefined> {
  try {
    const text = await client.get(url, ({ chunks }) => startOf(chunks), { retries: 0 });
    const line = text.split(/\r?\n/).find((each) => !isNoRow(each));
    return line === undefined ? undefined : placeOf(line);
  } catch (error) {
    if (isMementoMapError(error) && error.code === "MM_HTTP") return undefined;
    throw error;
  }
}

/** The sort position of a row in an index. */
interface RowPlace {
  readonly key: string;
  /** Fourteen digits. */
  readonly datetime: string;
  /** The row itself, which distinguishes captures of the same second. */
  readonly line: string;
}

/** The number of rows of a response, and its first and last row. */
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

/** The key and datetime of a row of CDX, CDXJ, or JSON with member names; undefined if missing. */
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

/** Whether these are the same row, ignoring commas and brackets of an array; one may be truncated. */
function isSameRow(a: RowPlace, b: RowPlace): boolean {
  const [one, other] = [a, b].map(({ line }) =>
    line.replace(/^\s*\[?\s*|(?<![\s,\]])[\s,\]]+$/g, ""),
  );
  return one.startsWith(other) || other.startsWith(one);
}

function isNoRow(line: string): boolean {
  return line.trim() === "" || /^(?:[!@]| ?CDX )/.test(line);
}

/** Whether a number of rows is likely to be a configured limit: 10, 500, 1,500, 100,000, 65,536. */
function isRoundCount(count: number): boolean {
  if (count < 10) return false;
  let digits = count;
  while (digits % 10 === 0) digits /= 10;
  const isDecimal = digits !== count && (digits < 10 || digits === 15 || digits === 25);
  const isBinary = count >= 16 && Number.isInteger(Math.log2(count));
  return isDecimal || isBinary;
}

/** Whether a response has all rows. */
type Completeness = "whole" | "cut" | "unknown";

/**
 * Compares the end of a response with the server's last row.
 *
 * A server without support for reverse order returns the first row again: then the result is unknown.
 */
function completeness(rows: AnswerRows, lastOfAll: RowPlace | undefined): Completeness {
  const { first, last } = rows;
  if (first === undefined || last === undefined || lastOfAll === undefined) return "unknown";
  if (comparePlaces(first, last) > 0) return "unknown"; // not sorted
  const order = comparePlaces(lastOfAll, last);
  if (order !== 0) return order > 0 ? "cut" : "unknown";
  // If all rows have the same key and second, only the rows themselves distinguish first and last.
  if (comparePlaces(first, last) === 0 && isSameRow(lastOfAll, first)) return "unknown";
  return isSameRow(lastOfAll, last) ? "whole" : "cut";
}
