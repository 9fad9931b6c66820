import { LATENCY_LIMITS_MS } from "../../aggregate/archive-tally.ts";
import type { ArchiveCounters } from "../../node/upstream/counters.ts";
import type { Gauge } from "../metrics.ts";
import { counter, gauge, one, processGauges } from "../process-gauges.ts";
import type { ArchiveStatus, ServiceStatus } from "./service-status.ts";

/** The state of the service as Prometheus wants it. */
export function aggregatorGauges(
  status: ServiceStatus,
  load: { readonly underWay: number; readonly waiting: number },
): Gauge[] {
  const archives = status.archives();
  const by = (value: (archive: ArchiveStatus) => number): Gauge["values"] =>
    archives.map((each) => ({ labels: { archive: each.archive.id }, value: value(each) }));
  const routing = status.routing();
  return [
    gauge("mementomap_questions_under_way", "Questions that are worked on.", one(load.underWay)),
    gauge("mementomap_questions_waiting", "Questions that wait for their turn.", one(load.waiting)),
    counter("mementomap_questions_total", "Questions that clients asked.", one(routing.sessions)),
    counter("mementomap_archive_asked_total", "Times archives were asked.", one(routing.asked)),
    counter(
      "mementomap_archive_spared_total",
      "Times routing spared an archive that a broadcast would have asked.",
      one(routing.spared),
    ),
    counter(
      "mementomap_archive_sampled_total",
      "Answers of archives that were asked although they were to be spared.",
      one(routing.sampled),
    ),
    counter(
      "mementomap_archive_sampled_hits_total",
      "Those with mementos.",
      one(routing.sampledHits),
    ),
    gauge(
      "mementomap_missed_hit_rate",
      "Estimated share of spared archives that had mementos, with its 95 % interval.",
      routing.missRate === undefined
        ? []
        : [
            { labels: { bound: "estimate" }, value: routing.missRate.value },
            { labels: { bound: "low" }, value: routing.missRate.low },
            { labels: { bound: "high" }, value: routing.missRate.high },
          ],
    ),
    counter(
      "mementomap_archive_answers_total",
      "Answers of archives by what they were.",
      archives.flatMap(({ archive, tally }) =>
        (["hits", "misses", "errors", "late"] as const).map((result) => ({
          labels: { archive: archive.id, result },
          value: tally[result],
        })),
      ),
    ),
    counter(
      "mementomap_archive_cached_total",
      "Answers that did not come from the archive itself.",
      by(({ tally }) => tally.fromCache),
    ),
    gauge(
      "mementomap_archive_awake",
      "1 when an archive is asked, 0 when it is left alone for a while.",
      by(({ upstream }) => (upstream.health === "awake" ? 1 : 0)),
    ),
    gauge(
      "mementomap_archive_failures",
      "Failures of an archive in a row.",
      by(({ upstream }) => upstream.consecutiveFailures),
    ),
    gauge(
      "mementomap_archive_requests_under_way",
      "Requests to an archive under way.",
      by(({ upstream }) => upstream.requestsUnderWay),
    ),
    gauge(
      "mementomap_archive_requests_waiting",
      "Requests that wait for an archive.",
      by(({ upstream }) => upstream.requestsWaiting),
    ),
    gauge(
      "mementomap_archive_map_keys",
      "Keys of an archive's map.",
      archives.flatMap(({ archive, map }) =>
        map?.keys === undefined ? [] : [{ labels: { archive: archive.id }, value: map.keys }],
      ),
    ),
    ...listGauges(status, archives.length),
    ...requestGauges(archives),
    ...latencyGauges(archives),
    ...processGauges(),
  ];
}

/** How the list of archives is. */
function listGauges({ list }: ServiceStatus, count: number): Gauge[] {
  const name = "mementomap_archive_list";
  return [
    gauge(`${name}_archives`, "Archives of the list in use.", one(count)),
    ...(list === undefined
      ? []
      : [
          gauge(
            `${name}_refused`,
            "1 when the list or the settings as they are now are refused, and older ones in use.",
            one(list.error === undefined ? 0 : 1),
          ),
          gauge(
            `${name}_taken_timestamp_seconds`,
            "When the list in use was read.",
            one(Math.floor(list.takenAt / 1000)),
          ),
        ]),
  ];
}

/** What was sent to archives, and what did not have to be. */
function requestGauges(archives: readonly ArchiveStatus[]): Gauge[] {
  const each = (value: (counters: ArchiveCounters) => number): Gauge["values"] =>
    archives.flatMap(({ archive, counters }) =>
      counters === undefined ? [] : [{ labels: { archive: archive.id }, value: value(counters) }],
    );
  const name = "mementomap_upstream";
  return [
    counter(
      `${name}_requests_total`,
      "Requests sent to an archive.",
      each((c) => c.requests),
    ),
    counter(
      `${name}_retries_total`,
      "Those of them that were sent again.",
      each((c) => c.retries),
    ),
    counter(
      `${name}_cache_hits_total`,
      "Answers from the cache.",
      each((c) => c.cacheHits),
    ),
    counter(
      `${name}_revalidations_total`,
      "Cached answers that the archive found unchanged.",
      each((c) => c.revalidations),
    ),
    counter(
      `${name}_stale_total`,
      "Old answers given because the archive gave no new one.",
      each((c) => c.staleAnswers),
    ),
    counter(
      `${name}_coalesced_total`,
      "Questions answered by a request that was under way.",
      each((c) => c.coalesced),
    ),
    counter(
      `${name}_bytes_total`,
      "Bytes of bodies, decompressed.",
      each((c) => c.bytes),
    ),
    counter(
      `${name}_failures_total`,
      "Requests that failed, by how.",
      archives.flatMap(({ archive, counters }) =>
        Object.entries(counters?.failures ?? {}).map(([kind, value]) => ({
          labels: { archive: archive.id, kind },
          value,
        })),
      ),
    ),
  ];
}

/** Histograms, written as the counters they consist of. */
function latencyGauges(archives: readonly ArchiveStatus[]): Gauge[] {
  const name = "mementomap_archive_seconds";
  const buckets = archives.flatMap(({ archive, tally }) => {
    let total = 0;
    return tally.latencies.map((count, index) => {
      total += count;
      const limit = LATENCY_LIMITS_MS[index];
      const le = limit === undefined ? "+Inf" : String(limit / 1000);
      return { labels: { archive: archive.id, le }, value: total };
    });
  });
  const counts = archives.map(({ archive, tally }) => ({
    labels: { archive: archive.id },
    value: tally.latencies.reduce((sum, count) => sum + count, 0),
  }));
  const sums = archives.map(({ archive, tally }) => ({
    labels: { archive: archive.id },
    value: tally.latencySumMs / 1000,
  }));
  return [
    counter(`${name}_bucket`, "Answers of archives by the seconds they took.", buckets),
    counter(`${name}_count`, "Answers of archives that were timed.", counts),
    counter(`${name}_sum`, "Seconds that archives took to answer.", sums),
  ];
}
