import { MAX_ORIGINAL_LENGTH } from "../../http/original-uri.ts";
import { HOLDINGS_SCHEMAS } from "../../http/schemas.ts";
import { openApiReply } from "../../http/openapi.ts";
import { OpenReplies } from "../../http/open-replies.ts";
import {
  notFound,
  type Problem,
  problemReply,
  type Reply,
  type ReplyHeaders,
} from "../../http/reply.ts";
import type { Route } from "../../http/router.ts";
import { type BaseExchange, HttpService, requestFault } from "../../http/service.ts";
import {
  datetimeOfEpochMs,
  parseAcceptDatetime,
  parsePaddedDatetime,
} from "../../memento/datetime.ts";
import { wantsPage } from "../../page/app-page.ts";
import { HOLDINGS_QUERY, type HoldingsView } from "../../publish/serve/holdings.ts";
import type { AggregatorServiceOptions, Exchange } from "./exchange.ts";
import { proxyReply } from "./memento.ts";
import { asset, openSearch, page } from "./page.ts";
import { type LookupRequest, lookupRequest } from "./request.ts";
import { about, aboutJson, archives, health, history, metrics, route } from "./status.ts";
import { monitorReply, streamReply } from "./stream.ts";
import {
  detailsReply,
  type Found,
  mementoReply,
  noMementoReply,
  summaryReply,
  timeGateReply,
  timeMapReply,
} from "./timemap.ts";
import { packageVersion } from "../../files/package-file.ts";
import { pathPrefix } from "../../http/target.ts";
import { AggregatorMetrics } from "./aggregator-metrics.ts";
import { HeldMaps } from "./held-maps.ts";

/** Limit on concurrent event streams per client. */
const LISTENERS = new OpenReplies(10);

type AggregatorRoute = Route<Exchange>;
type Answer = AggregatorRoute["answer"];
type Params = Found["params"];
/** Optional details of a row. */
type Details = Omit<Partial<AggregatorRoute>, "name" | "path" | "summary" | "answer">;

const FORMAT = "{format:link|json|cdxj}";
const PAGE = String.raw`{page:[1-9]\d{0,5}}`;
const AT = "{datetime}/{*uri}";
const PREFERENCES = {
  Prefer:
    'archives="a b", except-archives="c", from=2010, until=2014, top-k=3, min-likelihood=0.1, routing=off, route-reasons',
  "Cache-Control": "no-cache queries archives again, only-if-cached queries none",
};
const MAPS = replies("application/link-format, application/json, application/cdxj+ors");
const ANY = replies("*/*");
const EVENTS = replies("text/event-stream");
const FOUND: Details = { replies: { 302: { type: "text/html" } } };
const HTML: Details = { ...replies("text/html"), isPage: true };
const MONITORING: Details = { isMonitoring: true };
const RAW: Details = {
  ...MAPS,
  description: `The URI is the raw rest of the target: it is never decoded, and has up to ${MAX_ORIGINAL_LENGTH} characters.`,
};
const GATE: Details = {
  ...FOUND,
  headers: {
    "Accept-Datetime": "Thu, 01 Jan 2015 00:00:00 GMT; default now",
    ...PREFERENCES,
  },
};
const EXPLORE = { ...replies("application/json", "Slice"), query: HOLDINGS_QUERY.explore };
const COMPARE = { ...replies("application/json", "Comparison"), query: HOLDINGS_QUERY.compare };

const MEMENTOS: readonly AggregatorRoute[] = [
  lookupRow("proxy", `/memento/proxy/${AT}`, "A memento as it was captured", proxyReply, ANY),
  lookupRow(
    "memento",
    `/memento/${FORMAT}/${AT}`,
    "A memento and its neighbours",
    detailsReply,
    MAPS,
  ),
  lookupRow("memento", `/memento/${AT}`, "The memento closest to a datetime", mementoReply, FOUND),
];

