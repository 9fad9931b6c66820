import { packageVersion } from "../../files/package-version.ts";
import { securityPolicy } from "../../publish/serve/page/document.ts";
import { aboutJson } from "./about-json.ts";
import { aboutPage } from "./about-page.ts";
import { ABOUT_STYLE } from "./about-style.ts";
import { aboutText } from "./about-text.ts";
import { aggregatorOpenApi } from "./aggregator-openapi.ts";
import {
  type AggregatorExchange,
  type AnswerStyle,
  commonHeaders,
  sendBody,
  sendRefusal,
  setHeaders,
} from "./aggregator-exchange.ts";
import type { Monitor } from "./monitor.ts";
import type { StatusName } from "./request-target.ts";
import type { ServiceLoad, WorkerCounts } from "./joined-status.ts";
import type { ServiceHealth } from "./service-health.ts";
import type { StatusView } from "./service-status.ts";

/** What the answers about the service itself are made of. */
export interface StatusParts {
  readonly status: StatusView;
  readonly health: ServiceHealth;
  readonly monitor: Monitor | undefined;
  readonly load: ServiceLoad;
  /** Undefined for a service of one process. */
  readonly workers: WorkerCounts | undefined;
  readonly style: AnswerStyle;
}

const ABOUT_SECURITY_POLICY = securityPolicy(ABOUT_STYLE);

/** Answers what there is to know about the service itself, but for its metrics. */
export function answerStatus(
  exchange: AggregatorExchange,
  name: Exclude<StatusName, "metrics">,
  parts: StatusParts,
): void {
  switch (name) {
    case "about":
      about(exchange, parts);
      return;
    case "about.json":
      aboutAsJson(exchange, parts);
      return;
    case "archives.json":
      archives(exchange, parts);
      return;
    case "monitor":
      monitor(exchange, parts);
      return;
    case "health":
      health(exchange, parts);
      return;
    case "openapi.json":
      openApi(exchange, parts);
  }
}

/** A page for browsers, JSON for who asks for it, and MemGator's text for all others. */
function about(exchange: AggregatorExchange, parts: StatusParts): void {
  exchange.route = "about";
  const { accept = "" } = exchange.request.headers;
  const service = { version: packageVersion(), base: exchange.base };
  const headers = commonHeaders(parts.style);
  headers.push("Vary", "Accept", "Cache-Control", "no-cache");
  if (accept.includes("text/html")) {
    headers.push(
      "Content-Security-Policy",
      ABOUT_SECURITY_POLICY,
      "Referrer-Policy",
      "no-referrer",
    );
    const page = aboutPage(parts.status, { ...service, hasMonitor: parts.monitor !== undefined });
    sendBody(exchange, 200, headers, "text/html; charset=utf-8", page);
  } else if (/\bjson\b/.test(accept)) {
    aboutAsJson(exchange, parts);
  } else {
    const text = aboutText(parts.status, service);
    sendBody(exchange, 200, headers, "text/plain; charset=utf-8", text);
  }
}

function aboutAsJson(exchange: AggregatorExchange, parts: StatusParts): void {
  exchange.route = "about";
  const document = aboutJson(parts.status, { version: packageVersion(), base: exchange.base });
  const more = { requests: loadOf(parts), workers: parts.workers };
  sendJson(exchange, parts, { ...document, ...more }, "no-cache");
}

/** The list of archives as MemGator reads it, so that another aggregator can use it. */
function archives(exchange: AggregatorExchange, parts: StatusParts): void {
  exchange.route = "about";
  const list = parts.status.archives().map(({ archive }) => ({
    id: archive.id,
    name: archive.name,
    timemap: archive.timemap,
    timegate: archive.timegate,
    probability: archive.probability,
  }));
  sendJson(exchange, parts, list, "public, max-age=3600");
}

function monitor(exchange: AggregatorExchange, parts: StatusParts): void {
  exchange.route = "monitor";
  const { response, isHead } = exchange;
  if (parts.monitor === undefined) {
    const detail = "events are not sent here; the service is to be started with --monitor";
    sendRefusal(exchange, { status: 501, title: "Not implemented", detail }, parts.style);
    return;
  }
  setHeaders(response, commonHeaders(parts.style));
  if (isHead) {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.end();
  } else if (!parts.monitor.add(response)) {
    const detail = "too many listen already";
    sendRefusal(exchange, { status: 503, title: "Too busy", detail }, parts.style);
  }
}

function health(exchange: AggregatorExchange, parts: StatusParts): void {
  exchange.route = "health";
  const { health: found, workers } = parts;
  const status = found.status === "failing" ? 503 : 200;
  const more = { requests: loadOf(parts), workers };
  sendJson(exchange, parts, { ...found, ...more }, "no-store", status);
}

/** Answers with the text format of Prometheus. */
export function answerMetrics(
  exchange: AggregatorExchange,
  text: string,
  { style, contentType }: { readonly style: AnswerStyle; readonly contentType: string },
): void {
  exchange.route = "metrics";
  const headers = commonHeaders(style);
  headers.push("Cache-Control", "no-store");
  sendBody(exchange, 200, headers, contentType, text);
}

function openApi(exchange: AggregatorExchange, parts: StatusParts): void {
  exchange.route = "openapi";
  const document = aggregatorOpenApi({ version: packageVersion(), base: exchange.base });
  sendJson(exchange, parts, document, "public, max-age=3600");
}

function sendJson(
  exchange: AggregatorExchange,
  { style }: StatusParts,
  value: unknown,
  cacheControl: string,
  status: number = 200,
): void {
  const headers = commonHeaders(style);
  headers.push("Cache-Control", cacheControl);
  const text = `${JSON.stringify(value, undefined, 2)}\n`;
  sendBody(exchange, status, headers, "application/json", text);
}

function loadOf({ load }: StatusParts): { underWay: number; waiting: number } {
  return { underWay: load.underWay, waiting: load.waiting };
}
