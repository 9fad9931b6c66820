import type { Aggregation } from "../aggregator.ts";
import {
  summarizeTimeMap,
  TIMEMAP_TYPES,
  type TimeMapDocument,
  type TimeMapFormat,
} from "../../memento/timemap-document.ts";
import { describeMemento, timeGateLinks, writeTimeMap } from "../../memento/write-timemap.ts";
import { notFound, type Problem, problemText } from "../../http/reply.ts";
import { writeBlock } from "../../http/send.ts";
import {
  aggregationHeaders,
  type AggregatorExchange,
  areAllLate,
  hasAnswer,
  type HeaderList,
  headerUri,
  type MissingArchive,
  missingArchives,
  sendBody,
  sendJson,
  sendRefusal,
} from "./aggregator-exchange.ts";
import { formatAmount } from "../../errors.ts";
import type { StatusView } from "./service-status.ts";
import { sendTimeMapPage, wantsTimeMapPage } from "./timemap-page.ts";
import { escapeHtml } from "../../page/html.ts";

export interface TimeMapOptions {
  /** Mementos of a page of a TimeMap; default 1 million, so that nearly all come whole. */
  readonly pageSize?: number | undefined;
  /** How long a client may take nothing of a TimeMap; default 30 s. It keeps others from theirs. */
  readonly stalledMs?: number | undefined;
  /** What is known about the archives, for pages. */
  readonly status: StatusView;
}

/**
 * Sends a TimeMap, or a page of one that is longer than `pageSize`.
 *
 * Written block by block as the client takes it; nothing is written for HEAD.
 */
export function answerTimeMap(
  exchange: AggregatorExchange,
  aggregation: Aggregation,
  { format, page }: { readonly format: TimeMapFormat; readonly page: number | undefined },
  { pageSize = 1_000_000, stalledMs = 30_000, status }: TimeMapOptions,
): Promise<void> | void {
  if (wantsTimeMapPage(exchange)) {
    sendTimeMapPage(exchange, aggregation, { status, page });
    return;
  }
  const { response, isHead } = exchange;
  const { mementos } = aggregation;
  const isPaged = page !== undefined || mementos.count > pageSize;
  const paging = isPaged ? pagingOf(exchange, aggregation, pageSize, page ?? 1) : undefined;
  if (paging !== undefined && paging.current >= paging.pages.length) {
    const detail = `the TimeMap has ${formatAmount(paging.pages.length, "page")}`;
    sendRefusal(exchange, notFound(detail));
    return;
  }
  const headers = aggregationHeaders(exchange, aggregation);
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
  { format, datetime }: { readonly format: TimeMapFormat; readonly datetime: number },
): void {
  const closest = aggregation.mementos.closest(datetime);
  const body = describeMemento(documentOf(exchange, aggregation), format, closest);
  const headers = aggregationHeaders(exchange, aggregation);
  sendBody(exchange, 200, headers, TIMEMAP_TYPES[format], body);
}

function documentOf(
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

/** Leads to the memento closest to a moment, and names those around it (RFC 7089, 4.1). */
export function answerTimeGate(
  exchange: AggregatorExchange,
  aggregation: Aggregation,
  { datetime }: { readonly datetime: number },
): void {
  const closest = aggregation.mementos.closest(datetime);
  const headers = aggregationHeaders(exchange, aggregation);
  headers.push("Link", timeGateLinks(documentOf(exchange, aggregation), closest));
  redirect(exchange, headers, aggregation.mementos.uriAt(closest));
}

/** Leads to the memento closest to a moment. */
export function answerMemento(
  exchange: AggregatorExchange,
  aggregation: Aggregation,
  { datetime }: { readonly datetime: number },
): void {
  const { mementos } = aggregation;
  const headers = aggregationHeaders(exchange, aggregation);
  redirect(exchange, headers, mementos.uriAt(mementos.closest(datetime)));
}

function redirect(exchange: AggregatorExchange, headers: HeaderList, uri: string): void {
  const location = headerUri(uri);
  headers.push("Location", location);
  const body = `<a href="${escapeHtml(location)}">Found</a>.\n\n`;
  sendBody(exchange, 302, headers, "text/html; charset=utf-8", body);
}

/** Counts mementos by archive and year, without the list of them. */
export function answerSummary(exchange: AggregatorExchange, aggregation: Aggregation): void {
  const { archives, mementos } = aggregation;
  const summary = summarizeTimeMap({ ...documentOf(exchange, aggregation), mementos }, archives);
  const headers = aggregationHeaders(exchange, aggregation);
  headers.push("X-Memento-Count", String(mementos.count));
  sendJson(exchange, headers, summary);
}

const PROBLEM_TYPE = "application/problem+json";
/** By far the most frequent answer of an aggregator: made once. */
const NONE = problemText({
  status: 404,
  title: "Not found",
  detail: "no archive has a memento of this",
});

/**
 * There is no memento: 404 where archives say so, 502 or 504 where none of them answered. A TimeMap
 * says so in its count too, as MemGator's do.
 *
 * Where archives are missing the document names them, and caches must not keep it.
 */
export function answerNone(
  exchange: AggregatorExchange,
  aggregation: Aggregation,
  status: StatusView,
): void {
  if (exchange.route === "timemap" && wantsTimeMapPage(exchange)) {
    const missing = missingArchives(aggregation);
    const code = aggregation.isWhole ? 404 : problemOf(aggregation, missing).status;
    sendTimeMapPage(exchange, aggregation, { status, code });
    return;
  }
  const headers = aggregationHeaders(exchange, aggregation);
  if (aggregation.isWhole) {
    if (exchange.route === "timemap") headers.push("X-Memento-Count", "0");
    sendBody(exchange, 404, headers, PROBLEM_TYPE, NONE);
    return;
  }
  const missing = missingArchives(aggregation);
  const isOnlyCached = exchange.preferences.cacheControl === "only-if-cached";
  const problem = isOnlyCached ? notCached(missing) : problemOf(aggregation, missing);
  if (problem.status === 404 && exchange.route === "timemap") headers.push("X-Memento-Count", "0");
  sendBody(exchange, problem.status, headers, PROBLEM_TYPE, problemText(problem));
}

function problemOf(aggregation: Aggregation, missing: readonly MissingArchive[]): Problem {
  const names = missing.map(({ archive, reason }) => `${archive} (${reason})`).join(", ");
  if (hasAnswer(aggregation)) {
    return {
      status: 404,
      title: "Not found",
      detail: `no archive that answered has a memento of this; without an answer: ${names}`,
      members: { missing },
    };
  }
  const isLate = areAllLate(missing);
  return {
    status: isLate ? 504 : 502,
    title: isLate ? "No archive answered in time" : "No archive answered",
    detail: `whether there are mementos is not known: none of the archives that were to be asked answered: ${names}; ask again later`,
    members: { missing },
  };
}

function notCached(missing: readonly MissingArchive[]): Problem {
  return {
    status: 504,
    title: "Not cached",
    detail: "there are no cached answers of archives for this",
    members: { missing },
  };
}
