import { joinTallies } from "../archive-tally.ts";
import { FAILURE_REASONS } from "../../http/failure-reason.ts";
import { joinReports, type RoutingReport } from "../routing-estimate.ts";
import type { EndpointState, UpstreamState } from "../upstream.ts";
import type { ListState } from "../route/list-keeper.ts";
import type { MapState } from "../route/map-keeper.ts";
import { ArchiveCounters } from "../upstream/counters.ts";
import { serviceHealth, type ServiceHealth } from "./service-health.ts";
import type { ArchiveStatus, StatusView } from "./service-status.ts";

/** How many questions are worked on, and how many wait for that. */
export interface ServiceLoad {
  readonly underWay: number;
  readonly waiting: number;
}

/** What one process is doing, as it tells the others. */
export interface StatusSnapshot {
  readonly startedAt: number;
  readonly isRouting: boolean;
  readonly settings: Readonly<Record<string, string>>;
  readonly list: ListState | undefined;
  readonly routing: RoutingReport;
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
    readonly workers: WorkerCounts;
  }>;
  /** The text format of Prometheus. */
  metrics(): Promise<string>;
}

export function snapshotOf(status: StatusView, { underWay, waiting }: ServiceLoad): StatusSnapshot {
  const { startedAt, isRouting, settings, list } = status;
  return {
    startedAt,
    isRouting,
    settings,
    list,
    routing: status.routing(),
    archives: status.archives(),
    load: { underWay, waiting },
  };
}

/**
 * What several processes are doing, as one: counts are added, and of the state of an archive, a map
 * or the list the worst is shown. The archives are those of the first process.
 */
export class JoinedStatus implements StatusView {
  readonly now: number = Date.now();
  readonly startedAt: number;
  readonly isRouting: boolean;
  readonly settings: Readonly<Record<string, string>>;
  readonly list: ListState | undefined;
  readonly load: ServiceLoad;
  readonly #first: StatusSnapshot;
  readonly #snapshots: readonly StatusSnapshot[];

  /** @param snapshots at least one. */
  constructor(snapshots: readonly StatusSnapshot[]) {
    const [first] = snapshots;
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

  archives(): ArchiveStatus[] {
    const byId = new Map<string, ArchiveStatus[]>();
    for (const { archives } of this.#snapshots) {
      for (const each of archives) {
        const { id } = each.archive;
        byId.set(id, [...(byId.get(id) ?? []), each]);
      }
    }
    return this.#first.archives.map(({ archive }) => joinArchive(byId.get(archive.id) ?? []));
  }
}

/**
 * How a service of several processes is: as the worst of them finds archives and maps, but `failing`
 * only if all of them are, and `degraded` if one is missing.
 */
export function joinedHealth(
  snapshots: readonly StatusSnapshot[],
  { wanted, running }: WorkerCounts,
): ServiceHealth {
  const health = serviceHealth(new JoinedStatus(snapshots));
  const isFailing = snapshots.every(
    (each) => serviceHealth(new JoinedStatus([each])).status === "failing",
  );
  const problems = [...health.problems];
  if (running < wanted) {
    const detail = `${running} of ${wanted} workers answer; the others are being started`;
    problems.push({ problem: "worker-missing", detail });
  }
  return {
    ...health,
    status: isFailing ? "failing" : problems.length > 0 ? "degraded" : "ok",
    problems,
  };
}

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
  for (const index of joined.latencyCounts.keys()) {
    joined.latencyCounts[index] = a.latencyCounts[index] + b.latencyCounts[index];
  }
  return joined;
}

function sum<T>(all: readonly T[], of: (each: T) => number): number {
  return all.reduce((total, each) => total + of(each), 0);
}
