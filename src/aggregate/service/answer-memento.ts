import type { Aggregation } from "../aggregator.ts";
import { timeGateLinks } from "../../memento/write-link.ts";
import { escapeHtml } from "../../publish/serve/page/html.ts";
import {
  aggregationHeaders,
  type AggregatorExchange,
  type AnswerStyle,
  type HeaderList,
  headerUri,
  sendBody,
} from "./aggregator-exchange.ts";
import { documentOf } from "./answer-timemap.ts";

/** Leads to the memento closest to a moment, and names those around it (RFC 7089, 4.1). */
export function answerTimeGate(
  exchange: AggregatorExchange,
  aggregation: Aggregation,
  style: AnswerStyle,
  datetime: number,
): void {
  const closest = aggregation.mementos.closest(datetime);
  const headers = aggregationHeaders(exchange, aggregation, style);
  headers.push("Link", timeGateLinks(documentOf(exchange, aggregation), closest));
  redirect(exchange, headers, aggregation.mementos.uriAt(closest));
}

/** Leads to the memento closest to a moment. */
export function answerMemento(
  exchange: AggregatorExchange,
  aggregation: Aggregation,
  style: AnswerStyle,
  datetime: number,
): void {
  const { mementos } = aggregation;
  const headers = aggregationHeaders(exchange, aggregation, style);
  redirect(exchange, headers, mementos.uriAt(mementos.closest(datetime)));
}

function redirect(exchange: AggregatorExchange, headers: HeaderList, uri: string): void {
  const location = headerUri(uri);
  headers.push("Location", location);
  const body = `<a href="${escapeHtml(location)}">Found</a>.\n\n`;
  sendBody(exchange, 302, headers, "text/html; charset=utf-8", body);
}
