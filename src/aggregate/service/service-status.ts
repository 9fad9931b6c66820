import { joinRecalls, type RecallBySpan, recallsLater } from "../recall-history.ts";
import {
  type ArchiveTally,
  joinReports,
  joinTallies,
  type RoutingReport,
  tallyLater,
} from "../statistics.ts";
import type { EndpointState, UpstreamState } from "../upstream.ts";
import type { OpenAggregator } from "./open-aggregator.ts";
import type { Archive } from "../route/archive.ts";
import { type LearningReport, learningReport } from "../learn/learning-report.ts";
import type { ListState } from "../route/archive-list.ts";
import type { MapState } from "../route/map-keeper.ts";
import { ArchiveCounters } from "../upstream/archive-health.ts";
import { FAILURE_REASONS } from "../../http/retry.ts";

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

/** How many questions are worked on, and how many wait for that. */
export interface ServiceLoad {
  readonly underWay: number;
  readonly waiting: number;
}

/** What one process is doing, as it tells the others. */
export interface StatusSnapshot {
  /** When it was made. */
  readonly at: number;
  readonly startedAt: number;
  readonly isRouting: boolean;
  readonly settings: Readonly<Record<string, string>>;
  readonly list: ListState | undefined;
  readonly routing: RoutingReport;
  readonly learning?: LearningReport | undefined;
  readonly recalls?: RecallBySpan | undefined;
  readonly archives: readonly ArchiveStatus[];
  readonly load: ServiceLoad;
}

/** How many processes there should be, and how many there are. */
export interface WorkerCounts {
  readonly wanted: number;
  readonly running: number;
}

/** What the processes of a service know together. */
export interface ServiceProcesses {
  /** One snapshot for each process that answers in time. */
  status(): Promise<{
    readonly snapshots: readonly StatusSnapshot[];
    /** What processes counted that have ended. */
    readonly ended?: StatusSnapshot | undefined;
    readonly workers: WorkerCounts;
  }>;
  /** The text format of Prometheus. */
  metrics(): Promise<string>;
}

export function snapshotOf(status: StatusView, { underWay, waiting }: ServiceLoad): StatusSnapshot {
  const { now: at, startedAt, isRouting, settings, list } = status;
  return {
    at,
    startedAt,
    isRouting,
    settings,
    list,
    routing: status.routing(),
    learning: status.learning(),
    recalls: status.recalls(),
    archives: status.archives(),
    load: { underWay, waiting },
  };
}

/**
 * What several processes are doing, as one: counts are added, and of the state of an archive, a map
 * or the list the worst is shown. The archives are those of the first process. Snapshots may be older
 * than `now`.
 */
export class JoinedStatus implements StatusView {
  readonly now: number;
  readonly startedAt: number;
  readonly isRouting: boolean;
  readonly settings: Readonly<Record<string, string>>;
  readonly list: ListState | undefined;
  readonly load: ServiceLoad;
  readonly #first: StatusSnapshot;
  readonly #snapshots: readonly StatusSnapshot[];

  /** @param snapshots at least one. */
  constructor(snapshots: readonly StatusSnapshot[], now: number = Date.now()) {
    const [first] = snapshots;
    this.now = now;
    this.#first = first;
    this.#snapshots = snapshots;
    this.startedAt = Math.min(...snapshots.map(({ startedAt }) => startedAt));
    this.isRouting = first.isRouting;
    this.settings = first.settings;
    this.list = (snapshots.find(({ list }) => list?.error !== undefined) ?? first).list;
    this.load = {
      underWay: sum(snapshots, ({ load }) => load.underWay),
      waiting: sum(snapshots, ({ load }) => load.waiting),
    };
  }

  routing(): RoutingReport {
    return joinReports(this.#snapshots.map(({ routing }) => routing));
  }

  /** That of the process which decided most. */
  learning(): LearningReport | undefined {
    const reports = this.#snapshots.flatMap(({ learning }) => learning ?? []);
    return reports.toSorted((a, b) => b.lookups - a.lookups)[0];
  }

  recalls(): RecallBySpan {
    const { now } = this;
    return joinRecalls(
      this.#snapshots.flatMap(({ at, recalls }) =>
        recalls === undefined ? [] : recallsLater(recalls, { at, now }),
      ),
    );
  }