/** Every path of an aggregator. Another endpoint is another row. */
export const AGGREGATOR_ROUTES: readonly AggregatorRoute[] = [
  lookupRow(
    "timemap",
    `/timemap/${FORMAT}/${PAGE}/{*uri}`,
    "A page of a TimeMap",
    timeMapReply,
    MAPS,
  ),
  lookupRow(
    "timemap",
    `/timemap/${FORMAT}/{*uri}`,
    "All mementos of an original",
    timeMapReply,
    RAW,
  ),
  lookupRow("timegate", "/timegate/{*uri}", "The memento for Accept-Datetime", timeGateReply, GATE),
  ...MEMENTOS,
  // MemGator's names for them.
  ...MEMENTOS.map((memento) => ({
    ...memento,
    path: memento.path.replace("/memento", "/api"),
    isPage: true as const,
  })),
  lookupRow("summary", "/summary/{*uri}", "Mementos counted by archive and year", summaryReply),
  row("timemap", "/stream/{*uri}", "Mementos as archives answer", withRequest(stream), EVENTS),
  row("route", "/route/{*uri}", "Which archives would be queried, and why", withRequest(route)),
  row("about", "/about", "The service and its archives: HTML, JSON or text by Accept", about),
  row("about", "/about.json", "The service and its archives", aboutJson),
  row("about", "/archives.json", "The list of archives, as MemGator reads it", archives),
  row("about", "/history.json", "Requests and recall of 60 minutes and 72 hours", history),
  row("explore", "/explore", "A part of a map and its children", holdings("explore"), EXPLORE),
  row("compare", "/compare", "What maps have in common", holdings("compare"), COMPARE),
  row("monitor", "/monitor", "Events as they happen; 501 without --monitor", monitor, EVENTS),
  row("health", "/health", "Problems of the service; 503 if it is failing", health, MONITORING),
  row("metrics", "/metrics", "Metrics for Prometheus", metrics, {
    ...replies("text/plain"),
    ...MONITORING,
  }),
  row("openapi", "/openapi.json", "This description", openApi),
  row("about", "/", "A page", (exchange) => (wantsPage(exchange) ? page : about)(exchange), HTML),
  row("about", "/find", "A page", page, HTML),
  row("about", "/time", "A page", page, HTML),
  row("about", "/opensearch.xml", "A page", openSearch, HTML),
  row("about", "/page/{name}", "A page", (exchange, { name }) => asset(exchange, name), HTML),
];

function replies(type: string, schema?: string): { readonly replies: AggregatorRoute["replies"] } {
  return { replies: { 200: schema === undefined ? { type } : { type, schema } } };
}

/** A row; replies default to JSON, and paths with an original accept preferences. */
function row(
  name: string,
  path: string,
  summary: string,
  answer: Answer,
  details: Details = {},
): AggregatorRoute {
  const headers = path.endsWith("{*uri}") ? { headers: PREFERENCES } : {};
  return {
    method: "GET",
    ...replies("application/json"),
    ...headers,
    ...details,
    name,
    path,
    summary,
    answer,
  };
}

/** Parses the original and the preferences of a request; 400 if they are invalid. */
function withRequest(
  answer: (exchange: Exchange, lookup: LookupRequest, params: Params) => Reply | Promise<Reply>,
): Answer {
  return (exchange, params) => {
    let lookup: LookupRequest;
    try {
      lookup = lookupRequest(exchange, params["uri"]);
    } catch (error) {
      return requestFault(error);
    }
    return answer(exchange, lookup, params);
  };
}

/** A row of a path that queries archives. */
function lookupRow(
  name: string,
  path: string,
  summary: string,
  reply: (found: Found) => Reply | Promise<Reply>,
  details?: Details,
): AggregatorRoute {
  const answer = withRequest(async (exchange, { request, preferences }, params) => {
    const { aggregator } = exchange.options.open;
    let datetime: number | undefined;
    try {
      datetime = datetimeOf(exchange, params);
    } catch (error) {
      return requestFault(error);
    }
    const ended = beginLookup(exchange);
    if (ended === undefined) return problemReply(TOO_BUSY);
    const asking =
      datetime === undefined
        ? aggregator.timeMap(request)
        : aggregator.timeGate({ ...request, datetime });
    const aggregation = await asking.finally(ended);
    const all = { exchange, params, preferences, aggregation, datetime: datetime ?? 0 };
    return aggregation.mementos.count === 0 ? noMementoReply(all) : reply(all);
  });
  return row(name, path, summary, answer, details);
}

