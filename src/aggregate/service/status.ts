import { type Reply, textReply } from "../../http/reply.ts";
import { wantsPage } from "../../page/app-page.ts";
import { surt } from "../../surt/uri-to-surt.ts";
import { decisionJson } from "../route/decision.ts";
import type { Exchange } from "./exchange.ts";
import { serviceHealth } from "./health.ts";
import { page } from "./page.ts";
import type { LookupRequest } from "./request.ts";
import { formatNumber, formatShare } from "../../format.ts";
import type { LearningReport } from "../learn/learner.ts";
import { packageVersion } from "../../files/package-file.ts";
import { plainPath } from "../../http/router.ts";
import type { MapState } from "../route/kept-map.ts";
import type { Share } from "../learn/intervals.ts";
import { contradictionText } from "./health.ts";
import { type ArchiveStatus, archiveStatuses, type OpenAggregator } from "./open-aggregator.ts";

/** `GET /about`: a page for browsers, JSON for who asks for it, and MemGator's text for all others. */
export function about(exchange: Exchange): Reply | Promise<Reply> {
  const { accept = "" } = exchange.request.headers;
  if (wantsPage(exchange)) return page(exchange);
  if (/\bjson\b/.test(accept)) return aboutJson(exchange);
  const headers = { Vary: "Accept", "Cache-Control": "no-cache" };
  return textReply("text/plain; charset=utf-8", aboutText(exchange), headers);
}

export function aboutJson(exchange: Exchange): Reply {
  return jsonReply({ ...aboutDocument(exchange), ...loadOf(exchange) }, "no-cache");
}

/** Many numbers, so not a line for each. */
export function history(exchange: Exchange): Reply {
  const text = `${JSON.stringify(historyDocument(exchange))}\n`;
  return textReply("application/json", text, { "Cache-Control": "no-cache" });
}

/** The list of archives as MemGator reads it, so that another aggregator can use it. */
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

/** The text format of Prometheus, of all processes. */
export async function metrics({ metrics: own, options: { processes } }: Exchange): Promise<Reply> {
  const text = await (processes ?? own).text();
  return textReply(own.contentType, text, { "Cache-Control": "no-store" });
}

/** `GET /route/URI`: which archives would be asked, which not, and why. Asks none of them. */
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

/** What `/about.json` says: the archives as they are now, and what routing saves. */
function aboutDocument(exchange: Exchange): Record<string, unknown> {
  const { base, now, startedAt, options } = exchange;
  const { open, list, settings = {} } = options;
  return {
    name: "mementomap",
    version: packageVersion(),
    base,
    startedAt: isoTime(startedAt),
    uptimeSeconds: Math.floor((now - startedAt) / 1000),
    routing: { isOn: open.isRouting, ...open.statistics.routing() },
    learning: open.learner?.report() ?? null,
    archives: archiveStatuses(open).map((archive) => archiveJson(archive, open)),
    list: list === undefined ? null : { takenAt: isoTime(list.takenAt), error: list.error ?? null },
    settings,
  };
}

/**
 * What `/history.json` says: what archives were asked and spared and how often they had mementos, all
 * together and each, and the recall, in each of the last minutes and hours.
 */
function historyDocument({ now, options: { open } }: Exchange): Record<string, unknown> {
  const { statistics, aggregator } = open;
  const archives = aggregator.router.archives.map((archive) => [
    archive.id,
    statistics.historyOf(archive),
  ]);
  return {
    at: isoTime(now),
    all: statistics.history(),
    archives: Object.fromEntries(archives),
  };
}

function archiveJson(
  { archive, upstream, counts, traffic, map }: ArchiveStatus,
  { statistics }: OpenAggregator,
): Record<string, unknown> {
  const { asked, hits, misses, errors, skipped, fromCache, mementos } = counts;
  const { cacheHits, coalesced } = counts;
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
    asked,
    hits,
    misses,
    errors,
    skipped,
    fromCache,
    mementos,
    ...statistics.latenciesOf(archive),
    requests: traffic
      ? {
          ...traffic,
          sent: traffic.requests,
          cacheHits,
          coalesced,
        }
      : null,
    map: map === undefined ? null : mapJson(map),
  };
}

function mapJson(map: MapState): unknown {
  const { status, keys, bytes, isPacked, updatedAt, fetchedAt, error, contradicted } = map;
  return {
    status,
    keys,
    bytes,
    packed: isPacked,
    updatedAt: updatedAt === undefined ? null : isoTime(updatedAt),
    fetchedAt: fetchedAt === undefined ? null : isoTime(fetchedAt),
    error: error ?? null,
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

function mapFault({ status, error, contradicted }: MapState): string {
  if (contradicted !== undefined) return `, ${contradictionText(contradicted)}`;
  if (error === undefined) return "";
  return status === "failed" ? `, ${error}` : `, the new map is refused: ${error}`;
}

function factLine([name, value]: readonly [string, string]): string {
  return `${`${name}:`.padEnd(23)} ${value}`;
}

/** What `/about` says to programs that want no page: MemGator's text, with what we know besides. */
function aboutText({ base, routes, options }: Exchange): string {
  const { open, list, settings = {} } = options;
  const archives = archiveStatuses(open).map(({ archive, upstream, map }, index) => {
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
  const learning = open.learner?.report();
  const fault =
    list?.error === undefined ? "" : `\nThe list of archives is refused: ${list.error}\n`;
  const learnt =
    learning === undefined
      ? ""
      : `\n## Learning\n\n${learningFacts(learning).map(factLine).join("\n")}\n`;
  return `# mementomap (${packageVersion()})

A Memento aggregator that asks the archives which can answer

## API Endpoints

${endpoints(routes, base).join("\n")}

  {format}          => link|json|cdxj
  {datetime}        => YYYY[MM[DD[hh[mm[ss]]]]]
  [Accept-Datetime] => Header in RFC1123 format

## Upstream Archives

${archives.join("\n")}
${fault}${learnt}
## Configs

${Object.entries(settings).map(factLine).join("\n")}
`;
}

function endpoints(routes: Exchange["routes"], base: string): string[] {
  return routes
    .filter(({ isPage }) => isPage !== true)
    .map(({ path, summary }) => `${base}${plainPath(path)}: ${summary}`);
}

/** What learning promises and keeps, and what it spared after so many lookups: names and values. */
function learningFacts(report: LearningReport): readonly (readonly [string, string])[] {
  const { promised, hits, mementos, spared } = report;
  return [
    ["Promised recall", formatShare(promised)],
    ["Measured, of answers", kept(hits)],
    ["Measured, of mementos", kept(mementos)],
    ["Learnt from answers", formatNumber(report.answers)],
    ...spared.map(
      ({ lookups, share }) =>
        [`Spared up to ${formatNumber(lookups)} lookups`, formatShare(share)] as const,
    ),
  ];
}

function kept(of: Share | undefined): string {
  return of === undefined ? "not known yet" : `${formatShare(of.value)} (${rangeText(of)})`;
}

function rangeText({ low, high }: Share): string {
  return `${formatShare(low)} to ${formatShare(high)}`;
}
