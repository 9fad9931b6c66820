import { packageVersion } from "../../files/package-file.ts";
import { type Reply, textReply } from "../../http/reply.ts";
import { plainPath } from "../../http/router.ts";
import { wantsPage } from "../../page/app-page.ts";
import { surt } from "../../surt/uri-to-surt.ts";
import { decisionJson } from "../route/decision.ts";
import type { MapState } from "../route/kept-map.ts";
import type { Exchange } from "./exchange.ts";
import { contradictionText, serviceHealth } from "./health.ts";
import { type ArchiveStatus, archiveStatuses } from "./open-aggregator.ts";
import { page } from "./page.ts";
import type { LookupRequest } from "./request.ts";

/** `GET /about`: HTML for browsers, JSON if `Accept` names it, otherwise MemGator's text. */
export function about(exchange: Exchange): Reply | Promise<Reply> {
  const { accept = "" } = exchange.request.headers;
  if (wantsPage(exchange)) return page(exchange);
  if (/\bjson\b/.test(accept)) return aboutJson(exchange);
  const headers = { Vary: "Accept", "Cache-Control": "no-cache" };
  return textReply("text/plain; charset=utf-8", aboutText(exchange), headers);
}

/** The status of the service and its archives. */
export function aboutJson(exchange: Exchange): Reply {
  const { base, now, startedAt, options } = exchange;
  const { open, list, settings = {} } = options;
  const document = {
    name: "mementomap",
    version: packageVersion(),
    base,
    startedAt: isoTime(startedAt),
    uptimeSeconds: Math.floor((now - startedAt) / 1000),
    routing: { isOn: open.isRouting, ...open.statistics.routing() },
    learning: open.learner?.report() ?? null,
    archives: archiveStatuses(open).map((status) => ({
      ...archiveJson(status),
      ...open.statistics.latenciesOf(status.archive),
    })),
    list: list === undefined ? null : { takenAt: isoTime(list.takenAt), error: list.error ?? null },
    settings,
  };
  return jsonReply({ ...document, ...loadOf(exchange) }, "no-cache");
}

/** Queries, saved requests and hits, in total and per archive, and recall, in each of the last minutes and hours. */
export function history({ now, options: { open } }: Exchange): Reply {
  const { statistics, aggregator } = open;
  const archives = aggregator.router.archives.map((archive) => [
    archive.id,
    statistics.historyOf(archive),
  ]);
  const all = statistics.history();
  const document = { at: isoTime(now), all, archives: Object.fromEntries(archives) };
  // Compact, as there are many numbers.
  const headers = { "Cache-Control": "no-cache" };
  return textReply("application/json", `${JSON.stringify(document)}\n`, headers);
}

/** The list of archives in MemGator's format, so that another aggregator can use it. */
export function archives({ options: { open } }: Exchange): Reply {
  const list = open.aggregator.router.archives.map(
    ({ id, name, timemap, timegate, probability }) => ({
      id,
      name,
      timemap,
      timegate,
      probability,
    }),
  );
  return jsonReply(list, "public, max-age=3600");
}

export function health(exchange: Exchange): Reply {
  const report = serviceHealth(exchange.options);
  const code = report.status === "failing" ? 503 : 200;
  return { ...jsonReply({ ...report, ...loadOf(exchange) }, "no-store"), status: code };
}

/** The metrics of all processes, in the text format of Prometheus. */
export async function metrics({ metrics: own, options: { processes } }: Exchange): Promise<Reply> {
  const text = await (processes ?? own).text();
  return textReply(own.contentType, text, { "Cache-Control": "no-store" });
}

/** Which archives would be queried or skipped, and why. Queries none of them. */
export function route(
  { options, metrics: { lookups } }: Exchange,
  { request }: LookupRequest,
): Reply {
  lookups.inc();
  const { aggregator, statistics } = options.open;
  const decisions = aggregator.router.route({ ...request, isPreview: true });
  const { saved, missRate = null, recall = null } = statistics.routing();
  const answer = {
    original_uri: request.uri,
    surt: surt(request.uri),
    asked: decisions.filter(({ isAsked }) => isAsked).length,
    archives: decisions.map((decision) => ({
      ...decisionJson(decision),
      health: aggregator.upstream.stateOf(decision.archive).health,
    })),
    estimates: { saved, missRate, recall },
  };
  return jsonReply(answer, "no-cache");
}

function jsonReply(value: unknown, cacheControl: string): Reply {
  const text = `${JSON.stringify(value, undefined, 2)}\n`;
  return textReply("application/json", text, { "Cache-Control": cacheControl });
}

function loadOf({ metrics: { lookupsInProgress }, options }: Exchange): object {
  return {
    requests: { inProgress: lookupsInProgress },
    workers: options.processes?.counts,
  };
}

function archiveJson({ archive, upstream, counts, traffic, map }: ArchiveStatus): object {
  const { id, name, timemap, timegate, probability = null } = archive;
  const { dormantUntil, lastFailure = null, ...state } = upstream;
  const { asked, hits, misses, errors, mementos, skipped, fromCache } = counts;
  const { cacheHits, coalesced } = counts;
  const identity = { id, name, timemap, timegate, probability };
  const answers = { asked, hits, misses, errors, mementos, skipped, fromCache };
  return {
    ...identity,
    ...state,
    dormantUntil: isoTimeOrNull(dormantUntil),
    lastFailure,
    ...answers,
    requests: traffic ? { ...traffic, sent: traffic.requests, cacheHits, coalesced } : null,
    map: map === undefined ? null : mapJson(map),
  };
}

function mapJson(map: MapState): object {
  const { status, keys, bytes, isPacked, updatedAt, fetchedAt, error = null, contradicted } = map;
  return {
    status,
    keys,
    bytes,
    packed: isPacked,
    updatedAt: isoTimeOrNull(updatedAt),
    fetchedAt: isoTimeOrNull(fetchedAt),
    error,
    contradicted: contradicted && {
      ...contradicted,
      since: isoTime(contradicted.since),
      detail: contradictionText(contradicted),
    },
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function isoTimeOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : isoTime(ms);
}

/** MemGator's text, plus the problems of the service. */
function aboutText({ base, routes, options }: Exchange): string {
  const { open, settings = {} } = options;
  const endpoints = routes
    .filter(({ isPage }) => isPage !== true)
    .map(({ path, summary }) => `${base}${plainPath(path)}: ${summary}`);
  const archives = archiveStatuses(open).map(({ archive, upstream: { health: state } }, index) => {
    const suffix = state === "awake" ? "" : ` - (${state.toUpperCase()})`;
    return `${index + 1}. [${archive.name}](${archive.timemap})${suffix}`;
  });
  const problems = serviceHealth(options).problems.map(({ archive, detail }) =>
    archive === undefined ? detail : `${archive}: ${detail}`,
  );
  const configs = Object.entries(settings).map(
    ([name, value]) => `${`${name}:`.padEnd(23)} ${value}`,
  );
  return `# mementomap (${packageVersion()})

A Memento aggregator that asks the archives which can answer

## API Endpoints

${endpoints.join("\n")}

  {format}          => link|json|cdxj
  {datetime}        => YYYY[MM[DD[hh[mm[ss]]]]]
  [Accept-Datetime] => Header in RFC1123 format

## Upstream Archives

${archives.join("\n")}

## Problems

${problems.join("\n") || "none"}

## Configs

${configs.join("\n")}
`;
}
