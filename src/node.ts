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
export type {
  Budget,
  BudgetFileOptions,
  BudgetFileSummary,
} from "./map/compact/run/budget-files.ts";
export type { EvaluateOptions } from "./study/evaluate/evaluate-files.ts";
export type { Evaluation, EvaluationReport } from "./study/evaluate/evaluation.ts";
export type { OpenMap } from "./map/lookup/open-map.ts";
export type { CompactFileOptions, CompactFileSummary } from "./map/compact/run/compact-files.ts";
export type { GenerateSummary } from "./map/generate/generate-files.ts";
export type { GenerateOptions } from "./map/generate/plan.ts";
export { harvestIndex } from "./harvest/harvest-index.ts";
export type { HarvestOptions, HarvestSummary } from "./harvest/harvest-index.ts";
export type { PoliteOptions } from "./harvest/polite-client.ts";
export { sampleSearch } from "./harvest/sample-search.ts";
export type { SampleSearchOptions, SampleSearchSummary } from "./harvest/sample-search.ts";
export { recognizeCompression } from "./bytes/bytes.ts";
export { decompressed } from "./files/decompress.ts";
export type { Compression } from "./bytes/bytes.ts";
export type { DecompressOptions } from "./files/decompress.ts";
export { checkPublisher } from "./publish/fetch/check-publisher.ts";
export type { Finding } from "./publish/fetch/check-publisher.ts";
export { fetchMap } from "./publish/fetch/fetch-map.ts";
export type { FetchMapOptions, FetchResult } from "./publish/fetch/fetch-map.ts";
export { FreshMap } from "./publish/fetch/fetch-map.ts";
export type { FreshMapOptions } from "./publish/fetch/fetch-map.ts";
export { NodeClient } from "./http/node-client.ts";
export type { NodeClientOptions } from "./http/node-client.ts";
export { ProxySettings } from "./http/proxy.ts";
export type { RuleId } from "./publish/fetch/check-publisher.ts";
export { FileSource } from "./files/input-file.ts";
export { openInput } from "./files/input-file.ts";
export type { Input, InputOptions, InputStreams } from "./files/input-file.ts";
export { Interrupt } from "./interruption.ts";
export { openOutput, withOutput } from "./files/output-file.ts";
export type { Output, OutputStreams } from "./files/output-file.ts";
export { ScratchSpill } from "./files/scratch.ts";
export { analyzeFiles } from "./study/analyze/analyze-files.ts";
export { MemgatorLogFile } from "./aggregate/memgator-events.ts";
export { openAggregator } from "./aggregate/service/open-aggregator.ts";
export type { OpenAggregator, OpenAggregatorOptions } from "./aggregate/service/open-aggregator.ts";
export { loadArchives } from "./aggregate/route/archive-list.ts";
export { MapKeeper } from "./aggregate/route/map-keeper.ts";
export type { MapKeeperOptions, MapState } from "./aggregate/route/map-keeper.ts";
export { createUpstream } from "./aggregate/upstream/archive-upstream.ts";
export type { ArchiveUpstream, UpstreamOptions } from "./aggregate/upstream/archive-upstream.ts";

// Types that the signatures above refer to.
export type { AnalyzeFilesOptions } from "./study/analyze/analyze-files.ts";
export type { Sweep } from "./study/evaluate/evaluate-files.ts";
export type { FetchState, FetchedPart } from "./publish/fetch/download.ts";
export type { InterruptOptions } from "./interruption.ts";
export type { OpenMapFileOptions, WriteOptions } from "./map-files.ts";
export type { MapStreams } from "./map/lookup/open-map.ts";
export type { OutputHead, OutputPlace } from "./files/output-file.ts";
export type { ProxiedAddress, Proxy } from "./http/proxy.ts";
export type { ListState } from "./aggregate/route/archive-list.ts";
export type { LoadArchivesOptions } from "./aggregate/route/archive-list.ts";
export type { CacheStore, CachedAnswer } from "./aggregate/upstream/cache-store.ts";
export type { ArchiveCounters } from "./aggregate/upstream/archive-health.ts";
export type { CacheOptions } from "./aggregate/upstream/http-cache.ts";
