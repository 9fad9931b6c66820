import type { Outcome, Session, SessionObserver } from "../session.ts";
import type { ArchiveCounters } from "../upstream/archive-health.ts";
import {
  type Count,
  Metrics,
  type ReadMetric,
  type Sample,
  type Timings,
} from "../../http/metrics.ts";
import type { ArchiveStatus, ServiceLoad, ServiceStatus } from "./service-status.ts";

const ANSWER_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];
const WAIT_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30];

/** What an aggregator counts. To time archives, it is one of the aggregator's observers. */
export class AggregatorMetrics extends Metrics implements SessionObserver {
  /** Requests that were answered with an answer of the last minute. */
  readonly repeatedAnswers: Count;
  /** How long questions waited for their turn. */
  readonly questionWaits: Timings;
  readonly #archiveSeconds: Timings;

  constructor() {
    super();
    this.repeatedAnswers = this.count(
      "mementomap_repeated_answers_total",
      "Requests that got an answer of the last minute again.",
    );
    this.#archiveSeconds = this.timings({
      name: "mementomap_archive_seconds",
      help: "Time until an archive answered; without answers from the cache.",
      label: "archive",
      buckets: ANSWER_SECONDS,
    });
    this.questionWaits = this.timings({
      name: "mementomap_question_wait_seconds",
      help: "Time a question waited for its turn.",
      buckets: WAIT_SECONDS,
    });
  }

  answered(_session: Session, { archive, origin, startedAt, endedAt }: Outcome): void {
    if (origin !== "network" && origin !== "revalidated") return;
    // The clock may have been set back.
    const seconds = Math.max(0, endedAt - startedAt) / 1000;
    this.#archiveSeconds.observe(seconds, archive.id);
  }

  /** Exposes the state of a service. */
  readStatus(status: ServiceStatus, load: () => ServiceLoad): void {
    const archives = onceAScrape(() => status.archives());
    const all = [
      ...questionMetrics(status, load),
      ...archiveMetrics(archives),
      ...requestMetrics(archives),
      ...mapMetrics(status, archives),
      ...listMetrics(status, archives),
    ];
    for (const metric of all) this.read(metric);
  }
}

function single(
  type: "counter" | "gauge",
  name: string,
  help: string,
  value: () => number,
): ReadMetric {
  return { name: `mementomap_${name}`, help, type, read: () => [{ value: value() }] };
}

function questionMetrics(status: ServiceStatus, load: () => ServiceLoad): ReadMetric[] {
  return [
    single("gauge", "questions_under_way", "Questions that are worked on.", () => load().underWay),
    single(
      "gauge",
      "questions_waiting",
      "Questions that wait for their turn.",
      () => load().waiting,
    ),
    single(
      "counter",
      "questions_total",
      "Questions that clients asked.",
      () => status.routing().sessions,
    ),
    single(
      "counter",
      "archive_asked_total",
      "Times archives were asked; answers that came from the cache count too.",
      () => status.routing().asked,
    ),
    single(
      "counter",
      "archive_spared_total",
      "Times routing spared an archive that a broadcast would have asked.",
      () => status.routing().spared,
    ),
    single(
      "counter",
      "archive_sampled_total",
      "Answers of archives that were asked although they were to be spared.",
      () => status.routing().sampled,
    ),
    single(
      "counter",
      "archive_sampled_hits_total",
      "Those of them with mementos.",
      () => status.routing().sampledHits,
    ),
    {
      name: "mementomap_learnt_recall",
      help: "Share of answers with mementos that is kept: promised, and measured with its 95 % interval.",
      type: "gauge",
      labels: ["bound"],
      acrossProcesses: "average",
      read() {
        const learning = status.learning();
        if (learning === undefined) return [];
        const promised = { labels: { bound: "promised" }, value: learning.promised };
        if (learning.hits === undefined) return [promised];
        const { value, low, high } = learning.hits;
        return [
          promised,
          { labels: { bound: "estimate" }, value },
          { labels: { bound: "low" }, value: low },
          { labels: { bound: "high" }, value: high },
        ];
      },
    },
    {
      name: "mementomap_missed_hit_rate",
      help: "Estimated share of spared archives that had mementos, with its 95 % interval.",
      type: "gauge",
      labels: ["bound"],
      acrossProcesses: "average",
      read() {
        const { missRate } = status.routing();
        if (missRate === undefined) return [];
        const { value, low, high } = missRate;
        return [
          { labels: { bound: "estimate" }, value },
          { labels: { bound: "low" }, value: low },
          { labels: { bound: "high" }, value: high },
        ];
      },
    },
  ];
}

type Archives = () => readonly ArchiveStatus[];
type Of = (archive: ArchiveStatus) => number | undefined;

/** All metrics of a scrape are read one after the other; some twenty of them need the archives. */
function onceAScrape(read: Archives): Archives {
  let known: readonly ArchiveStatus[] | undefined;
  return () => {
    if (known === undefined) {
      known = read();
      queueMicrotask(() => (known = undefined));
    }
    return known;
  };
}

/** A sample for each archive that has a value. */
function each(archives: Archives, value: Of): () => Sample[] {
  return () =>
    archives().flatMap((archive) => {
      const known = value(archive);
      return known === undefined ? [] : [{ labels: labelsOf(archive), value: known }];
    });
}