/** The datetime in the path or `Accept-Datetime`; for TimeGates, the default is now. */
function datetimeOf({ route: name, request, now }: Exchange, params: Params): number | undefined {
  if (params["datetime"] !== undefined) return parsePaddedDatetime(params["datetime"]);
  if (name !== "timegate") return undefined;
  const text = request.headers["accept-datetime"];
  return typeof text === "string" && text !== ""
    ? parseAcceptDatetime(text)
    : datetimeOfEpochMs(now);
}

const TOO_BUSY: Problem = {
  status: 503,
  title: "Too busy",
  detail: "too many lookups are in progress; retry in a few seconds",
  headers: { "Retry-After": "5" },
};

/** Counts a lookup; returns the function to call at its end, or undefined if too many are in progress. */
function beginLookup({
  metrics: own,
  options: { maxLookups = 5000 },
}: Exchange): (() => void) | undefined {
  own.lookups.inc();
  if (own.lookupsInProgress >= maxLookups) return undefined;
  own.lookupsInProgress += 1;
  return () => void (own.lookupsInProgress -= 1);
}

function stream(exchange: Exchange, { request }: LookupRequest): Reply {
  const ended = beginLookup(exchange);
  if (ended === undefined) return problemReply(TOO_BUSY);
  return streamReply(exchange.options.open.aggregator, request, ended);
}

function monitor({ options, client }: Exchange): Reply | Promise<Reply> {
  return LISTENERS.of(client.address, () => monitorReply(options.monitor));
}

/** A page for clients that ask for HTML, as browsers do; data for all others. */
function holdings(view: HoldingsView): Answer {
  return async (exchange) => {
    if (wantsPage(exchange)) return page(exchange);
    const { heldMaps, request, query } = exchange;
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

/** Serves an aggregator over HTTP: TimeMaps, TimeGates, mementos and its status. */
export class AggregatorService extends HttpService<Exchange> {
  readonly #parts: Pick<Exchange, "options" | "metrics" | "heldMaps" | "startedAt">;
  readonly #base: string | undefined;
  readonly #now: () => number;

  constructor(options: AggregatorServiceOptions) {
    const { base = "", open, metrics = new AggregatorMetrics(), now = Date.now } = options;
    super({
      ...options,
      routes: AGGREGATOR_ROUTES,
      prefix: pathPrefix(new URL(base, "http://localhost/").pathname),
      isPrefixOptional: true,
      metrics,
      allowedHeaders:
        "Accept, Accept-Datetime, Cache-Control, Prefer, X-MemGator-Archive-Filter, X-MementoMap-Route",
      unknown: notFound("no such path; see /about"),
    });
    this.#now = now;
    const startedAt = now();
    this.#parts = { options, metrics, heldMaps: new HeldMaps(open.keeper), startedAt };
    this.#base = base.startsWith("/") || base === "" ? undefined : base.replace(/(?<!\/)\/+$/, "");
    metrics.readStatus(options);
  }

  protected override exchange(exchange: BaseExchange): Exchange {
    const { protocol, host = "localhost", prefix } = exchange.client;
    const base = this.#base ?? `${protocol}://${host}${prefix}`;
    return { ...exchange, ...this.#parts, base, now: this.#now() };
  }

  /** As MemGator's: the server's name, and access for pages of other sites. */
  protected override headers(): ReplyHeaders {
    return HEADERS;
  }
}

const HEADERS: ReplyHeaders = {
  Server: `mementomap/${packageVersion()}`,
  "Access-Control-Expose-Headers":
    "Link, Location, X-Memento-Count, Server, Memento-Datetime, Preference-Applied, Retry-After, X-MementoMap-Archives, X-MementoMap-Missing, X-MementoMap-Route",
};
