/**
 * All of `mementomap`, with file paths as sources. In addition: generates maps from index files of any
 * size, on all cores and in bounded memory; fetches and harvests maps from the web; evaluates them; and
 * aggregates archives.
 *
 * @module
 */
import {
  compactOn,
  diffOn,
  discoverOn,
  generateOn,
  mergeOn,
  readTimeMapOn,
  validateOn,
} from "./library/maps.ts";
import type { SignalOption } from "./interruption.ts";
import { NODE } from "./library/node-platform.ts";
import { openMapOn } from "./library/open-map.ts";
import { createRouterOn } from "./library/router.ts";
import { bind, type Bound } from "./library/source.ts";
import {
  checkPublisher as checkPublisherBy,
  type Finding,
} from "./publish/fetch/check-publisher.ts";
import { webAddress } from "./publish/fetch/discover.ts";

export * from "./index.ts";

/** As `openMap` of `mementomap`; a string may be the path of a file. */
export const openMap: Bound<typeof openMapOn> = bind(NODE, openMapOn);

/** As `generate` of `mementomap`; strings may be paths of files. */
export const generate: Bound<typeof generateOn> = bind(NODE, generateOn);

/** As `compact` of `mementomap`; a string may be the path of a file. */
export const compact: Bound<typeof compactOn> = bind(NODE, compactOn);

/** As `merge` of `mementomap`; strings may be paths of files, which are not held in memory. */
export const merge: Bound<typeof mergeOn> = bind(NODE, mergeOn);

/** As `diff` of `mementomap`; strings may be paths of files. */
export const diff: Bound<typeof diffOn> = bind(NODE, diffOn);

/** As `validate` of `mementomap`; a string may be the path of a file. */
export const validate: Bound<typeof validateOn> = bind(NODE, validateOn);

/** As `createRouter` of `mementomap`; maps may be paths of files. */
export const createRouter: Bound<typeof createRouterOn> = bind(NODE, createRouterOn);

/** As `readTimeMap` of `mementomap`; a string may be the path of a file. */
export const readTimeMap: Bound<typeof readTimeMapOn> = bind(NODE, readTimeMapOn);

/** As `discoverMap` of `mementomap`; uses the proxies of the environment. */
export const discoverMap: Bound<typeof discoverOn> = bind(NODE, discoverOn);

/**
 * Checks the map that an archive publishes as a client would: discovery, headers, ranges, compression,
 * content; see `mementomap validate --url`. Continues after findings.
 *
 * @throws MM_NOT_FOUND if no map is published; MM_HTTP, MM_REFUSED, MM_INTERRUPTED
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

// Types used in the signatures above.
export type { LoadArchivesOptions } from "./aggregate/route/archive-list.ts";
export type { OpenAggregator, OpenAggregatorOptions } from "./aggregate/service/open-aggregator.ts";
export type { HarvestOptions, HarvestSummary } from "./harvest/harvest-index.ts";
export type { SampleSearchOptions, SampleSearchSummary } from "./harvest/sample-search.ts";
export type { PackForm, WriteOptions } from "./library/map-files.ts";
export type { Budget, BudgetFileSummary } from "./compact/budget-files.ts";
export type { CompactFileSummary } from "./compact/compact-files.ts";
export type { GenerateOptions, GenerateSummary } from "./generate/generate.ts";
export type { PackSummary } from "./pack/pack-files.ts";
export type { Finding } from "./publish/fetch/check-publisher.ts";
export type { FetchMapOptions, FetchResult } from "./publish/fetch/fetch-map.ts";
export type { FreshMapOptions } from "./publish/fetch/fresh-map.ts";
export type { AnalyzeFilesOptions } from "./study/analyze/analyze-files.ts";
export type { EvaluateOptions } from "./study/evaluate/evaluate-files.ts";
export type { Evaluation, EvaluationReport } from "./study/evaluate/evaluation.ts";
export type { CompactMapFileOptions } from "./library/map-files.ts";
export type { InterruptOptions } from "./interruption.ts";
