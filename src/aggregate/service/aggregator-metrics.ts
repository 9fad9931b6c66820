import { type Aggregator, Histogram } from "prom-client";
import { Metrics, type Sample } from "../../http/metrics.ts";
import type { Outcome, Session, SessionObserver } from "../session.ts";
import type { Share } from "../learn/intervals.ts";
import type { RoutingReport } from "../statistics.ts";
import type { ListState } from "../route/archive-list.ts";
import { type ArchiveStatus, archiveStatuses, type OpenAggregator } from "./open-aggregator.ts";

const ANSWER_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];

/** Help texts of metrics by their names without `mementomap_`; names of counters end in `total`. */
const HELP = {
  lookups_in_progress: "Lookups in progress.",
  questions_total: "Lookups requested by clients.",
  archive_asked_total: "Queries to archives, including those answered from the cache.",
  archive_spared_total: "Requests saved by routing, compared with a broadcast.",
  archive_sampled_total: "Answers of skipped archives that were queried as a sample.",
  archive_sampled_hits_total: "Sampled answers with mementos.",
  learnt_recall: "Recall of answers with mementos: promised, and measured with its 95 % interval.",
  missed_hit_rate:
    "Estimated fraction of skipped archives that had mementos, with its 95 % interval.",
  archive_answers_total: "Answers of archives by result.",
  archive_cached_total: "Answers that did not come from the archive itself.",
  archive_awake: "1 if an archive is queried, 0 if it is dormant.",
  archive_failures: "Consecutive failures of an archive.",
  archive_requests_under_way: "Requests to an archive in flight.",
  archive_requests_waiting: "Queued requests to an archive.",
  upstream_requests_total: "Requests sent to an archive.",
  upstream_cache_hits_total: "Answers from the cache.",
  upstream_stale_total: "Stale answers served while the archive is queried again.",
  upstream_coalesced_total: "Queries answered by a request already in flight.",
  upstream_bytes_total: "Bytes of response bodies, decompressed.",
  upstream_failures_total: "Failed requests by kind of failure.",
  archive_map_keys: "Keys of an archive's map.",
  archive_map_age_seconds: "Time since an archive's map was made.",
  archive_map_contradicted:
    "1 if answers contradict an archive's map, so that it is not used for routing.",
  archive_map_usable:
    "1 if an archive's map is used for routing, 0 if there is none or it is stale.",
  archive_map_failures_total: "Failed or rejected updates of an archive's map.",
  archive_list_archives: "Archives in the current list.",
  archive_list_refused: "1 if the latest list or settings were rejected and older ones are in use.",
  archive_list_taken_timestamp_seconds: "When the current list was read.",
};

type Name = keyof typeof HELP;

/** Values by label value; undefined ones are omitted. */
type ByLabel = Readonly<Record<string, number | undefined>>;

/** Metrics of each archive. */
const READ_OF_ARCHIVES = {
  archive_cached_total: ({ counts }) => counts.fromCache,
  archive_awake: ({ upstream }) => Number(upstream.health === "awake"),
  archive_failures: ({ upstream }) => upstream.consecutiveFailures,
  archive_requests_under_way: ({ upstream }) => upstream.requestsUnderWay,
  archive_requests_waiting: ({ upstream }) => upstream.requestsWaiting,
  upstream_requests_total: ({ traffic }) => traffic?.requests,
  upstream_cache_hits_total: ({ counts }) => counts.cacheHits,
  upstream_stale_total: ({ counts }) => counts.stale,
  upstream_coalesced_total: ({ counts }) => counts.coalesced,
  upstream_bytes_total: ({ traffic }) => traffic?.bytes,
  archive_map_keys: ({ map }) => map?.keys,
  archive_map_contradicted: ({ map }) => map && Number(map.contradicted !== undefined),
  archive_map_usable: ({ map }) => map && Number(map.status === "ready"),
  archive_map_failures_total: ({ map }) => map?.failures,
} satisfies Partial<Record<Name, (archive: ArchiveStatus) => number | undefined>>;

/** How the values of several processes are combined, if not by their sum. */
const ACROSS_PROCESSES: Readonly<Partial<Record<Name, Aggregator>>> = {
  missed_hit_rate: "average",
  learnt_recall: "average",
  archive_awake: "min",
  archive_failures: "max",
  // Lists and maps are the same in every process.
  archive_map_keys: "max",
  archive_map_age_seconds: "max",
  archive_map_contradicted: "max",
  archive_map_usable: "max",
  archive_list_archives: "max",
  archive_list_refused: "max",
  archive_list_taken_timestamp_seconds: "max",
};