function labelsOf({ archive }: ArchiveStatus): { archive: string } {
  return { archive: archive.id };
}

const labels = ["archive"];

function archiveMetrics(archives: Archives): ReadMetric[] {
  const gauge = (name: string, help: string, value: Of): ReadMetric => ({
    name: `mementomap_archive_${name}`,
    help,
    type: "gauge",
    labels,
    read: each(archives, value),
  });
  return [
    {
      name: "mementomap_archive_answers_total",
      help: "Answers of archives by what they were.",
      type: "counter",
      labels: ["archive", "result"],
      read: () =>
        archives().flatMap((archive) =>
          (["hits", "misses", "errors", "late"] as const).map((result) => ({
            labels: { ...labelsOf(archive), result },
            value: archive.tally[result],
          })),
        ),
    },
    {
      name: "mementomap_archive_cached_total",
      help: "Answers that did not come from the archive itself.",
      type: "counter",
      labels,
      read: each(archives, ({ tally }) => tally.fromCache),
    },
    {
      ...gauge("awake", "1 when an archive is asked, 0 when it is dormant.", (each) =>
        each.upstream.health === "awake" ? 1 : 0,
      ),
      acrossProcesses: "min",
    },
    {
      ...gauge(
        "failures",
        "Failures of an archive in a row.",
        (each) => each.upstream.consecutiveFailures,
      ),
      acrossProcesses: "max",
    },
    gauge(
      "requests_under_way",
      "Requests to an archive under way.",
      (each) => each.upstream.requestsUnderWay,
    ),
    gauge(
      "requests_waiting",
      "Requests that wait for an archive.",
      (each) => each.upstream.requestsWaiting,
    ),
  ];
}

/** What was sent to archives, and what did not have to be. */
function requestMetrics(archives: Archives): ReadMetric[] {
  const counter = (
    name: string,
    help: string,
    value: (counters: ArchiveCounters) => number,
  ): ReadMetric => ({
    name: `mementomap_upstream_${name}_total`,
    help,
    type: "counter",
    labels,
    read: each(archives, ({ counters }) => (counters === undefined ? undefined : value(counters))),
  });
  return [
    counter("requests", "Requests sent to an archive.", (c) => c.requests),
    counter("retries", "Requests that were sent again.", (c) => c.retries),
    counter("cache_hits", "Answers from the cache.", (c) => c.cacheHits),
    counter(
      "revalidations",
      "Cached answers that the archive found unchanged.",
      (c) => c.revalidations,
    ),
    counter(
      "stale",
      "Old answers given because the archive gave no new one.",
      (c) => c.staleAnswers,
    ),
    counter("coalesced", "Questions answered by a request that was under way.", (c) => c.coalesced),
    counter("bytes", "Bytes of bodies, decompressed.", (c) => c.bytes),
    {
      name: "mementomap_upstream_failures_total",
      help: "Requests that failed, by how.",
      type: "counter",
      labels: ["archive", "kind"],
      read: () =>
        archives().flatMap((archive) =>
          Object.entries(archive.counters?.failures ?? {}).map(([kind, value]) => ({
            labels: { ...labelsOf(archive), kind },
            value,
          })),
        ),
    },
  ];
}

/** The maps of archives. They are the same in every process. */
function mapMetrics(status: ServiceStatus, archives: Archives): ReadMetric[] {
  const gauge = (name: string, help: string, value: Of): ReadMetric => ({
    name: `mementomap_archive_map_${name}`,
    help,
    type: "gauge",
    labels,
    acrossProcesses: "max",
    read: each(archives, value),
  });
  return [
    gauge("keys", "Keys of an archive's map.", ({ map }) => map?.keys),
    gauge("age_seconds", "Time since an archive's map was made.", ({ map }) => {
      const madeAt = map?.updatedAt ?? map?.fetchedAt;
      return madeAt === undefined ? undefined : Math.max(0, status.now - madeAt) / 1000;
    }),
    gauge(
      "contradicted",
      "1 when answers contradict an archive's map, so that what was learnt decides.",
      ({ map }) => (map === undefined ? undefined : Number(map.contradicted !== undefined)),
    ),
    gauge(
      "usable",
      "1 when an archive's map is used for routing, 0 when there is none or it is stale.",
      ({ map }) => (map === undefined ? undefined : Number(map.status === "ready")),
    ),
    {
      name: "mementomap_archive_map_failures_total",
      help: "Times a new map of an archive could not be fetched or was refused.",
      type: "counter",
      labels,
      read: each(archives, ({ map }) => map?.failures),
    },
  ];
}

function listGauge(name: string, help: string, value: () => number): ReadMetric {
  return { ...single("gauge", `archive_list_${name}`, help, value), acrossProcesses: "max" };
}

/** How the list of archives is. */
function listMetrics(status: ServiceStatus, archives: Archives): ReadMetric[] {
  return [
    listGauge("archives", "Archives of the list in use.", () => archives().length),
    listGauge(
      "refused",
      "1 when the list or the settings as they are now are refused, and older ones in use.",
      () => (status.list?.error === undefined ? 0 : 1),
    ),
    listGauge("taken_timestamp_seconds", "When the list in use was read.", () =>
      Math.floor((status.list?.takenAt ?? status.startedAt) / 1000),
    ),
  ];
}
