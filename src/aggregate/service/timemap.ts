import { formatAmount } from "../../format.ts";
import type { Aggregation } from "../aggregator.ts";
import {
  summarizeTimeMap,
  TIMEMAP_TYPES,
  type TimeMapDocument,
  type TimeMapFormat,
} from "../../memento/timemap-document.ts";
import { describeMemento, timeGateLinks, writeTimeMap } from "../../memento/write-timemap.ts";
import { notFound, problemReply, type Reply, textReply } from "../../http/reply.ts";
import { escapeHtml } from "../../page/html.ts";
import { aggregationHeaders, headerUri } from "./aggregation-reply.ts";
import type { Exchange } from "./exchange.ts";
import type { Preferences } from "./request.ts";

/** What was found for a request: at least one memento. */
export interface Found {
  readonly exchange: Exchange;
  readonly aggregation: Aggregation;
  readonly preferences: Preferences;
  /** Of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** The moment that was asked for, if one was. */
  readonly datetime: number;
}

/** A TimeMap, or a page of one that is longer than `pageSize`; written as the client takes it. */
export function timeMapReply(found: Found): Reply {
  const { exchange, aggregation, preferences, params } = found;
  const { pageSize = 1_000_000 } = exchange.options;
  const { mementos } = aggregation;
  const page = params["page"] === undefined ? undefined : Number(params["page"]);
  const isPaged = page !== undefined || mementos.count > pageSize;
  const paging = isPaged ? pagingOf(found, pageSize, page ?? 1) : undefined;
  if (paging !== undefined && paging.current >= paging.pages.length) {
    const detail = `the TimeMap has ${formatAmount(paging.pages.length, "page")}`;
    return problemReply(notFound(detail));
  }
  const format = formatOf(params);
  return {
    status: 200,
    headers: {
      ...aggregationHeaders(exchange, aggregation, preferences),
      "X-Memento-Count": String(mementos.count),
      "Content-Type": TIMEMAP_TYPES[format],
    },
    body:
      exchange.request.method === "HEAD"
        ? undefined
        : bodyOf(writeTimeMap({ ...documentOf(found), paging }, format)),
  };
}

/** One of those that the path allows. */
function formatOf({ format = "link" }: Found["params"]): TimeMapFormat {
  return format as TimeMapFormat;
}

/** Bytes if there are few, so that the response says how many. */
function bodyOf(blocks: Generator<Uint8Array, void, undefined>): Reply["body"] {
  const first = blocks.next();
  if (first.done === true) return undefined; // a TimeMap is never empty
  const second = blocks.next();
  if (second.done === true) return first.value;
  return (async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    yield first.value;
    yield second.value;
    yield* blocks;
  })();
}

function documentOf({ exchange: { base }, aggregation }: Found): TimeMapDocument {
  const { original, mementos } = aggregation;
  return { original, service: base, mementos };
}

function pagingOf(
  { exchange: { base }, aggregation: { original, mementos } }: Found,
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
export function timeGateReply(found: Found): Reply {
  const closest = found.aggregation.mementos.closest(found.datetime);
  return redirect(found, { Link: timeGateLinks(documentOf(found), closest) });
}

/** Leads to the memento closest to a moment. */
export function mementoReply(found: Found): Reply {
  return redirect(found);
}

function redirect(
  { exchange, aggregation, preferences, datetime }: Found,
  more: Readonly<Record<string, string>> = {},
): Reply {
  const { mementos } = aggregation;
  const location = headerUri(mementos.uriAt(mementos.closest(datetime)));
  const headers = {
    ...aggregationHeaders(exchange, aggregation, preferences),
    ...more,
    Location: location,
  };
  const body = `<a href="${escapeHtml(location)}">Found</a>.\n\n`;
  return { ...textReply("text/html; charset=utf-8", body, headers), status: 302 };
}

/** Describes the memento closest to a moment, and those around it. */
export function descriptionReply(found: Found): Reply {
  const { exchange, aggregation, preferences, params, datetime } = found;
  const format = formatOf(params);
  const closest = aggregation.mementos.closest(datetime);
  return {
    status: 200,
    headers: {
      ...aggregationHeaders(exchange, aggregation, preferences),
      "Content-Type": TIMEMAP_TYPES[format],
    },
    body: describeMemento(documentOf(found), format, closest),
  };
}

/** Counts mementos by archive and year, without the list of them. */
export function summaryReply(found: Found): Reply {
  const { exchange, aggregation, preferences } = found;
  const { archives, mementos } = aggregation;
  const summary = summarizeTimeMap({ ...documentOf(found), mementos }, archives);
  return textReply("application/json", `${JSON.stringify(summary, undefined, 2)}\n`, {
    ...aggregationHeaders(exchange, aggregation, preferences),
    "X-Memento-Count": String(mementos.count),
  });
}
