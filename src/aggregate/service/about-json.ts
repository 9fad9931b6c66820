import type { ListState } from "../route/list-keeper.ts";
import type { MapState } from "../route/map-keeper.ts";
import type { ArchiveCounters } from "../upstream/counters.ts";
import type { ArchiveStatus, StatusView } from "./service-status.ts";

/** What `/about.json` says: the archives as they are now, and what routing saves. */
export function aboutJson(
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
