import type { Aggregation } from "../aggregator.ts";
import {
  TIMEMAP_TYPES,
  type TimeMapDocument,
  type TimeMapFormat,
} from "../../memento/timemap-document.ts";
import { describeMemento, writeTimeMap } from "../../memento/write-timemap.ts";
import { notFound } from "../../http/problem.ts";
import { writeBlock } from "../../http/send.ts";
import {
  aggregationHeaders,
  type AggregatorExchange,
  type AnswerStyle,
  sendBody,
  sendRefusal,
} from "./aggregator-exchange.ts";
import { formatAmount } from "../../amount.ts";

/** Which part of a TimeMap is wanted, and how. */
export interface TimeMapWish {
  readonly format: TimeMapFormat;
  /** Counted from 1; undefined for the whole, or its first page where it is too long. */
  readonly page: number | undefined;
  readonly pageSize: number;
  /** How long the client may take nothing of it. */
  readonly stalledMs: number;
}

/**
 * Sends a TimeMap, or a page of one that is longer than `pageSize`.
 *
 * Written block by block as the client takes it; nothing is written for HEAD.
 */
export function answerTimeMap(
  exchange: AggregatorExchange,
  aggregation: Aggregation,
  style: AnswerStyle,
  { format, page, pageSize, stalledMs }: TimeMapWish,
): Promise<void> | void {
  const { response, isHead } = exchange;
  const { mementos } = aggregation;
  const isPaged = page !== undefined || mementos.count > pageSize;
  const paging = isPaged ? pagingOf(exchange, aggregation, pageSize, page ?? 1) : undefined;
  if (paging !== undefined && paging.current >= paging.pages.length) {
    const detail = `the TimeMap has ${formatAmount(paging.pages.length, "page")}`;
    sendRefusal(exchange, notFound(detail), style);
    return;
  }
  const headers = aggregationHeaders(exchange, aggregation, style);
  headers.push("X-Memento-Count", String(mementos.count));
  if (isHead) {
    headers.push("Content-Type", TIMEMAP_TYPES[format]);
    response.writeHead(200, headers);
    response.end();
    return;
  }
  const document = { ...documentOf(exchange, aggregation), paging };
  const blocks = writeTimeMap(document, format);
  const first = blocks.next();
  if (first.done === true) return; // a TimeMap is never empty
  const second = blocks.next();
  if (second.done === true) {
    sendBody(exchange, 200, headers, TIMEMAP_TYPES[format], first.value);
    return;
  }
  headers.push("Content-Type", TIMEMAP_TYPES[format]);
  response.writeHead(200, headers);
  // Until now the client waited for archives, and for longer; for its next request that holds again.
  response.socket?.setTimeout(stalledMs);
  return writeBlocks(exchange, first.value, second.value, blocks);
}

async function writeBlocks(
  { response }: AggregatorExchange,
  first: Uint8Array,
  second: Uint8Array,
  rest: Iterable<Uint8Array>,
): Promise<void> {
  if (!(await writeBlock(response, first)) || !(await writeBlock(response, second))) return;
  for (const block of rest) if (!(await writeBlock(response, block))) return;
  response.end();
}

/** Describes the memento closest to a moment, and those around it. */
export function answerDescription(
  exchange: AggregatorExchange,
  aggregation: Aggregation,
  style: AnswerStyle,
  wish: { readonly format: TimeMapFormat; readonly datetime: number },
): void {
  const closest = aggregation.mementos.closest(wish.datetime);
  const body = describeMemento(documentOf(exchange, aggregation), wish.format, closest);
  const headers = aggregationHeaders(exchange, aggregation, style);
  sendBody(exchange, 200, headers, TIMEMAP_TYPES[wish.format], body);
}

export function documentOf(
  { base }: AggregatorExchange,
  { original, mementos }: Aggregation,
): TimeMapDocument {
  return { original, service: base, mementos };
}

function pagingOf(
  { base }: AggregatorExchange,
  { original, mementos }: Aggregation,
  pageSize: number,
  page: number,
): NonNullable<TimeMapDocument["paging"]> & { readonly current: number } {
  return {
    pages: mementos.pages(pageSize),
    current: page - 1,
    uriOf: (number, format) => `${base}/timemap/${format}/${number + 1}/${original}`,
  };
}
