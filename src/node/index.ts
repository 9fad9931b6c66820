/**
 * Maps in files: makes them from index files of any size, on all cores and in bounded memory.
 *
 * @module
 */
export {
  compactMapFile,
  compactMapFileToBudget,
  evaluateMapFiles,
  generateMapFile,
  openMapFile,
} from "./map-files.ts";
export type { Budget, BudgetFileOptions, BudgetFileSummary } from "./compact/budget-files.ts";
export type { EvaluateOptions } from "./evaluate/evaluate-files.ts";
export type { Evaluation, EvaluationReport } from "../evaluate/evaluation.ts";
export type { OpenMap } from "./open-map.ts";
export type { CompactFileOptions, CompactFileSummary } from "./compact/compact-files.ts";
export type { GenerateOptions, GenerateSummary } from "./generate/generate-files.ts";
export { harvestIndex } from "./harvest/harvest-index.ts";
export type { HarvestOptions, HarvestSummary } from "./harvest/harvest-index.ts";
export type { PoliteOptions } from "./harvest/polite-client.ts";
export { sampleSearch } from "./harvest/sample-search.ts";
export type { SampleSearchOptions, SampleSearchSummary } from "./harvest/sample-search.ts";
export { decompressed, recognizeCompression } from "./decompress.ts";
export type { Compression, DecompressOptions } from "./decompress.ts";
export { checkPublisher } from "./fetch/check-publisher.ts";
export type { Finding } from "./fetch/check-publisher.ts";
export { fetchMap } from "./fetch/fetch-map.ts";
export type { FetchMapOptions, FetchResult } from "./fetch/fetch-map.ts";
export { FreshMap } from "./fetch/fresh-map.ts";
export type { FreshMapOptions } from "./fetch/fresh-map.ts";
export { NodeClient } from "./fetch/node-client.ts";
export type { NodeClientOptions } from "./fetch/node-client.ts";
export type { Resolver } from "./fetch/resolver-lookups.ts";
export { ProxySettings } from "./proxy/proxy-settings.ts";
export type { RuleId } from "./fetch/publisher-rules.ts";
export { FileSource } from "./file-source.ts";
export { openInput } from "./input-file.ts";
export type { Input, InputOptions, InputStreams } from "./input-file.ts";
export { Interrupt } from "./interrupt.ts";
export { openOutput, withOutput } from "./output-file.ts";
export type { Output, OutputStreams } from "./output-file.ts";
export { ScratchSpill } from "./scratch-spill.ts";
export { analyzeFiles } from "./analyze/analyze-files.ts";
export { MemgatorLogFile } from "./aggregate/memgator-log-file.ts";
export { openAggregator } from "./aggregate/open-aggregator.ts";
export type { OpenAggregator, OpenAggregatorOptions } from "./aggregate/open-aggregator.ts";
export { loadArchives } from "./route/load-archives.ts";
export { MapKeeper } from "./route/map-keeper.ts";
export type { MapKeeperOptions, MapState } from "./route/map-keeper.ts";
export { createUpstream } from "./upstream/archive-upstream.ts";
export type { ArchiveUpstream, UpstreamOptions } from "./upstream/archive-upstream.ts";

// Types that the signatures above refer to.
export type { AnalyzeFilesOptions } from "./analyze/analyze-files.ts";
export type { Sweep } from "./evaluate/evaluate-files.ts";
export type { FetchState, FetchedPart } from "./fetch/fetch-state.ts";
export type { InterruptOptions } from "./interrupt.ts";
export type { OpenMapFileOptions, WriteOptions } from "./map-files.ts";
export type { MapStreams } from "./map-sources.ts";
export type { OutputHead, OutputPlace } from "./output-file.ts";
export type { ProxiedAddress, Proxy } from "./proxy/proxy-settings.ts";
export type { ListState } from "./route/list-keeper.ts";
export type { LoadArchivesOptions } from "./route/load-archives.ts";
export type { CacheStore, CachedAnswer } from "./upstream/cached-answer.ts";
export type { ArchiveCounters } from "./upstream/counters.ts";
export type { CacheOptions } from "./upstream/http-cache.ts";
