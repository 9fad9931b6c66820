import type { ArchiveTallies, ArchiveTally } from "../archive-tally.ts";
import type { RoutingEstimate, RoutingReport } from "../routing-estimate.ts";
import type { Upstream, UpstreamState } from "../upstream.ts";
import type { Archive } from "../route/archive.ts";
import type { ListState } from "../route/list-keeper.ts";
import type { MapState } from "../route/map-keeper.ts";
import type { ArchiveCounters } from "../upstream/counters.ts";

/** Where the state of the service comes from; looked at for each answer. */
export interface StatusSources {
  readonly archives: readonly Archive[];
  /** How the list of archives is, where it can change. */
  readonly listState?: (() => ListState) | undefined;
  readonly upstream: Upstream;
  readonly tallies: ArchiveTallies;
  readonly estimate: RoutingEstimate;
  /** The state of an archive's map; undefined where it has none. */
  readonly mapStateOf?: ((archive: Archive) => MapState | undefined) | undefined;
  /** What was sent to an archive; undefined before anything was. */
  readonly countersOf?: ((archive: Archive) => ArchiveCounters | undefined) | undefined;
  /** Whether maps decide which archives are asked. */
  readonly isRouting: boolean;
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
    this.isRouting = sources.isRouting;
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
    return this.#sources.estimate.report();
  }

  archives(): ArchiveStatus[] {
    return this.#sources.archives.map((archive) => ({
      archive,
      upstream: this.#sources.upstream.stateOf(archive),
      tally: this.#sources.tallies.tallyOf(archive),
      map: this.#sources.mapStateOf?.(archive),
      counters: this.#sources.countersOf?.(archive),
    }));
  }
}
