import type { ArchiveStatus, ServiceStatus } from "./service-status.ts";

/** What `/about.json` says: the archives as they are now, and what routing saves. */
export function aboutJson(
  status: ServiceStatus,
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
    settings: status.settings,
  };
}

function archiveJson({ archive, upstream, tally, map }: ArchiveStatus): Record<string, unknown> {
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
    map: map ?? null,
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
