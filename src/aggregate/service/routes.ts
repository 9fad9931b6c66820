import { MAX_ORIGINAL_LENGTH } from "../../http/original-uri.ts";
import { HOLDINGS_SCHEMAS } from "../../http/schemas.ts";
import { openApiReply } from "../../http/openapi.ts";
import { OpenReplies } from "../../http/open-replies.ts";
import { type Problem, problemReply, type Reply } from "../../http/reply.ts";
import type { Route } from "../../http/router.ts";
import { requestFault } from "../../http/service.ts";
import {
  datetimeOfEpochMs,
  parseAcceptDatetime,
  parsePaddedDatetime,
} from "../../memento/datetime.ts";
import { wantsPage } from "../../page/app-page.ts";
import type { Aggregation } from "../aggregator.ts";
import { HOLDINGS_QUERY } from "../../publish/serve/holdings.ts";
import { noMementoReply } from "./aggregation-reply.ts";
import type { Exchange } from "./exchange.ts";
import { proxyReply } from "./memento.ts";
import { asset, openSearch, page } from "./page.ts";
import { type LookupRequest, lookupRequest } from "./request.ts";
import { about, aboutJson, archives, health, history, metrics, route } from "./status.ts";
import { monitorReply, streamReply } from "./stream.ts";
import {
  descriptionReply,
  type Found,
  mementoReply,
  summaryReply,
  timeGateReply,
  timeMapReply,
} from "./timemap.ts";

/** Streams of events of one client at once. */
const LISTENERS = new OpenReplies(10);

type AggregatorRoute = Route<Exchange>;
type Params = Found["params"];

const FORMAT = "{format:link|json|cdxj}";
const TIMEMAPS = {
  200: { type: "application/link-format, application/json, application/cdxj+ors" },
};
const JSON_REPLY = { 200: { type: "application/json" } };
const TEXT_REPLY = { 200: { type: "text/plain" } };
const EVENTS = { 200: { type: "text/event-stream" } };
const FOUND = { 302: { type: "text/html" } };
const HTML = { 200: { type: "text/html" } };
const PREFERENCES = {
  Prefer:
    'archives="a b", except-archives="c", from=2010, until=2014, top-k=3, min-likelihood=0.1, routing=off, route-reasons',
  "Cache-Control": "no-cache asks archives again, only-if-cached asks none",
};

const MEMENTOS: readonly AggregatorRoute[] = [
  lookupRoute("proxy", "/memento/proxy/{datetime}/{*uri}", {
    summary: "The memento closest to a moment, as it was captured",
    replies: { 200: { type: "*/*" } },
    answer: proxyReply,
  }),
  lookupRoute("memento", `/memento/${FORMAT}/{datetime}/{*uri}`, {
    summary: "The memento closest to a moment, and those around it",
    replies: TIMEMAPS,
    answer: descriptionReply,
  }),
  lookupRoute("memento", "/memento/{datetime}/{*uri}", {
    summary: "The memento closest to a moment",
    replies: FOUND,
    answer: mementoReply,
  }),
];

