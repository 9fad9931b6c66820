import { EXPLORE_PARAMETERS } from "../../publish/serve/answer-explore.ts";
import { MAP_CONTENT_TYPE, PACKED_CONTENT_TYPE } from "../../http/reply.ts";
import { MAX_ORIGINAL_LENGTH } from "./request-target.ts";

const FORMATS = ["link", "json", "cdxj"];
const PROBLEM = { "application/problem+json": {} };

/** The interface of an aggregator as OpenAPI 3.1. */
export function aggregatorOpenApi(service: {
  readonly version: string;
  readonly base: string;
  readonly hasMetrics: boolean;
}): Record<string, unknown> {
  return {
    openapi: "3.1.0",
    info: {
      title: "Memento aggregator",
      version: service.version,
      description: `TimeMaps, TimeGates and mementos of many web archives as one (RFC 7089). The original URI is the raw rest of the target: it is never decoded, and has up to ${MAX_ORIGINAL_LENGTH} characters.`,
    },
    servers: [{ url: service.base }],
    paths: {
      "/timemap/{format}/{uri}": {
        parameters: [FORMAT, URI, ...PREFERENCES],
        get: operation("All mementos of an original", {
          "200": { description: "OK", headers: { "X-Memento-Count": COUNT }, content: TIMEMAPS },
        }),
      },
      "/timemap/{format}/{page}/{uri}": {
        parameters: [FORMAT, PAGE, URI, ...PREFERENCES],
        get: operation("A page of a long TimeMap", {
          "200": { description: "OK", headers: { "X-Memento-Count": COUNT }, content: TIMEMAPS },
        }),
      },
      "/timegate/{uri}": {
        parameters: [
          {
            name: "Accept-Datetime",
            in: "header",
            description: "Thu, 01 Jan 2015 00:00:00 GMT; now if it is left out",
            schema: { type: "string" },
          },
          URI,
          ...PREFERENCES,
        ],
        get: operation("The memento closest to a moment", { "302": REDIRECT }),
      },
      "/memento/{datetime}/{uri}": {
        parameters: [DATETIME, URI, ...PREFERENCES],
        get: operation("The memento closest to a moment", { "302": REDIRECT }),
      },
      "/memento/{format}/{datetime}/{uri}": {
        parameters: [FORMAT, DATETIME, URI, ...PREFERENCES],
        get: operation("The memento closest to a moment, and those around it", {
          "200": { description: "OK", content: TIMEMAPS },
        }),
      },
      "/memento/proxy/{datetime}/{uri}": {
        parameters: [DATETIME, URI, ...PREFERENCES],
        get: operation("The memento closest to a moment, as it was captured", {
          "200": { description: "What was captured, with the status it was captured with" },
          "502": { description: "The archive does not give it", content: PROBLEM },
        }),
      },
      "/summary/{uri}": {
        parameters: [URI, ...PREFERENCES],
        get: operation("Mementos counted by archive and year", { "200": json("OK") }),
      },
      "/stream/{uri}": {
        parameters: [URI, ...PREFERENCES],
        get: operation("Mementos as archives answer: events decided, mementos, archive, done", {
          "200": { description: "OK", content: { "text/event-stream": {} } },
        }),
      },
      "/route/{uri}": {
        parameters: [URI, ...PREFERENCES],
        get: operation("Which archives would be asked, and why", { "200": json("OK") }),
      },
      "/about": { get: operation("The service and its archives", { "200": json("OK") }) },
      "/history.json": {
        get: operation(
          "Requests to archives, asked and spared, and the recall, by minutes and by hours",
          { "200": json("OK") },
        ),
      },
      "/archives.json": { get: operation("The list of archives", { "200": json("OK") }) },
      "/maps": {
        get: operation("Maps of what was learnt of archives, as a set of links (RFC 9264)", {
          "200": { description: "OK", content: { "application/linkset": {} } },
        }),
      },
      "/maps/{id}": {
        parameters: [inPath("id", { type: "string" })],
        get: operation("What was learnt of an archive, as a map: text, or packed by Accept", {
          "200": { description: "OK", content: MAPS },
          "304": { description: "Not modified" },
        }),
      },
      "/explore": {
        parameters: EXPLORE_PARAMETERS.map(inQuery),
        get: operation("A part of a map that the aggregator uses, and its children", {
          "200": json("OK"),
          "304": { description: "Not modified" },
        }),
      },
      "/compare": {
        parameters: ["map", "limit"].map(inQuery),
        get: operation("What maps have in common, and what only one holds", {
          "200": json("OK"),
          "304": { description: "Not modified" },
        }),
      },
      "/monitor": {
        get: operation("Events as they happen", {
          "200": { description: "OK", content: { "text/event-stream": {} } },
          "501": { description: "Not switched on", content: PROBLEM },
        }),
      },
      "/health": {
        get: operation("Whether the service works, and what does not", {
          "200": json("It works, perhaps not all of it"),
          "503": json("No archive can be asked"),
        }),
      },
      ...(service.hasMetrics ? { "/metrics": METRICS } : {}),
    },
  };
}

const FORMAT = inPath("format", { enum: FORMATS });
const PAGE = inPath("page", { type: "integer", minimum: 1 });
const DATETIME = inPath("datetime", { type: "string", pattern: "^\\d{4}(\\d\\d){0,5}$" });
const URI = { ...inPath("uri", { type: "string" }), allowReserved: true };
const COUNT = { schema: { type: "integer" }, description: "How many mementos there are" };
const REDIRECT = {
  description: "Found",
  headers: { Location: { schema: { type: "string" } }, Link: { schema: { type: "string" } } },
};
const TIMEMAPS = {
  "application/link-format": {},
  "application/json": {},
  "application/cdxj+ors": {},
};
const MAPS = { [MAP_CONTENT_TYPE]: {}, [PACKED_CONTENT_TYPE]: {} };
const PREFERENCES = [
  {
    name: "Prefer",
    in: "header",
    description:
      'archives="a b", except-archives="c", from=2010, until=2014, top-k=3, min-likelihood=0.1, routing=off, route-reasons',
    schema: { type: "string" },
  },
  {
    name: "Cache-Control",
    in: "header",
    description: "no-cache asks archives again, only-if-cached asks none",
    schema: { type: "string" },
  },
];

const METRICS = {
  get: operation("Metrics for Prometheus", {
    "200": { description: "OK", content: { "text/plain": {} } },
  }),
};

function inPath(name: string, schema: unknown): Record<string, unknown> {
  return { name, in: "path", required: true, schema };
}

function inQuery(name: string): Record<string, unknown> {
  return { name, in: "query", schema: { type: "string" } };
}

function operation(summary: string, responses: Record<string, unknown>): Record<string, unknown> {
  const problems = Object.fromEntries(
    ["400", "404", "429", "502", "503", "504"].map((status) => [
      status,
      { description: "See RFC 9457", content: PROBLEM },
    ]),
  );
  return { summary, responses: { ...responses, ...problems } };
}

function json(description: string): Record<string, unknown> {
  return { description, content: { "application/json": { schema: { type: "object" } } } };
}
