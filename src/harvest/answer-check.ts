import { formatAmount, isMementoMapError } from "../errors.ts";
import type { AnswerRows, RowPlace } from "./answer-rows.ts";
import { placeOf } from "./answer-rows.ts";
import type { CdxCursor, CdxQuery } from "./cdx-request.ts";
import { lastRowUrl, oneRowUrl, windowOf } from "./cdx-request.ts";
import { completeness, isRoundCount, needsCheck } from "./silent-limit.ts";
import type { TimeWindow } from "./time-window.ts";
import { isWithin, splitWindow } from "./time-window.ts";
import type { PoliteClient } from "./polite-client.ts";
import { startOf } from "./polite-client.ts";

/** What to do with an answer. */
export type Verdict =
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
  // Nobody limits answers to so few, and the server cannot be asked.
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
