import type { RecallBySpan } from "../history.ts";
import type { ArchiveTally, RoutingReport } from "../statistics.ts";
import type { WorkerCounts } from "./cluster.ts";
import type { OpenAggregator } from "./open-aggregator.ts";
import type { Archive } from "../route/archive.ts";
import { type LearningReport, learningReport } from "../learn/learning-report.ts";
import type { ListState } from "../route/archive-list.ts";
import type { MapState } from "../route/kept-map.ts";
import type { ArchiveCounters, UpstreamState } from "../ask/state.ts";

/** Where the state of the service comes from; looked at for each answer. */
export interface StatusSources {
  readonly open: OpenAggregator;
  /** How the list of archives is, where it can change. */
  readonly listState?: (() => ListState) | undefined;
  /** Settings worth showing, by their names. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  readonly now?: (() => number) | undefined;
}

/** All there is to know about one archive. */
export interface ArchiveStatus {
  readonly archive: Archive;
  readonly upstream: UpstreamState;
  readonly tally: ArchiveTally;
  readonly map: MapState | undefined;
  readonly counters: ArchiveCounters | undefined;
}

/** What the service is doing: of one process, or of several together. */
export interface StatusView {
  readonly startedAt: number;
  readonly now: number;
  readonly isRouting: boolean;
  readonly settings: Readonly<Record<string, string>>;
  readonly list: ListState | undefined;
  routing(): RoutingReport;
  /** Undefined where nothing is learnt. */
  learning(): LearningReport | undefined;
  /** The recall over time. */
  recalls(): RecallBySpan;
  archives(): ArchiveStatus[];
}

/** What one process is doing. */
export class ServiceStatus implements StatusView {
  readonly startedAt: number;
  readonly isRouting: boolean;
  readonly #sources: StatusSources;
  readonly #now: () => number;

  constructor(sources: StatusSources) {
    this.#sources = sources;
    this.#now = sources.now ?? Date.now;
    this.startedAt = this.#now();
    this.isRouting = sources.open.isRouting;
  }

  get settings(): Readonly<Record<string, string>> {
    return this.#sources.settings ?? {};
  }

  get list(): ListState | undefined {
    return this.#sources.listState?.();
  }

  get now(): number {
    return this.#now();
  }

  routing(): RoutingReport {
    return this.#sources.open.estimate.report();
  }

  learning(): LearningReport | undefined {
    const { learner } = this.#sources.open;
    return learner === undefined ? undefined : learningReport(learner);
  }

  recalls(): RecallBySpan {
    return this.#sources.open.recalls.report();
  }

  archives(): ArchiveStatus[] {
    const { aggregator, upstream, tallies } = this.#sources.open;
    return aggregator.router.archives.map((archive) => ({
      archive,
      upstream: upstream.stateOf(archive),
      tally: tallies.tallyOf(archive),
      map: this.#mapOf(archive),
      counters: upstream.counters.get(archive.id),
    }));
  }

  #mapOf(archive: Archive): MapState | undefined {
    const { keeper, learner } = this.#sources.open;
    const map = keeper.stateOf(archive);
    const contradicted = learner?.maps.staleOf(archive.id);
    const isShown = map?.status === "ready" || map?.status === "stale";
    return isShown && contradicted !== undefined ? { ...map, status: "stale", contradicted } : map;
  }
}

/** The processes of a service that listen on one port: see `WorkerLink`. */
export interface ServiceProcesses {
  readonly counts: WorkerCounts;
  /** What all of them counted, in the text format of Prometheus. */
  text(): Promise<string>;
}
