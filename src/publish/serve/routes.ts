import type { Exchange } from "./exchange.ts";
import { methodNotAllowed, sendProblem } from "../../http/problem.ts";
import { WELL_KNOWN_PATH } from "./site.ts";
import { batch } from "./answer-batch.ts";
import { health, metrics } from "./answer-health.ts";
import { home } from "./answer-home.ts";
import { lookup } from "./answer-lookup.ts";
import { mapById, mapList, wellKnown } from "./answer-maps.ts";
import { openApi } from "./answer-openapi.ts";

/** Answers a request. */
export type Answerer = (exchange: Exchange) => void | Promise<void>;

export interface Route {
  readonly answer: Answerer;
  /** Whether the rate limit does not count it: those who look after the server ask often. */
  readonly isUnlimited?: boolean | undefined;
  readonly isMetrics?: boolean | undefined;
}

type Methods = Readonly<Record<string, Answerer>>;

const reading = (answer: Answerer): Methods => ({ GET: answer, HEAD: answer });

/** Every path, without the prefix. */
const ROUTES: ReadonlyMap<string, Route> = new Map(
  Object.entries<Methods>({
    "/": reading(home),
    "/lookup": { ...reading(lookup), POST: batch },
    "/maps": reading(mapList),
    "/openapi.json": reading(openApi),
  }).map(([path, methods]) => [path, routeOf(methods)]),
);

/** For those who look after the server. */
const MONITORING_ROUTES: ReadonlyMap<string, Route> = new Map([
  ["/health", { ...routeOf(reading(health)), isUnlimited: true }],
  ["/metrics", { ...routeOf(reading(metrics)), isUnlimited: true, isMetrics: true }],
]);

const WELL_KNOWN = routeOf(reading(wellKnown));

/** The route of a path; undefined when the path is none of ours. */
export function findRoute(path: string, prefix: string): Route | undefined {
  if (path === WELL_KNOWN_PATH) return WELL_KNOWN;
  if (!path.startsWith(prefix)) return undefined;
  const rest = path.slice(prefix.length);
  const route = ROUTES.get(rest === "" ? "/" : rest) ?? findMonitoringRoute(rest);
  if (route !== undefined) return route;
  const [, id] = /^\/maps\/([\w.-]+)$/.exec(rest) ?? [];
  return id === undefined ? undefined : routeOf(reading((exchange) => mapById(exchange, id)));
}

/** The route of a path that tells how the server is. */
export function findMonitoringRoute(path: string): Route | undefined {
  return MONITORING_ROUTES.get(path);
}

function routeOf(methods: Methods): Route {
  const allow = [...Object.keys(methods), "OPTIONS"].join(", ");
  return {
    answer(exchange) {
      const { method = "" } = exchange.request;
      if (Object.hasOwn(methods, method)) return methods[method](exchange);
      if (method === "OPTIONS") return preflight(exchange, allow);
      sendProblem(exchange.response, methodNotAllowed(allow), false);
    },
  };
}

/** Tells browsers that pages of other sites may ask. */
function preflight({ response }: Exchange, allow: string): void {
  response.writeHead(204, {
    Allow: allow,
    "Access-Control-Allow-Methods": allow,
    "Access-Control-Allow-Headers":
      "Accept, Content-Type, If-Match, If-None-Match, If-Modified-Since, If-Range, Range",
    "Access-Control-Max-Age": "86400",
  });
  response.end();
}
