import { packageVersion } from "../../files/package-file.ts";
import { securityPolicy } from "../../publish/serve/html.ts";
import { ABOUT_STYLE, aboutPage } from "./about-page.ts";
import { aggregatorOpenApi } from "./aggregator-openapi.ts";
import {
  type AggregatorExchange,
  commonHeaders,
  sendBody,
  sendJson,
  sendRefusal,
  setHeaders,
} from "./aggregator-exchange.ts";
import type { Monitor } from "../memgator-events.ts";
import type {
  ArchiveStatus,
  ServiceHealth,
  ServiceLoad,
  ServiceStatus,
  StatusView,
  WorkerCounts,
} from "./service-status.ts";
import type { ListState } from "../route/archive-list.ts";
import type { MapState } from "../route/map-keeper.ts";
import type { ArchiveCounters } from "../upstream/archive-health.ts";
import type { Upstream } from "../upstream.ts";
import { decisionJson, type Router, type RouteRequest } from "../route/decision.ts";
import { surt } from "../../surt/uri-to-surt.ts";

/** What the answers about the service itself are made of. */
export interface StatusParts {
  readonly status: StatusView;
  readonly health: ServiceHealth;
  readonly monitor: Monitor | undefined;
  readonly load: ServiceLoad;
  /** Undefined for a service of one process. */
  readonly workers: WorkerCounts | undefined;
}

const ABOUT_SECURITY_POLICY = securityPolicy(ABOUT_STYLE);

/** A page for browsers, JSON for who asks for it, and MemGator's text for all others. */
export function answerAbout(exchange: AggregatorExchange, parts: StatusParts): void {
  const { accept = "" } = exchange.request.headers;
  const service = { version: packageVersion(), base: exchange.base };
  const headers = commonHeaders(exchange);
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
    answerAboutJson(exchange, parts);
  } else {
    const text = aboutText(parts.status, service);
    sendBody(exchange, 200, headers, "text/plain; charset=utf-8", text);
  }
}

export function answerAboutJson(exchange: AggregatorExchange, parts: StatusParts): void {
  const document = aboutJson(parts.status, { version: packageVersion(), base: exchange.base });
  const more = { requests: loadOf(parts), workers: parts.workers };
  sendStatus(exchange, { ...document, ...more }, "no-cache");
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

export function answerOpenApi(exchange: AggregatorExchange): void {
  const document = aggregatorOpenApi({ version: packageVersion(), base: exchange.base });
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
  sendJson(exchange, headers, value, status);
}

function loadOf({ load }: StatusParts): { underWay: number; waiting: number } {
  return { underWay: load.underWay, waiting: load.waiting };
}

/** What `/about.json` says: the archives as they are now, and what routing saves. */
function aboutJson(
  status: StatusView,
  service: { readonly version: string; readonly base: string },
): Record<string, unknown> {
  return {
    name: "mementomap",
    version: service.version,
    base: service.base,
    startedAt: isoTime(status.startedAt),
    uptimeSeconds: Math.floor((status.now - status.startedAt) / 1000),
    routing: { isOn: status.isRouting, ...status.routing() },
    archives: status.archives().map(archiveJson),
    list: status.list === undefined ? null : listJson(status.list),
    settings: status.settings,
  };
}

function archiveJson({
  archive,
  upstream,
  tally,
  map,
  counters,
}: ArchiveStatus): Record<string, unknown> {
  const { latencies: _latencies, ...counts } = tally;
  return {
    id: archive.id,
    name: archive.name,
    timemap: archive.timemap,
    timegate: archive.timegate,
    probability: archive.probability ?? null,
    health: upstream.health,
    dormantUntil: upstream.dormantUntil === undefined ? null : isoTime(upstream.dormantUntil),
    consecutiveFailures: upstream.consecutiveFailures,
    lastFailure: upstream.lastFailure ?? null,
    requestsUnderWay: upstream.requestsUnderWay,
    requestsWaiting: upstream.requestsWaiting,
    ...counts,
    requests: counters === undefined ? null : requestsJson(counters),
    map: map === undefined ? null : mapJson(map),
  };
}

function listJson({ takenAt, error }: ListState): unknown {
  return { takenAt: isoTime(takenAt), error: error ?? null };
}

function requestsJson(counters: ArchiveCounters): Record<string, unknown> {
  const {
    requests: sent,
    cacheHits,
    revalidations,
    coalesced,
    retries,
    bytes,
    failures,
  } = counters;
  return { sent, cacheHits, revalidations, coalesced, retries, bytes, failures };
}

function mapJson({ status, keys, bytes, updatedAt, fetchedAt, error }: MapState): unknown {
  return {
    status,
    keys,
    bytes,
    updatedAt: updatedAt === undefined ? null : isoTime(updatedAt),
    fetchedAt: fetchedAt === undefined ? null : isoTime(fetchedAt),
    error: error ?? null,
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function listFault({ list }: StatusView): string {
  return list?.error === undefined ? "" : `\nThe list of archives is refused: ${list.error}\n`;
}

function mapFault({ status, error }: MapState): string {
  if (error === undefined) return "";
  return status === "failed" ? `, ${error}` : `, the new map is refused: ${error}`;
}

/** What `/about` says to programs that want no page: MemGator's text, with what we know besides. */
function aboutText(
  status: StatusView,
  service: { readonly version: string; readonly base: string },
): string {
  const { base, version } = service;
  const archives = status.archives().map(({ archive, upstream, map }, index) => {
    const notes = [
      upstream.health === "awake" ? "" : upstream.health.toUpperCase(),
      upstream.health === "awake" && upstream.consecutiveFailures > 0
        ? `Consecutive failures: ${upstream.consecutiveFailures}`
        : "",
      map === undefined ? "" : `Map: ${map.status}${mapFault(map)}`,
    ].filter(Boolean);
    const suffix = notes.length === 0 ? "" : ` - (${notes.join(", ")})`;
    return `${index + 1}. [${archive.name}](${archive.timemap})${suffix}`;
  });
  const settings = Object.entries(status.settings).map(
    ([name, value]) => `${`${name}:`.padEnd(24)}${value}`,
  );
  return `# mementomap (${version})

A Memento aggregator that asks the archives which can answer

## API Endpoints

TimeMap:  ${base}/timemap/{FORMAT}/{URI-R}
TimeGate: ${base}/timegate/{URI-R} [Accept-Datetime]
Memento:  ${base}/memento[/{FORMAT}|proxy]/{DATETIME}/{URI-R}
Summary:  ${base}/summary/{URI-R}
Route:    ${base}/route/{URI-R}
About:    ${base}/about
Metrics:  ${base}/metrics
OpenAPI:  ${base}/openapi.json

  {FORMAT}          => link|json|cdxj
  {DATETIME}        => YYYY[MM[DD[hh[mm[ss]]]]]
  [Accept-Datetime] => Header in RFC1123 format

## Upstream Archives

${archives.join("\n")}
${listFault(status)}
## Configs

${settings.join("\n")}
`;
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
  const decisions = router.route(request);
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