/** Every path of an aggregator. Another endpoint is another row. */
export const ROUTES: readonly AggregatorRoute[] = [
  lookupRoute("timemap", String.raw`/timemap/${FORMAT}/{page:[1-9]\d{0,5}}/{*uri}`, {
    summary: "A page of a long TimeMap",
    replies: TIMEMAPS,
    answer: timeMapReply,
  }),
  lookupRoute("timemap", `/timemap/${FORMAT}/{*uri}`, {
    summary: "All mementos of an original",
    description: `The URI is the raw rest of the target: it is never decoded, and has up to ${MAX_ORIGINAL_LENGTH} characters.`,
    replies: TIMEMAPS,
    answer: timeMapReply,
  }),
  lookupRoute("timegate", "/timegate/{*uri}", {
    summary: "The memento closest to a moment",
    headers: {
      "Accept-Datetime": "Thu, 01 Jan 2015 00:00:00 GMT; now if it is left out",
      ...PREFERENCES,
    },
    replies: FOUND,
    answer: timeGateReply,
  }),
  ...MEMENTOS,
  // As MemGator names them, too.
  ...MEMENTOS.map((row) => ({
    ...row,
    path: row.path.replace("/memento", "/api"),
    isPage: true as const,
  })),
  lookupRoute("summary", "/summary/{*uri}", {
    summary: "Mementos counted by archive and year",
    replies: JSON_REPLY,
    answer: summaryReply,
  }),
  {
    ...lookupRoute("timemap", "/stream/{*uri}", {
      summary: "Mementos as archives answer: events decided, mementos, archive, done",
      replies: EVENTS,
      answer: summaryReply,
    }),
    answer: stream,
  },
  get("route", "/route/{*uri}", {
    summary: "Which archives would be asked, and why",
    headers: PREFERENCES,
    replies: JSON_REPLY,
    answer: (exchange, { uri }) => withLookup(exchange, uri, (asked) => route(exchange, asked)),
  }),
  get("about", "/about", {
    summary: "The service and its archives: a page, JSON, or text",
    replies: JSON_REPLY,
    answer: about,
  }),
  get("about", "/about.json", {
    summary: "The service and its archives",
    replies: JSON_REPLY,
    answer: aboutJson,
  }),
  get("about", "/archives.json", {
    summary: "The list of archives, as MemGator reads it",
    replies: JSON_REPLY,
    answer: archives,
  }),
  get("about", "/history.json", {
    summary: "Requests to archives, asked and spared, and the recall, by minutes and by hours",
    replies: JSON_REPLY,
    answer: history,
  }),
  get("explore", "/explore", {
    summary: "A part of a map that the aggregator uses, and its children",
    query: HOLDINGS_QUERY.explore,
    replies: { 200: { type: "application/json", schema: "Slice" } },
    answer: holdings("explore"),
  }),
  get("compare", "/compare", {
    summary: "What maps have in common, and what only one holds",
    query: HOLDINGS_QUERY.compare,
    replies: { 200: { type: "application/json", schema: "Comparison" } },
    answer: holdings("compare"),
  }),
  get("monitor", "/monitor", {
    summary: "Events as they happen",
    replies: EVENTS,
    answer: ({ options, client }) =>
      LISTENERS.of(client.address, () => monitorReply(options.monitor)),
  }),
  get("health", "/health", {
    summary: "Whether the service works, and what does not; 503 if no archive can be asked",
    isMonitoring: true,
    replies: JSON_REPLY,
    answer: health,
  }),
  get("metrics", "/metrics", {
    summary: "Metrics for Prometheus",
    isMonitoring: true,
    replies: TEXT_REPLY,
    answer: metrics,
  }),
  get("openapi", "/openapi.json", {
    summary: "This description",
    replies: JSON_REPLY,
    answer: openApi,
  }),
  forPeople("/", (exchange) => (wantsPage(exchange) ? page(exchange) : about(exchange))),
  forPeople("/find", page),
  forPeople("/time", page),
  forPeople("/opensearch.xml", openSearch),
  forPeople("/page/{name}", (exchange, { name }) => asset(exchange, name)),
];

type Row = Omit<AggregatorRoute, "method" | "path" | "name">;

function get(name: string, path: string, row: Row): AggregatorRoute {
  return { ...row, method: "GET", path, name };
}

function forPeople(path: string, answer: AggregatorRoute["answer"]): AggregatorRoute {
  return get("about", path, { summary: "A page", isPage: true, replies: HTML, answer });
}

/** A path that archives are asked for. */
function lookupRoute(
  name: string,
  path: string,
  {
    answer,
    ...row
  }: Omit<Row, "answer"> & { readonly answer: (found: Found) => Reply | Promise<Reply> },
): AggregatorRoute {
  return get(name, path, {
    headers: PREFERENCES,
    ...row,
    answer: (exchange, params) =>
      withLookup(exchange, params["uri"], (asked) => lookup(exchange, params, asked, answer)),
  });
}