/** Metrics of an aggregator. To time archives, it must be one of the aggregator's observers. */
export class AggregatorMetrics extends Metrics implements SessionObserver {
  lookupsInProgress = 0;
  readonly #archiveSeconds: Histogram;

  constructor() {
    super();
    this.#archiveSeconds = new Histogram({
      name: "mementomap_archive_seconds",
      help: "Response time of an archive, without answers from the cache.",
      labelNames: ["archive"],
      buckets: ANSWER_SECONDS,
      registers: [this.registry],
    });
    this.#value("lookups_in_progress", () => this.lookupsInProgress);
  }

  answered(_session: Session, { archive, origin, startedAt, endedAt }: Outcome): void {
    if (origin !== "network") return;
    // The clock may have been set back.
    const seconds = Math.max(0, endedAt - startedAt) / 1000;
    this.#archiveSeconds.observe({ archive: archive.id }, seconds);
  }

  /** Exposes the state of a service. */
  readStatus(options: {
    readonly open: OpenAggregator;
    readonly list?: ListState | undefined;
    readonly now?: (() => number) | undefined;
  }): void {
    const { open, now = Date.now } = options;
    const startedAt = now();
    const routing = (): RoutingReport => open.statistics.routing();
    this.#value("questions_total", () => routing().sessions);
    this.#value("archive_asked_total", () => routing().asked);
    this.#value("archive_spared_total", () => routing().spared);
    this.#value("archive_sampled_total", () => routing().sampled);
    this.#value("archive_sampled_hits_total", () => routing().sampledHits);
    this.#byLabel("missed_hit_rate", "bound", () => bounds(routing().missRate));
    this.#byLabel("learnt_recall", "bound", () => {
      const { promised, hits } = open.learner?.report() ?? {};
      return { promised, ...bounds(hits) };
    });
    this.#readArchives(open, now);
    this.#value("archive_list_archives", () => open.aggregator.router.archives.length);
    this.#value("archive_list_refused", () => Number(options.list?.error !== undefined));
    const takenAt = (): number => options.list?.takenAt ?? startedAt;
    this.#value("archive_list_taken_timestamp_seconds", () => Math.floor(takenAt() / 1000));
  }

  #readArchives(open: OpenAggregator, now: () => number): void {
    const each = (name: Name, of: (archive: ArchiveStatus) => number | undefined): void =>
      this.#byLabel(name, "archive", () =>
        Object.fromEntries(archiveStatuses(open).map((each) => [each.archive.id, of(each)])),
      );
    for (const [name, of] of Object.entries(READ_OF_ARCHIVES)) each(name as Name, of); // its keys
    each("archive_map_age_seconds", ({ map }) => {
      const madeAt = map?.updatedAt ?? map?.fetchedAt;
      return madeAt === undefined ? undefined : Math.max(0, now() - madeAt) / 1000;
    });
    const kinds = (name: Name, label: string, of: (archive: ArchiveStatus) => ByLabel): void =>
      this.#samples(name, ["archive", label], () =>
        archiveStatuses(open).flatMap((each) =>
          Object.entries(of(each)).map(([kind, value = 0]) => ({
            labels: { archive: each.archive.id, [label]: kind },
            value,
          })),
        ),
      );
    kinds("archive_answers_total", "result", ({ counts: { hits, misses, errors } }) => ({
      hits,
      misses,
      errors,
    }));
    kinds("upstream_failures_total", "kind", ({ traffic }) => traffic?.failures ?? {});
  }

  #value(name: Name, read: () => number): void {
    this.#samples(name, [], () => [{ value: read() }]);
  }

  #byLabel(name: Name, label: string, read: () => ByLabel): void {
    this.#samples(name, [label], () =>
      Object.entries(read()).flatMap(([of, value]) =>
        value === undefined ? [] : [{ labels: { [label]: of }, value }],
      ),
    );
  }

  #samples(name: Name, labels: readonly string[], read: () => readonly Sample[]): void {
    this.read({
      name: `mementomap_${name}`,
      help: HELP[name],
      type: name.endsWith("_total") ? "counter" : "gauge",
      labels,
      acrossProcesses: ACROSS_PROCESSES[name],
      read,
    });
  }
}

function bounds(share: Share | undefined): ByLabel {
  return { estimate: share?.value, low: share?.low, high: share?.high };
}
