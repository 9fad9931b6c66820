import { type Exchange, WELL_KNOWN_PATH } from "./site.ts";
import { methodNotAllowed, problemReply, type Reply, textReply } from "../../http/reply.ts";
import { batch, lookup } from "./answer-lookup.ts";
import { compare } from "./answer-compare.ts";
import { explore } from "./answer-explore.ts";
import { about, asset, home, openSearch, scriptedView } from "./answer-page.ts";
import { health, mapById, mapList, metrics, wellKnown } from "./answers.ts";
import { packageVersion } from "../../files/package-file.ts";
import type { PublisherLimits } from "../../http/listen.ts";

type Answerer = (exchange: Exchange) => Reply | Promise<Reply>;

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
    "/find": reading(home),
    "/about": reading(about),
    "/compare": reading(forBrowsers(scriptedView("compare"), compare)),
    "/explore": reading(forBrowsers(scriptedView("explore"), explore)),
    "/opensearch.xml": reading(openSearch),
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
  const [, kind, name = ""] = /^\/(maps|page)\/([\w.-]+)$/.exec(rest) ?? [];
  if (kind === undefined) return undefined;
  const answer = kind === "maps" ? mapById : asset;
  return routeOf(reading((exchange) => answer(exchange, name)));
}

/** A page for who asks for one by name, as browsers do; what programs get for all others. */
function forBrowsers(page: Answerer, data: Answerer): Answerer {
  return async (exchange) => {
    const { accept = "" } = exchange.request.headers;
    if (accept.includes("text/html")) return page(exchange);
    const reply = await data(exchange);
    return { ...reply, headers: { ...reply.headers, Vary: "Accept" } };
  };
}

/** The route of a path that tells how the server is. */
export function findMonitoringRoute(path: string): Route | undefined {
  return MONITORING_ROUTES.get(path);
}

function routeOf(methods: Methods): Route {
  const allow = [...Object.keys(methods), "OPTIONS"].join(", ");
  return {
    answer(exchange) {
      const { method } = exchange.request;
      if (Object.hasOwn(methods, method)) return methods[method](exchange);
      return method === "OPTIONS" ? preflight(allow) : problemReply(methodNotAllowed(allow));
    },
  };
}

/** Tells browsers that pages of other sites may ask. */
function preflight(allow: string): Reply {
  return {
    status: 204,
    headers: {
      Allow: allow,
      "Access-Control-Allow-Methods": allow,
      "Access-Control-Allow-Headers":
        "Accept, Content-Type, If-Match, If-None-Match, If-Modified-Since, If-Range, Range",
      "Access-Control-Max-Age": "86400",
    },
  };
}

/** `GET /openapi.json`: the interface, for programs that make clients. */
function openApi(exchange: Exchange): Reply {
  exchange.route = "openapi";
  const document = openApiDocument({
    version: packageVersion(),
    prefix: exchange.client.prefix,
    limits: exchange.limits,
  });
  return textReply("application/json", `${JSON.stringify(document, undefined, 2)}\n`, {
    "Cache-Control": "public, max-age=3600",
  });
}

function openApiDocument(options: {
  readonly version: string;
  readonly prefix: string;
  readonly limits: PublisherLimits;
}): Record<string, unknown> {
  const { version, prefix, limits } = options;
  return {
    openapi: "3.1.0",
    info: {
      title: "MementoMap publisher",
      version,
      description: "Maps of what web archives hold, and lookups in them.",
    },
    paths: {
      [WELL_KNOWN_PATH]: { get: mapOperation("The map of this host's archive") },
      [`${prefix}/maps`]: {
        get: {
          summary: "All maps, as a set of links (RFC 9264)",
          responses: { "200": ok("application/linkset", { type: "string" }) },
        },
      },
      [`${prefix}/maps/{id}`]: {
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
        get: mapOperation("A map by its name"),
      },
      [`${prefix}/lookup`]: {
        get: {
          summary: "What the maps say about one URI",
          description:
            "The URI is the raw rest of the target and is never decoded, so url= comes last.",
          parameters: [
            query("at", "4 to 14 digits of YYYYMMDDhhmmss"),
            query("map", "Ask only the map of this name"),
            { ...query("url", "The URI to look up"), required: true, allowReserved: true },
          ],
          responses: {
            "200": ok("application/json", ANSWER),
            ...problems("400", "404", "429"),
          },
        },
        post: {
          summary: "Look up many URIs, one a line; answers come while the request is sent",
          description: `At most ${limits.maxBatchBytes} bytes, and ${limits.maxUriBytes} a URI.`,
          parameters: [
            query("at", "4 to 14 digits of YYYYMMDDhhmmss"),
            query("map", "The map to ask; the first by default"),
            query("surt", "Lines are SURTs, not URIs"),
          ],
          requestBody: { content: { "text/plain": { schema: { type: "string" } } } },
          responses: {
            "200": {
              description: "URI, present or absent, key, frequency, distance; a line each",
              content: {
                "text/tab-separated-values": { schema: { type: "string" } },
                "application/x-ndjson": { schema: ANSWER },
              },
            },
            ...problems("400", "404", "413", "429"),
          },
        },
      },
      [`${prefix}/explore`]: {
        get: {
          summary: "A part of a map and its children: domains, hosts, paths",
          description:
            "Children come in slices; next is the address of the following ones. A packed map tells how many rows and hosts it has, and how deep they are.",
          parameters: [
            query("prefix", "What keys begin with: com, or com,example, or com,example)/a/"),
            query("search", "List the parts below whose names have this text"),
            query("sort", "captures (default) or key"),
            query("limit", "Children at most; 200 by default, 1,000 at most"),
            query("depth", "Levels of children, 1 (default) to 3"),
            query("from", "Where to go on, as next has it"),
            query("map", "The map to ask; the first by default"),
          ],
          responses: {
            "200": ok("application/json", SLICE),
            "304": { description: "Not modified" },
            ...problems("400", "404", "429"),
          },
        },
      },
      [`${prefix}/compare`]: {
        get: {
          summary: "What maps have in common, and what only one of them holds",
          description:
            "Reads the maps through once for each version of them. Numbers for each map are in the order of maps.",
          parameters: [
            {
              ...query("map", "A map to compare, 2 to 8 times; all by default"),
              schema: { type: "array", items: { type: "string" } },
            },
            query("limit", "Domains of each list; 100 by default, 1,000 at most"),
          ],
          responses: {
            "200": ok("application/json", COMPARISON),
            "304": { description: "Not modified" },
            ...problems("400", "404", "429"),
          },
        },
      },
      [`${prefix}/health`]: {
        get: {
          summary: "The maps that are served, in which version",
          responses: { "200": ok("application/json", { type: "object" }) },
        },
      },
      [`${prefix}/metrics`]: {
        get: {
          summary: "Metrics for Prometheus",
          responses: { "200": ok("text/plain", { type: "string" }) },
        },
      },
    },
  };
}

