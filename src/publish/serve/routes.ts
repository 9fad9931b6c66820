import { type Exchange, WELL_KNOWN_PATH } from "./site.ts";
import { batch, lookup } from "./answer-lookup.ts";
import { asset, openSearch, page } from "./answer-page.ts";
import { health, holdings, mapById, mapList, metrics, wellKnown } from "./answers.ts";
import { HOLDINGS_QUERY, type HoldingsView } from "./holdings.ts";
import { HOLDINGS_SCHEMAS, LOOKUP_SCHEMA } from "../../http/schemas.ts";
import { openApiReply } from "../../http/openapi.ts";
import type { Reply } from "../../http/reply.ts";
import type { Route } from "../../http/router.ts";
import { wantsPage } from "../../page/app-page.ts";

type PublisherRoute = Route<Exchange>;

const HTML = { 200: { type: "text/html" } };
const MAP = {
  query: { page: "One page of the map, counted from 1" },
  replies: { 200: { type: "text/plain" }, 206: { type: "text/plain" } },
} as const;
const AT = "4 to 14 digits of YYYYMMDDhhmmss";

/** Every path of a publisher; one row per endpoint. */
export const ROUTES: readonly PublisherRoute[] = [
  {
    ...MAP,
    method: "GET",
    path: WELL_KNOWN_PATH,
    isFixed: true,
    name: "map",
    summary: "The map of this host's archive",
    answer: wellKnown,
  },
  {
    method: "GET",
    path: "/maps",
    name: "maps",
    summary: "All maps, as a set of links (RFC 9264)",
    replies: { 200: { type: "application/linkset" } },
    answer: mapList,
  },
  {
    ...MAP,
    method: "GET",
    path: "/maps/{id}",
    name: "map",
    summary: "A map by its name",
    answer: (exchange, { id }) => mapById(exchange, id),
  },
  {
    method: "GET",
    path: "/lookup",
    name: "lookup",
    summary: "Look up one URI in the maps",
    description:
      "The URI is the rest of the request target, never decoded, so url= must come last.",
    query: { at: AT, map: "Look up in the map of this name only", url: "The URI to look up" },
    replies: { 200: { type: "application/json", schema: "Answer" } },
    answer: lookup,
  },
  {
    method: "POST",
    path: "/lookup",
    name: "batch",
    summary: "Look up many URIs, one per line; answers are streamed while the request is sent",
    description: "One line per URI: URI, present or absent, key, frequency, distance.",
    query: {
      at: AT,
      map: "The map to look up in; the first by default",
      surt: "Lines are SURTs, not URIs",
    },
    replies: { 200: { type: "text/tab-separated-values" } },
    answer: batch,
  },
  {
    method: "GET",
    path: "/explore",
    name: "explore",
    summary: "A part of a map and its children: domains, hosts, paths",
    description:
      "Children are returned in slices; next is the address of the following slice. For a packed map, the response states its numbers of rows and hosts, and the depths of rows.",
    query: HOLDINGS_QUERY.explore,
    replies: { 200: { type: "application/json", schema: "Slice" } },
    answer: forBrowsers("explore"),
  },
  {
    method: "GET",
    path: "/compare",
    name: "compare",
    summary: "Overlap of maps, and what only one of them holds",
    description:
      "The maps are read once per version. Numbers per map are in the order of the maps.",
    query: HOLDINGS_QUERY.compare,
    replies: { 200: { type: "application/json", schema: "Comparison" } },
    answer: forBrowsers("compare"),
  },
  {
    method: "GET",
    path: "/health",
    name: "health",
    summary: "The maps served, and their versions",
    isMonitoring: true,
    replies: { 200: { type: "application/json" } },
    answer: health,
  },
  {
    method: "GET",
    path: "/metrics",
    name: "metrics",
    summary: "Metrics for Prometheus",
    isMonitoring: true,
    replies: { 200: { type: "text/plain" } },
    answer: metrics,
  },
  {
    method: "GET",
    path: "/openapi.json",
    name: "openapi",
    summary: "This description",
    replies: { 200: { type: "application/json" } },
    answer: openApi,
  },
  forPeople("/", page),
  forPeople("/find", page),
  forPeople("/about", page),
  forPeople("/opensearch.xml", openSearch),
  forPeople("/page/{name}", (exchange, { name }) => asset(exchange, name)),
];

function forPeople(path: string, answer: PublisherRoute["answer"]): PublisherRoute {
  const summary = "A page";
  return { method: "GET", path, name: "home", summary, isPage: true, replies: HTML, answer };
}

/** HTML for clients that accept it, such as browsers; otherwise JSON. */
function forBrowsers(view: HoldingsView): PublisherRoute["answer"] {
  return async (exchange) => {
    if (wantsPage(exchange)) return page(exchange);
    const reply = await holdings(exchange, view);
    return { ...reply, headers: { ...reply.headers, Vary: "Accept" } };
  };
}

/** `GET /openapi.json` */
function openApi({ client, routes }: Exchange): Reply {
  return openApiReply(routes, {
    title: "MementoMap publisher",
    description: "Maps of the holdings of web archives, and lookups in them.",
    prefix: client.prefix,
    schemas: { Answer: LOOKUP_SCHEMA, ...HOLDINGS_SCHEMAS },
  });
}
