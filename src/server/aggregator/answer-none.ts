import type { Aggregation } from "../../aggregate/aggregator.ts";
import {
  aggregationHeaders,
  type AggregatorExchange,
  type AnswerStyle,
  sendBody,
} from "./aggregator-exchange.ts";

const PROBLEM_TYPE = "application/problem+json";
/** By far the most frequent answer of an aggregator: made once. */
const NONE = problem(404, "Not found", "no archive has a memento of this");
const NONE_OF_SOME = problem(
  404,
  "Not found",
  "no archive that answered has a memento of this; X-MementoMap-Missing names those that did not",
);
const NOT_CACHED = problem(504, "Not cached", "there are no cached answers of archives for this");

/** 404: nobody has a memento. A TimeMap says so in its count too, as MemGator's do. */
export function answerNone(
  exchange: AggregatorExchange,
  aggregation: Aggregation,
  style: AnswerStyle,
): void {
  const headers = aggregationHeaders(exchange, aggregation, style);
  if (exchange.route === "timemap") headers.push("X-Memento-Count", "0");
  const isOnlyCached = exchange.preferences.cacheControl === "only-if-cached";
  if (isOnlyCached && !aggregation.isWhole) {
    sendBody(exchange, 504, headers, PROBLEM_TYPE, NOT_CACHED);
    return;
  }
  sendBody(exchange, 404, headers, PROBLEM_TYPE, aggregation.isWhole ? NONE : NONE_OF_SOME);
}

function problem(status: number, title: string, detail: string): string {
  return `${JSON.stringify({ type: "about:blank", title, status, detail })}\n`;
}
