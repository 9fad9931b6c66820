import type { RouteName } from "../../http/metrics.ts";
import type { Aggregation, Aggregator } from "../aggregator.ts";
import type { RouteRequest } from "../route/decision.ts";
import type { AggregatorExchange } from "./aggregator-exchange.ts";
import { answerOpenSearch } from "./aggregator-page.ts";
import { answerProxy, type ProxyOptions } from "./answer-proxy.ts";
import {
  answerAbout,
  answerAboutJson,
  answerArchives,
  answerHealth,
  answerHistory,
  answerMonitor,
  answerOpenApi,
  type StatusParts,
} from "./answer-status.ts";
import {
  answerDescription,
  answerMemento,
  answerSummary,
  answerTimeGate,
  answerTimeMap,
  type TimeMapOptions,
} from "./answer-timemap.ts";
import type { AggregationTarget, StatusName } from "./request-target.ts";

/** How archives are asked for clients. Every member that has a default may be left out. */
export interface AggregationOptions extends TimeMapOptions, ProxyOptions {
  readonly aggregator: Aggregator;
  /** What is asked of every request that does not say otherwise; looked at for each. */
  readonly defaults?: Omit<RouteRequest, "uri"> | undefined;
  /** Requests for which archives are asked at once; default 256. Others wait. */
  readonly maxUnderWay?: number | undefined;
  /** Requests that may wait; default 20,000. More are answered 503. */
  readonly maxWaiting?: number | undefined;
}

interface AggregationRoute<Target> {
  /** What it is counted as in metrics. */
  readonly counted: RouteName;
  /** Answers with the mementos that were found, at least one. */
  readonly answer: (
    exchange: AggregatorExchange,
    aggregation: Aggregation,
    target: Target,
    options: AggregationOptions,
  ) => Promise<void> | void;
}

interface StatusRoute {
  readonly counted: RouteName;
  readonly answer: (exchange: AggregatorExchange, parts: StatusParts) => void;
}

/** The routes that archives are asked for. Their paths are in `aggregatorTarget`. */
export const AGGREGATION_ROUTES: {
  readonly [Name in AggregationTarget["name"]]: AggregationRoute<
    Extract<AggregationTarget, { readonly name: Name }>
  >;
} = {
  timemap: { counted: "timemap", answer: answerTimeMap },
  timegate: { counted: "timegate", answer: answerTimeGate },
  memento: { counted: "memento", answer: answerMemento },
  description: { counted: "memento", answer: answerDescription },
  proxy: { counted: "proxy", answer: answerProxy },
  summary: { counted: "summary", answer: answerSummary },
};

/** The routes about the service itself, besides `/metrics` and `/route/`. */
export const STATUS_ROUTES: Readonly<Record<Exclude<StatusName, "metrics">, StatusRoute>> = {
  about: { counted: "about", answer: answerAbout },
  "about.json": { counted: "about", answer: answerAboutJson },
  "archives.json": { counted: "about", answer: answerArchives },
  "history.json": { counted: "about", answer: answerHistory },
  monitor: { counted: "monitor", answer: answerMonitor },
  health: { counted: "health", answer: answerHealth },
  "openapi.json": { counted: "openapi", answer: answerOpenApi },
  "opensearch.xml": { counted: "about", answer: answerOpenSearch },
};

/** The route of a target, whose answer takes targets of that name. */
export function routeOf({ name }: AggregationTarget): AggregationRoute<AggregationTarget> {
  const route: AggregationRoute<never> = AGGREGATION_ROUTES[name];
  return route as AggregationRoute<AggregationTarget>;
}
