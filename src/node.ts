/**
 * All of `mementomap`, with paths of files wherever a source is taken; and maps made from index files of
 * any size, on all cores and in bounded memory, fetched and harvested from the web, measured, and used to
 * aggregate archives.
 *
 * @module
 */
import type { Archive } from "./aggregate/route/archive.ts";
import {
  compactOn,
  type CompactOptions,
  diffOn,
  discoverOn,
  generateOn,
  type GenerateResult,
  mergeOn,
  type SignalOption,
  validateOn,
} from "./library/maps.ts";
import type { MapStream } from "./library/map-stream.ts";
import { NODE } from "./library/node-platform.ts";
import { type MementoMap, openMapOn, type OpenMapOptions } from "./library/open-map.ts";
import { type ArchiveRouter, createRouterOn, type RouterOptions } from "./library/router.ts";
import type { Source } from "./library/source.ts";
import { readTimeMapOn, type ReadTimeMapOptions } from "./library/timemap.ts";
import type { CompactSummary } from "./map/compact/compact-map.ts";
import type { MapDifference } from "./map/diff-maps.ts";
import type { Fault } from "./map/map-faults.ts";
import type { GenerateMapOptions } from "./map/generate/generate-map.ts";
import type { MergeSummary } from "./map/merge-maps.ts";
import type { ValidateOptions } from "./map/validate-map.ts";
import type { TimeMapReading } from "./memento/timemap-reading.ts";
import {
  checkPublisher as checkPublisherBy,
  type Finding,
} from "./publish/fetch/check-publisher.ts";
import { type DiscoverOptions, type Discovery, webAddress } from "./publish/fetch/discover.ts";

export * from "./index.ts";

/** As `openMap` of `mementomap`; a string may be the path of a file. */
export function openMap(source: Source, options: OpenMapOptions = {}): Promise<MementoMap> {
  return openMapOn(NODE, source, options);
}

/** As `generate` of `mementomap`; strings may be paths of files. */
export function generate(
  inputs: readonly Source[],
  options: GenerateMapOptions = {},
): MapStream<GenerateResult> {
  return generateOn(NODE, inputs, options);
}

/** As `compact` of `mementomap`; a string may be the path of a file. */
export function compact(source: Source, options: CompactOptions = {}): MapStream<CompactSummary> {
  return compactOn(NODE, source, options);
}

/** As `merge` of `mementomap`; strings may be paths of files, which are not held in memory. */
export function merge(
  sources: readonly Source[],
  options: SignalOption = {},
): MapStream<MergeSummary> {
  return mergeOn(NODE, sources, options);
}

/** As `diff` of `mementomap`; strings may be paths of files. */
export function diff(
  before: Source,
  after: Source,
  options: SignalOption = {},
): Promise<MapDifference> {
  return diffOn(NODE, before, after, options);
}

/** As `validate` of `mementomap`; a string may be the path of a file. */
export function validate(
  source: Source,
  options: ValidateOptions = {},
): AsyncGenerator<Fault, void, undefined> {
  return validateOn(NODE, source, options);
}

/** As `createRouter` of `mementomap`; maps may be paths of files. */
export function createRouter(
  archives: readonly Archive[],
  options: RouterOptions = {},
): Promise<ArchiveRouter> {
  return createRouterOn(NODE, archives, options);
}

/** As `readTimeMap` of `mementomap`; a string may be the path of a file. */
export function readTimeMap(
  source: Source,
  options: ReadTimeMapOptions = {},
): Promise<TimeMapReading> {
  return readTimeMapOn(NODE, source, options);
}

/** As `discoverMap` of `mementomap`; uses the proxies of the environment. */
export function discoverMap(address: string, options: DiscoverOptions = {}): Promise<Discovery> {
  return discoverOn(NODE, address, options);
}

/**
 * Checks what an archive publishes as a client would: discovery, headers, ranges, compression, the map
 * itself; see `mementomap validate --url`. Finishes whatever it finds.
 *
 * @throws MM_NOT_FOUND when no map is published; MM_HTTP, MM_REFUSED, MM_INTERRUPTED
 *
 * @example
 * ```ts
 * import { checkPublisher } from "mementomap/node";
 *
 * const findings = checkPublisher("http://127.0.0.1:9/");
 * await findings.next().catch((error) => console.log(error.code));
 * ```
 * ```
 * MM_HTTP
 * ```
 */