const ANSWER = {
  type: "object",
  required: ["input", "present", "key", "frequency", "distance"],
  properties: {
    input: { type: "string" },
    present: { type: "boolean" },
    key: { type: ["string", "null"], description: "The key that decided" },
    frequency: { type: ["string", "null"] },
    distance: { type: ["integer", "null"], description: "0: a key for exactly this URI" },
    years: {
      type: "array",
      items: { type: "integer" },
      description: "The first and the last year of the host, where a packed map knows them",
    },
  },
};

const PART = {
  url: { type: "string", description: "The prefix for people" },
  kind: {
    enum: ["root", "tld", "domain", "host", "path", "page", "query", "wildcard", "other"],
  },
  rows: { type: "integer" },
  captures: { type: "integer", description: "The sum of the frequencies" },
  bound: { enum: ["exact", "atLeast", "atMost", "about"] },
  voids: { type: "integer", description: "Rows that say that nothing is held" },
  wildcards: { type: "integer", description: "Rows that stand for many pages" },
  wildcardCaptures: { type: "integer" },
  detail: { enum: ["kept", "rolled up", "mixed"] },
};

const SLICE = {
  type: "object",
  required: ["map", "form", "rows"],
  properties: {
    map: { type: "string" },
    form: { enum: ["text", "packed"] },
    prefix: { type: "string" },
    ...PART,
    above: { type: "array", items: { type: "object" } },
    coveredBy: { type: "array", items: { type: "object" } },
    total: { type: "string", description: "The frequency of *, at the root" },
    children: {
      type: "array",
      items: {
        type: "object",
        properties: {
          prefix: { type: "string" },
          ...PART,
          hasChildren: { type: "boolean" },
          children: {
            type: "array",
            items: { type: "object" },
            description: "The largest of its own children, with depth above 1",
          },
        },
      },
    },
    search: { type: "string", description: "What was searched for, as keys have it" },
    next: { type: ["string", "null"], description: "Relative to this address" },
  },
};

const COMBINATIONS = {
  type: "object",
  properties: {
    count: { type: "integer" },
    combinations: {
      type: "array",
      items: {
        type: "object",
        properties: {
          held: {
            type: "array",
            items: { type: "string" },
            description: "Maps with rows for them",
          },
          may: {
            type: "array",
            items: { type: "string" },
            description: "Maps whose wildcards cover them",
          },
          count: { type: "integer" },
          differing: { type: "integer", description: "Those whose captures differ" },
          captures: { type: "array", items: { type: "integer" } },
        },
      },
    },
  },
};

const COMPARISON = {
  type: "object",
  properties: {
    maps: { type: "array", items: { type: "object" } },
    keys: COMBINATIONS,
    domains: COMBINATIONS,
    ...Object.fromEntries(
      ["tlds", "largest", "differing", "only"].map((name) => [
        name,
        { type: "array", items: { type: "object" } },
      ]),
    ),
  },
};

function mapOperation(summary: string): Record<string, unknown> {
  const map = ok("text/plain", { type: "string" });
  return {
    summary,
    parameters: [query("page", "One page of the map, counted from 1")],
    responses: {
      "200": map,
      "206": map,
      "304": { description: "Not modified" },
      ...problems("400", "404", "412", "416", "429"),
    },
  };
}

function query(name: string, description: string): Record<string, unknown> {
  return { name, in: "query", description, schema: { type: "string" } };
}

function ok(type: string, schema: unknown): Record<string, unknown> {
  return { description: "OK", content: { [type]: { schema } } };
}

function problems(...statuses: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      { description: "See RFC 9457", content: { "application/problem+json": {} } },
    ]),
  );
}
