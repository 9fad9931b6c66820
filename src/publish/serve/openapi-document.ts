import type { PublisherLimits } from "../../http/limits.ts";
import { WELL_KNOWN_PATH } from "./site.ts";

/** The interface of a publisher as OpenAPI 3.1. */
export function openApiDocument(options: {
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