export async function* checkPublisher(
  address: string,
  options: SignalOption = {},
): AsyncGenerator<Finding, void, undefined> {
  const { client, close } = NODE.client(webAddress(address));
  try {
    yield* checkPublisherBy(client, address, options);
  } finally {
    close();
  }
}

export {
  analyzeFiles,
  compactMapFile,
  evaluateMapFiles,
  generateMapFile,
} from "./library/map-files.ts";
export { harvestIndex } from "./harvest/harvest-index.ts";
export { sampleSearch } from "./harvest/sample-search.ts";
export { fetchMap } from "./publish/fetch/fetch-map.ts";
export { FreshMap } from "./publish/fetch/fresh-map.ts";
export { loadArchives } from "./aggregate/route/archive-list.ts";
export { openAggregator } from "./aggregate/service/open-aggregator.ts";

// Types that the signatures above refer to.
export type { ListState, LoadArchivesOptions } from "./aggregate/route/archive-list.ts";
export type { HeldMap, MapKeeperOptions, MapState } from "./aggregate/route/map-keeper.ts";
export type { LearnOptions } from "./aggregate/learn/kept-learner.ts";
export type { LearnerOptions, LearntArchive, Observation } from "./aggregate/learn/learner.ts";
export type { MapWord, StaleMap } from "./aggregate/learn/map-trust.ts";
export type { LearntMaps, LearntMapsOptions } from "./aggregate/service/learnt-maps.ts";
export type {
  AggregatorLearning,
  OpenAggregator,
  OpenAggregatorOptions,
} from "./aggregate/service/open-aggregator.ts";
export type { ArchiveCounters } from "./aggregate/upstream/archive-health.ts";
export type { ArchiveUpstream, UpstreamOptions } from "./aggregate/upstream/archive-upstream.ts";
export type { CacheStore, CachedAnswer } from "./aggregate/upstream/cache-store.ts";
export type { CacheOptions } from "./aggregate/upstream/http-cache.ts";
export type { HarvestOptions, HarvestSummary } from "./harvest/harvest-index.ts";
export type { PoliteOptions } from "./harvest/polite-client.ts";
export type { SampleSearchOptions, SampleSearchSummary } from "./harvest/sample-search.ts";
export type { NodeClientOptions } from "./http/node-client.ts";
export type { ProxiedAddress, Proxy } from "./http/proxy.ts";
export type { WriteOptions } from "./library/map-files.ts";
export type { PackForm } from "./library/pack-map-file.ts";
export type {
  Budget,
  BudgetFileOptions,
  BudgetFileSummary,
} from "./map/compact/run/budget-files.ts";
export type { CompactFileSummary } from "./map/compact/run/compact-files.ts";
export type { GenerateOptions, GenerateSummary } from "./map/generate/generate-plan.ts";
export type { PackSummary } from "./map/pack/pack-files.ts";
export type { PackFileResult } from "./map/pack/write-packed.ts";
export type { Finding, RuleId } from "./publish/fetch/check-publisher.ts";
export type { FetchState, FetchedPart } from "./publish/fetch/download.ts";
export type { FetchMapOptions, FetchResult } from "./publish/fetch/fetch-map.ts";
export type { FreshMapOptions } from "./publish/fetch/fresh-map.ts";
export type { AnalyzeFilesOptions } from "./study/analyze/analyze-files.ts";
export type { EvaluateOptions, Sweep } from "./study/evaluate/evaluate-files.ts";
export type { Evaluation, EvaluationReport } from "./study/evaluate/evaluation.ts";
export type { CompactMapFileOptions } from "./library/map-files.ts";
export type { ChosenNodes, CompactFileOptions } from "./map/compact/run/compact-files.ts";
export type { Split } from "./input/index-input.ts";
export type { HttpRequest } from "./http/http-client.ts";
export type { InputStreams } from "./files/input-file.ts";
export type { Interrupt } from "./interruption.ts";
export type { InterruptOptions } from "./interruption.ts";
export type { MapKeeper } from "./aggregate/route/map-keeper.ts";
export type { MapStreams } from "./map/lookup/map-sources.ts";
export type { ProxySettings } from "./http/proxy.ts";
