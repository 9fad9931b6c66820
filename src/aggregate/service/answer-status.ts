import { packageVersion } from "../../files/package-file.ts";
import type { ViewName } from "../../page/page-data.ts";
import { aboutContent } from "./about-page.ts";
import { aboutJson, aboutText, historyJson } from "./about-text.ts";
import { aggregatorOpenApi } from "./aggregator-openapi.ts";
import {
  findContent,
  scriptedContent,
  sendView,
  timeContent,
  wantsPage,
} from "./aggregator-page.ts";
import {
  addMapLinks,
  type AggregatorExchange,
  commonHeaders,
  sendBody,
  sendJson,
  sendRefusal,
  setHeaders,
} from "./aggregator-exchange.ts";
import type { Monitor } from "../memgator-events.ts";
import type { ServiceHealth } from "./service-health.ts";
import type { ServiceLoad, ServiceStatus, StatusView, WorkerCounts } from "./service-status.ts";
import type { Upstream } from "../upstream.ts";
import { type Decision, decisionJson, type Router, type RouteRequest } from "../route/decision.ts";
import { surt } from "../../surt/uri-to-surt.ts";

/** What the answers about the service itself are made of. */
export interface StatusParts {
  readonly status: StatusView;
  readonly health: ServiceHealth;
  readonly monitor: Monitor | undefined;
  /** Whether there is `/metrics`, and not only at a port of its own. */
  readonly hasMetrics: boolean;
  readonly load: ServiceLoad;
  /** Undefined for a service of one process. */
  readonly workers: WorkerCounts | undefined;
}

/** A page for browsers, JSON for who asks for it, and MemGator's text for all others. */
export function answerAbout(exchange: AggregatorExchange, parts: StatusParts): void {
  const { accept = "" } = exchange.request.headers;
  const { hasMetrics } = parts;
  const service = { version: packageVersion(), base: exchange.base, hasMetrics };
  if (wantsPage(exchange)) {
    const { status, monitor } = parts;
    const content = aboutContent(status, { ...service, hasMonitor: monitor !== undefined });
    sendView(exchange, "about", { status, content });
  } else if (/\bjson\b/.test(accept)) {
    answerAboutJson(exchange, parts);
  } else {
    const headers = commonHeaders(exchange);
    headers.push("Vary", "Accept", "Cache-Control", "no-cache");
    addMapLinks(headers, exchange);
    const text = aboutText(parts.status, service);
    sendBody(exchange, 200, headers, "text/plain; charset=utf-8", text);
  }
}

/** A view of the application besides `/about`; its parts that archives are asked for come later. */
export function answerView(
  exchange: AggregatorExchange,
  view: Exclude<ViewName, "about">,
  { status, decisions }: { status: StatusView; decisions: readonly Decision[] | undefined },
): void {
  const content =
    view === "find"
      ? findContent(exchange, status, decisions)
      : view === "time"
        ? timeContent(exchange)
        : scriptedContent(view);
  sendView(exchange, view, { status, content });
}

export function answerAboutJson(exchange: AggregatorExchange, parts: StatusParts): void {
  const document = aboutJson(parts.status, { version: packageVersion(), base: exchange.base });
  const more = { requests: loadOf(parts), workers: parts.workers };
  sendStatus(exchange, { ...document, ...more }, "no-cache");
}

/** Many numbers, so not a line for each. */
export function answerHistory(exchange: AggregatorExchange, { status }: StatusParts): void {
  const headers = commonHeaders(exchange);
  headers.push("Cache-Control", "no-cache");
  sendBody(exchange, 200, headers, "application/json", `${JSON.stringify(historyJson(status))}\n`);
}

/** The list of archives as MemGator reads it, so that another aggregator can use it. */
export function answerArchives(exchange: AggregatorExchange, { status }: StatusParts): void {
  const list = status.archives().map(({ archive }) => ({
    id: archive.id,
    name: archive.name,
    timemap: archive.timemap,
    timegate: archive.timegate,
    probability: archive.probability,
  }));
  sendStatus(exchange, list, "public, max-age=3600");
}

export function answerMonitor(exchange: AggregatorExchange, { monitor }: StatusParts): void {
  const { response, isHead } = exchange;
  if (monitor === undefined) {
    const detail = "events are not sent here; the service is to be started with --monitor";
    sendRefusal(exchange, { status: 501, title: "Not implemented", detail });
    return;
  }
  setHeaders(response, commonHeaders(exchange));
  if (isHead) {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.end();
  } else if (!monitor.add(response)) {
    const detail = "too many listen already";
    sendRefusal(exchange, { status: 503, title: "Too busy", detail });
  }
}

export function answerHealth(exchange: AggregatorExchange, parts: StatusParts): void {
  const { health, workers } = parts;
  const status = health.status === "failing" ? 503 : 200;
  const more = { requests: loadOf(parts), workers };
  sendStatus(exchange, { ...health, ...more }, "no-store", status);
}

/** Answers with the text format of Prometheus. */
export function answerMetrics(
  exchange: AggregatorExchange,
  text: string,
  contentType: string,
): void {
  const headers = commonHeaders(exchange);
  headers.push("Cache-Control", "no-store");
  sendBody(exchange, 200, headers, contentType, text);
}

export function answerOpenApi(exchange: AggregatorExchange, { hasMetrics }: StatusParts): void {
  const { base } = exchange;
  const document = aggregatorOpenApi({ version: packageVersion(), base, hasMetrics });
  sendStatus(exchange, document, "public, max-age=3600");
}

function sendStatus(
  exchange: AggregatorExchange,
  value: unknown,
  cacheControl: string,
  status: number = 200,
): void {
  const headers = commonHeaders(exchange);
  headers.push("Cache-Control", cacheControl);
  addMapLinks(headers, exchange);
  sendJson(exchange, headers, value, status);
}

function loadOf({ load }: StatusParts): { underWay: number; waiting: number } {
  return { underWay: load.underWay, waiting: load.waiting };
}

/** `GET /route/URI`: which archives would be asked, which not, and why. Asks none of them. */
export function answerRoute(
  exchange: AggregatorExchange,
  request: RouteRequest,
  {
    router,
    upstream,
    status,
  }: {
    readonly router: Router;
    readonly upstream: Upstream;
    readonly status: ServiceStatus;
  },
): void {
  const decisions = router.route({ ...request, isPreview: true });
  const { saved, missRate, recall } = status.routing();
  const answer = {
    original_uri: request.uri,
    surt: surt(request.uri),
    asked: decisions.filter(({ isAsked }) => isAsked).length,
    archives: decisions.map((decision) => ({
      ...decisionJson(decision),
      health: upstream.stateOf(decision.archive).health,
    })),
    estimates: { saved, missRate: missRate ?? null, recall: recall ?? null },
  };
  sendStatus(exchange, answer, "no-cache");
}