/** Reads what is asked for; 400 if that cannot be understood. */
function withLookup(
  exchange: Exchange,
  uri: string,
  answer: (asked: LookupRequest) => Reply | Promise<Reply>,
): Reply | Promise<Reply> {
  let asked: LookupRequest;
  try {
    asked = lookupRequest(exchange, uri);
  } catch (error) {
    return requestFault(error);
  }
  return answer(asked);
}

async function lookup(
  exchange: Exchange,
  params: Params,
  { request, preferences }: LookupRequest,
  answer: (found: Found) => Reply | Promise<Reply>,
): Promise<Reply> {
  const { aggregator } = exchange.options;
  let datetime: number | undefined;
  try {
    datetime = datetimeOf(exchange, params);
  } catch (error) {
    return requestFault(error);
  }
  const ended = begun(exchange);
  if (ended === undefined) return problemReply(TOO_BUSY);
  let aggregation: Aggregation;
  try {
    aggregation = await (datetime === undefined
      ? aggregator.timeMap(request)
      : aggregator.timeGate({ ...request, datetime }));
  } finally {
    ended();
  }
  const found = { exchange, params, preferences, aggregation, datetime: datetime ?? 0 };
  if (aggregation.mementos.count === 0) return noMementoReply(exchange, aggregation, preferences);
  return answer(found);
}

/** The moment that a path or `Accept-Datetime` names; for TimeGates now, if none does. */
function datetimeOf(
  { route: name, request, options }: Exchange,
  params: Params,
): number | undefined {
  if (params["datetime"] !== undefined) return parsePaddedDatetime(params["datetime"]);
  if (name !== "timegate") return undefined;
  const text = request.headers["accept-datetime"];
  return typeof text === "string" && text !== ""
    ? parseAcceptDatetime(text)
    : datetimeOfEpochMs((options.now ?? Date.now)());
}

const TOO_BUSY: Problem = {
  status: 503,
  title: "Too busy",
  detail: "too many lookups are in progress; try again in a few seconds",
  headers: { "Retry-After": "5" },
};

/** Counts a lookup; what to call when it has ended, or undefined if too many are in progress. */
function begun({ metrics, options: { maxLookups = 5000 } }: Exchange): (() => void) | undefined {
  metrics.lookups.inc();
  if (metrics.lookupsInProgress >= maxLookups) return undefined;
  metrics.lookupsInProgress += 1;
  return () => void (metrics.lookupsInProgress -= 1);
}

function stream(exchange: Exchange, { uri }: Params): Reply | Promise<Reply> {
  return withLookup(exchange, uri, ({ request }) => {
    const ended = begun(exchange);
    if (ended === undefined) return problemReply(TOO_BUSY);
    return streamReply(exchange.options.aggregator, request, ended);
  });
}

/** A page for clients that ask for HTML, as browsers do; data for all others. */
function holdings(view: "explore" | "compare"): AggregatorRoute["answer"] {
  return async (exchange) => {
    if (wantsPage(exchange)) return page(exchange);
    const { heldMaps, request, query } = exchange;
    if (heldMaps === undefined) {
      return problemReply({ status: 404, title: "Not found", detail: "there are no maps here" });
    }
    const reply = await heldMaps.answer(view, request.headers, new URLSearchParams(query));
    return { ...reply, headers: { Vary: "Accept", ...reply.headers } };
  };
}

function openApi({ client, routes }: Exchange): Reply {
  return openApiReply(routes, {
    title: "Memento aggregator",
    description: "TimeMaps, TimeGates and mementos of many web archives as one (RFC 7089).",
    prefix: client.prefix,
    schemas: HOLDINGS_SCHEMAS,
  });
}
