import { formatNumber, formatShare } from "../../format.ts";
import type { LearningReport } from "../learn/learning-report.ts";
import { packageVersion } from "../../files/package-file.ts";
import { plainPath } from "../../http/router.ts";
import { bySpan } from "../history.ts";
import type { MapState } from "../route/kept-map.ts";
import type { Share } from "../learn/intervals.ts";
import { joinHistories } from "../statistics.ts";
import type { ArchiveCounters } from "../ask/state.ts";
import type { Exchange } from "./exchange.ts";
import { contradictionText } from "./health.ts";
import { type ArchiveStatus, archiveStatuses, learningOf } from "./open-aggregator.ts";

/** What `/about.json` says: the archives as they are now, and what routing saves. */
export function aboutDocument(exchange: Exchange): Record<string, unknown> {
  const { base, now, startedAt, options } = exchange;
  const { open, list, settings = {} } = options;
  return {
    name: "mementomap",
    version: packageVersion(),
    base,
    startedAt: isoTime(startedAt),
    uptimeSeconds: Math.floor((now - startedAt) / 1000),
    routing: { isOn: open.isRouting, ...open.estimate.report() },
    learning: learningOf(open) ?? null,
    archives: archiveStatuses(open).map(archiveJson),
    list: list === undefined ? null : { takenAt: isoTime(list.takenAt), error: list.error ?? null },
    settings,
  };
}

/**
 * What `/history.json` says: what archives were asked and spared and how often they had mementos, all
 * together and each, and the recall, in each of the last minutes and hours.
 */
export function historyDocument({ now, options: { open } }: Exchange): Record<string, unknown> {
  const { recalls, tallies, aggregator } = open;
  const archives = aggregator.router.archives.map(
    (archive) => [archive.id, tallies.tallyOf(archive).history] as const,
  );
  const all = joinHistories(archives.map(([, history]) => history));
  const recall = recalls.report();
  return {
    at: isoTime(now),
    all: bySpan((name) => ({ ...all[name], recall: recall[name] })),
    archives: Object.fromEntries(archives),
  };
}

function archiveJson({
  archive,
  upstream,
  tally,
  map,
  counters,
}: ArchiveStatus): Record<string, unknown> {
  const { history: _history, ...counts } = tally;
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

function requestsJson(counters: ArchiveCounters): Record<string, unknown> {
  const { requests: sent, cacheHits, coalesced, bytes, failures } = counters;
  return { sent, cacheHits, coalesced, bytes, failures };
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
export function aboutText({ base, routes, options }: Exchange): string {
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
  const learning = learningOf(open);
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
