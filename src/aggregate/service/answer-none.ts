import type { Aggregation } from "../aggregator.ts";
import { type Problem, problemText } from "../../http/problem.ts";
import {
  aggregationHeaders,
  type AggregatorExchange,
  type AnswerStyle,
  sendBody,
} from "./aggregator-exchange.ts";
import { areAllLate, hasAnswer, type MissingArchive, missingArchives } from "./missing-archives.ts";

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
  style: AnswerStyle,
): void {
  const headers = aggregationHeaders(exchange, aggregation, style);
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