  archives(): ArchiveStatus[] {
    const byId = new Map<string, ArchiveStatus[]>();
    const { now } = this;
    for (const { at, archives } of this.#snapshots) {
      for (const each of archives) {
        const { id } = each.archive;
        const status = { ...each, tally: tallyLater(each.tally, { at, now }) };
        byId.set(id, [...(byId.get(id) ?? []), status]);
      }
    }
    return this.#first.archives.map(({ archive }) => joinArchive(byId.get(archive.id) ?? []));
  }
}

/** What processes have counted that ended, and when, without how they were then. */
export function endedSnapshot(
  last: StatusSnapshot,
  before: StatusSnapshot | undefined,
  now?: number,
): StatusSnapshot {
  const joined = new JoinedStatus(before === undefined ? [last] : [last, before], now);
  const snapshot = snapshotOf(joined, { underWay: 0, waiting: 0 });
  const archives = snapshot.archives.map(({ archive, tally, counters }) => ({
    archive,
    upstream: NOT_ASKED,
    tally,
    map: undefined,
    counters,
  }));
  return { ...snapshot, list: undefined, learning: undefined, archives };
}

const NOT_ASKED: UpstreamState = {
  health: "awake",
  consecutiveFailures: 0,
  dormantUntil: undefined,
  lastFailure: undefined,
  endpoints: { timemap: undefined, timegate: undefined },
  requestsUnderWay: 0,
  requestsWaiting: 0,
  concurrency: 0,
};

/** @param all at least one, of the same archive. */
function joinArchive(all: readonly ArchiveStatus[]): ArchiveStatus {
  return {
    archive: all[0].archive,
    upstream: joinUpstream(all.map(({ upstream }) => upstream)),
    tally: joinTallies(all.map(({ tally }) => tally)),
    map: joinMaps(all.flatMap(({ map }) => map ?? [])),
    counters: joinCounters(all.flatMap(({ counters }) => counters ?? [])),
  };
}

const HEALTH_ORDER = ["awake", "probing", "dormant"] as const;

function worst<State extends EndpointState>(states: readonly State[]): State {
  return states.reduce((a, b) => {
    const apart = HEALTH_ORDER.indexOf(b.health) - HEALTH_ORDER.indexOf(a.health);
    return (apart === 0 ? b.consecutiveFailures - a.consecutiveFailures : apart) > 0 ? b : a;
  });
}

function joinUpstream(states: readonly UpstreamState[]): UpstreamState {
  return {
    ...worst(states),
    requestsUnderWay: sum(states, ({ requestsUnderWay }) => requestsUnderWay),
    requestsWaiting: sum(states, ({ requestsWaiting }) => requestsWaiting),
    concurrency: sum(states, ({ concurrency }) => concurrency),
  };
}

const MAP_ORDER = ["ready", "loading", "stale", "failed"] as const;

function joinMaps(maps: readonly MapState[]): MapState | undefined {
  if (maps.length === 0) return undefined;
  const shown = maps.reduce((a, b) => {
    const apart = MAP_ORDER.indexOf(b.status) - MAP_ORDER.indexOf(a.status);
    const isWorse = apart === 0 ? a.error === undefined && b.error !== undefined : apart > 0;
    return isWorse ? b : a;
  });
  return { ...shown, failures: sum(maps, ({ failures }) => failures) };
}

type CounterName = {
  [Name in keyof ArchiveCounters]: ArchiveCounters[Name] extends number ? Name : never;
}[keyof ArchiveCounters];

function joinCounters(all: readonly ArchiveCounters[]): ArchiveCounters | undefined {
  if (all.length === 0) return undefined;
  return all.reduce((a, b) => addCounters(a, b));
}

function addCounters(a: ArchiveCounters, b: ArchiveCounters): ArchiveCounters {
  const joined = new ArchiveCounters();
  const names = Object.keys(joined).filter(
    (name): name is CounterName => typeof joined[name as keyof ArchiveCounters] === "number",
  );
  for (const name of names) joined[name] = a[name] + b[name];
  for (const reason of FAILURE_REASONS) {
    joined.failures[reason] = a.failures[reason] + b.failures[reason];
  }
  return joined;
}

function sum<T>(all: readonly T[], of: (each: T) => number): number {
  return all.reduce((total, each) => total + of(each), 0);
}
