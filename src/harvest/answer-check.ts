import { formatAmount, isMementoMapError } from "../errors.ts";
import {
  type CdxCursor,
  type CdxQuery,
  isWithin,
  type KnownTimes,
  lastRowUrl,
  oneRowUrl,
  splitWindow,
  type TimeWindow,
  windowOf,
} from "./cdx-request.ts";
import { type PoliteClient, startOf } from "./polite-client.ts";

/** What to do with an answer. */
type Verdict =
  /** It has all rows there are. */
  | { readonly is: "whole" }
  /** Some may be missing; these windows together have all. */
  | { readonly is: "cut"; readonly windows: readonly TimeWindow[] }
  /** Some may be missing, and cannot be asked for. */
  | { readonly is: "sample"; readonly reason: string; readonly keepsRows: boolean };

/** The least limit that a server is suspected of without proof. */
const FEWEST_SAMPLED = 100;

const WHOLE: Verdict = { is: "whole" };

/**
 * Finds out whether a server has sent all rows that a cursor asks for, or stopped at a limit of its
 * own, and how to get the others.
 *
 * Asks for the last row. Where the server cannot say and the number of rows looks like a limit, it
 * must be possible to ask for less time.
 *
 * @param limit the number of rows that were asked for.
 */
export async function checkAnswer(
  client: PoliteClient,
  api: string,
  query: CdxQuery,
  cursor: CdxCursor,
  rows: AnswerRows,
  limit: number,
): Promise<Verdict> {
  const isPart = cursor.paging === "stream" && cursor.windows !== undefined;
  if (isPart && rows.outside > 0) return sample("does not select captures by their time", false);
  if (!needsCheck(rows.count, limit)) return WHOLE;
  const checkedRows = cursor.paging === "pages" ? (cursor.checkedRows ?? 0) : 0;
  if (rows.count <= checkedRows) return WHOLE;
  const lastOfAll = await askForRow(client, lastRowUrl(api, query, cursor));
  const found = completeness(rows, lastOfAll);
  if (found === "whole") return WHOLE;
  const amount = formatAmount(rows.count, "row");
  if (cursor.paging === "pages") {
    // Pages hold whole blocks, so their numbers of rows are round without a limit.
    return found === "cut" ? sample(`sends only ${amount} of a page`) : WHOLE;
  }
  if (found === "unknown" && rows.count !== limit && !isRoundCount(rows.count)) return WHOLE;
  // No server limits answers to that few, and this one cannot be asked.
  const cannotTell = (reason: string): Verdict =>
    found === "unknown" && rows.count < FEWEST_SAMPLED ? WHOLE : sample(reason);
  const { times } = rows;
  const windows = times === undefined ? undefined : splitWindow(windowOf(query, cursor), times);
  const stopped = `sent ${amount}, which may be a limit,`;
  if (times === undefined) return cannotTell(`${stopped} without datetimes to continue by`);
  if (windows === undefined) return cannotTell(`${stopped} of the same second`);
  if (!isPart && !(await selectsByTime(client, api, query, windows))) {
    return cannotTell(`${stopped} and does not select captures by their time`);
  }
  return { is: "cut", windows };
}

function sample(what: string, keepsRows: boolean = true): Verdict {
  const reason = `the server ${what}: captures may be missing, and the index is marked as a sample`;
  return { is: "sample", reason, keepsRows };
}

/** Whether a server goes by `from` and `to`; a window that is known to hold rows has to give one. */
async function selectsByTime(
  client: PoliteClient,
  api: string,
  query: CdxQuery,
  windows: readonly TimeWindow[],
): Promise<boolean> {
  for (const window of windows) {
    const row = await askForRow(client, oneRowUrl(api, query, window));
    // Of three windows only the one in the middle is known to hold any.
    const mayBeEmpty = windows.length === 3 && window.from !== window.to;
    if (row === undefined ? !mayBeEmpty : !isWithin(row.datetime, window)) return false;
  }
  return true;
}

/** The first row of an answer; undefined where the server refuses, or answers something else. */
async function askForRow(client: PoliteClient, url: string): Promise<RowPlace | undefined> {
  try {
    const text = await client.ask(url, ({ chunks }) => startOf(chunks), { retries: 0 });
    const lines = text.split(/\r?\n/).filter((line) => !/^(?:[!@]| ?CDX |$)/.test(line));
    return lines[0] === undefined ? undefined : placeOf(lines[0]);
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

/** Of more datetimes than this the median is an estimate. */
const MAX_TIMES = 4096;

/** What is known of the rows of an answer. Holds up to 8,192 datetimes. */
export class AnswerRows {
  /** Rows, without headers and blank lines. */
  count = 0;
  first: RowPlace | undefined;
  last: RowPlace | undefined;
  /** Rows outside of the window that was asked for. */
  outside = 0;
  /** Rows whose key or datetime could not be found. */
  unplaced = 0;
  readonly #window: TimeWindow;
  #earliest = "";
  #latest = "";
  #times: string[] = [];
  #stride = 1;

  constructor(window: TimeWindow) {
    this.#window = window;
  }

  add(line: string): void {
    if (isNoRow(line)) return;
    this.count++;
    const place = placeOf(line);
    if (place === undefined) {
      this.unplaced++;
      return;
    }
    const { datetime } = place;
    this.first ??= place;
    this.last = place;
    if (!isWithin(datetime, this.#window)) this.outside++;
    if (this.#earliest === "" || datetime < this.#earliest) this.#earliest = datetime;
    if (datetime > this.#latest) this.#latest = datetime;
    if (this.count % this.#stride === 0) this.#times.push(datetime);
    if (this.#times.length < 2 * MAX_TIMES) return;
    this.#times = this.#times.filter((_, i) => i % 2 === 1);
    this.#stride *= 2;
  }

  /** Undefined where there is no row, or one without a datetime. */
  get times(): KnownTimes | undefined {
    if (this.last === undefined || this.unplaced > 0) return undefined;
    const sorted = this.#times.toSorted();
    const median = sorted[sorted.length >> 1] ?? this.#latest;
    return { earliest: this.#earliest, median, latest: this.#latest };
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
  const [one, other] = [a, b].map(({ line }) => line.replace(/^\s*\[?\s*|[\s,\]]*$/g, ""));
  return one.startsWith(other) || other.startsWith(one);
}

function isNoRow(line: string): boolean {
  return line.trim() === "" || /^(?:[!@]| CDX )/.test(line);
}

/** Rows of an answer that is looked at more closely, whatever their number. */
const MANY_ROWS = 1000;

/** Whether a number of rows may be a limit that someone chose: 10, 500, 1,500, 100,000, 65,536. */
export function isRoundCount(count: number): boolean {
  if (count < 10) return false;
  let digits = count;
  while (digits % 10 === 0) digits /= 10;
  const isDecimal = digits !== count && (digits < 10 || digits === 15 || digits === 25);
  const isBinary = count >= 16 && Number.isInteger(Math.log2(count));
  return isDecimal || isBinary;
}

/** Whether to find out if an answer has all rows. */
function needsCheck(count: number, limit: number): boolean {
  return count === limit || count >= MANY_ROWS || isRoundCount(count);
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
