import type { Aggregation } from "../aggregator.ts";
import { summarizeTimeMap } from "../../memento/summary.ts";
import {
  aggregationHeaders,
  type AggregatorExchange,
  type AnswerStyle,
  sendBody,
} from "./aggregator-exchange.ts";
import { documentOf } from "./answer-timemap.ts";

/** Counts mementos by archive and year, without the list of them. */
export function answerSummary(
  exchange: AggregatorExchange,
  aggregation: Aggregation,
  style: AnswerStyle,
): void {
  const { archives, mementos } = aggregation;
  const summary = summarizeTimeMap({ ...documentOf(exchange, aggregation), mementos }, archives);
  const headers = aggregationHeaders(exchange, aggregation, style);
  headers.push("X-Memento-Count", String(mementos.count));
  const text = `${JSON.stringify(summary, undefined, 2)}\n`;
  sendBody(exchange, 200, headers, "application/json", text);
}
