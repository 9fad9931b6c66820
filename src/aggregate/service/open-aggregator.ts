import { Aggregator, type AggregatorOptions } from "../aggregator.ts";
import { type ArchiveCounts, Statistics } from "../statistics.ts";
import type { SessionObserver } from "../session.ts";
import type { Asker, Traffic } from "../ask/ask.ts";
import { createUpstream, type UpstreamOptions } from "../ask/create-upstream.ts";
import type { Upstream, UpstreamState } from "../ask/state.ts";
import type { MapState } from "../route/kept-map.ts";
import type { Archive } from "../route/archive.ts";
import { type LearnOptions, openLearner } from "../learn/store.ts";
import type { Learner } from "../learn/learner.ts";
import type { RouteRequest } from "../route/decision.ts";
import { MapRouter } from "../route/map-router.ts";
import { MapKeeper, type MapKeeperOptions } from "../route/map-keeper.ts";

/** Options of an aggregator. All members except the archives are optional. */
export interface OpenAggregatorOptions {
  readonly archives: readonly Archive[];
  /** Whether to select archives by their maps; default true. */
  readonly isRouting?: boolean | undefined;
  /** The fraction of skipped archives that are queried anyway, as a sample; default 0.01. */
  readonly sampleShare?: number | undefined;
  /** Learns the holdings of archives from answers; default: every archive without a map is queried. */
  readonly learn?: LearnOptions | undefined;
  readonly maps?: MapKeeperOptions | undefined;
  readonly upstream?: UpstreamOptions | undefined;
  /** Deadline and observers. */
  readonly aggregator?: AggregatorOptions | undefined;
}

/** An aggregator with its components. */
export interface OpenAggregator {
  readonly aggregator: Aggregator;
  readonly upstream: Asker;
  readonly keeper: MapKeeper;
  readonly statistics: Statistics;
  readonly isRouting: boolean;
  readonly learner: Learner | undefined;
  /**
   * Replaces the list of archives. Lookups in progress use the old one. The state of an archive is kept by its
   * id: answers, failures, learnt data, and its map if the location is unchanged.
   *
   * Do not call it concurrently.
   *
   * @throws MM_IO when the folder for maps cannot be created; the old list stays in use.
   */
  replaceArchives(archives: readonly Archive[]): Promise<void>;
  /** Closes connections to archives, and stops updating maps. */
  close(): Promise<void>;
}

/**
 * Opens an aggregator: the maps of its archives, a router that uses them and earlier answers, and
 * connections to the archives.
 *
 * Local maps are loaded before it returns; remote ones follow later, and until then their archives are
 * treated as having no map.
 *
 * @throws MM_IO when the folder for maps cannot be created, or a log to learn from cannot be read.
 *
 * @example
 * ```ts
 * import { openAggregator, parseArchiveList } from "mementomap/node";
 *
 * const list = [{ id: "a", timemap: "http://127.0.0.1:9/timemap/" }];
 * const open = await openAggregator({
 *   archives: parseArchiveList(JSON.stringify(list)),
 * });
 * const { mementos, outcomes } = await open.aggregator.timeMap({ uri: "http://example.com/" });
 * console.log(mementos.count, outcomes.map(({ result }) => result));
 * await open.close();
 * ```
 * ```
 * 0 [ 'error' ]
 * ```
 */
export async function openAggregator(options: OpenAggregatorOptions): Promise<OpenAggregator> {
  const { archives, isRouting = true, learn } = options;
  const kept = learn && isRouting ? await openLearner(archives, learn) : undefined;
  const learner = kept?.learner;
  const upstream = createUpstream(options.upstream);
  upstream.replaceArchives(archives);
  const router = new MapRouter(archives, {
    isBroadcasting: !isRouting,
    isDormant: dormancyOf(upstream),
    sampleShare: options.sampleShare,
    learner,
  });
  const keeper = new MapKeeper(router, options.maps);
  const statistics = new Statistics(learner && (() => learner.policy.recallOfHits()?.value));
  // Nothing is learnt from failures.
  const learning: SessionObserver = {
    answered({ uri }, { decision, result, mementos }) {
      if (result === "hit" || result === "miss")
        router.learn(decision, uri, result === "hit", mementos);
    },
  };
  const { observers = [], ...more } = options.aggregator ?? {};
  const aggregator = new Aggregator(router, upstream, {
    ...more,
    observers: [learning, statistics, ...observers],
  });
  if (isRouting) await keeper.start();
  return {
    aggregator,
    upstream,
    keeper,
    statistics,
    isRouting,
    learner,
    async replaceArchives(list) {
      if (isRouting) await keeper.replaceArchives(list);
      else router.replaceMaps(new Map(), list);
      learner?.replaceArchives(list);
      upstream.replaceArchives(list);
      statistics.keepOnly(list);
    },
    async close() {
      await keeper.stop();
      await upstream.close();
      await kept?.close();
    },
  };
}

/**
 * Whether an archive is dormant. For a datetime, the TimeMap serves as well as the TimeGate; for all mementos
 * only the TimeMap does.
 */
function dormancyOf(upstream: Upstream): (archive: Archive, request: RouteRequest) => boolean {
  return (archive, { datetime }) => {
    const { timegate } = archive;
    if (archive.timemap === undefined && archive.cdx === undefined)
      return timegate !== undefined && upstream.isDormant(archive, "timegate");
    if (!upstream.isDormant(archive, "timemap")) return false;
    return (
      timegate === undefined || datetime === undefined || upstream.isDormant(archive, "timegate")
    );
  };
}

/** The complete status of an archive. */
export interface ArchiveStatus {
  readonly archive: Archive;
  readonly upstream: UpstreamState;
  readonly counts: ArchiveCounts;
  readonly traffic: Traffic | undefined;
  readonly map: MapState | undefined;
}

export function archiveStatuses(open: OpenAggregator): ArchiveStatus[] {
  const { aggregator, upstream, statistics } = open;
  return aggregator.router.archives.map((archive) => ({
    archive,
    upstream: upstream.stateOf(archive),
    counts: statistics.countsOf(archive),
    traffic: upstream.traffic.get(archive.id),
    map: mapState(open, archive),
  }));
}

function mapState({ keeper, learner }: OpenAggregator, archive: Archive): MapState | undefined {
  const map = keeper.stateOf(archive);
  const contradicted = learner?.maps.staleOf(archive.id);
  const isShown = map?.status === "ready" || map?.status === "stale";
  return isShown && contradicted !== undefined ? { ...map, status: "stale", contradicted } : map;
}
