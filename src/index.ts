/**
 * Maps of what web archives hold: make, shrink, look up, merge.
 *
 * Everything here works on bytes and streams and runs in browsers as well as in Node. Files,
 * compression and threads are in `mementomap/node`.
 *
 * @module
 */
export { ERROR_CODES, isMementoMapError, MementoMapError } from "./errors.ts";
export type { ErrorCode, ErrorDetails, Position } from "./errors.ts";

export { surt } from "./surt/surt.ts";
export { surtBytes } from "./surt/surt.ts";
export { surtKey, uriKey } from "./surt/key.ts";
export { lookupKeys } from "./surt/key.ts";
export type { LookupKey } from "./surt/key.ts";

export {
  addFrequencies,
  formatFrequency,
  isPresent,
  parseFrequency,
  tryParseFrequency,
} from "./ukvs/frequency.ts";
export type { Bound, Count, Frequency } from "./ukvs/frequency.ts";
export { covers, formatDatetimeKey, parseDatetimeKey } from "./ukvs/record.ts";
export type { DatetimeRange } from "./ukvs/record.ts";
export {
  DEFAULT_FIELDS,
  formatHeader,
  formatHeaders,
  parseHeader,
  UkvsHeaders,
} from "./ukvs/header.ts";
export type { Fields, FormatHeadersOptions, Header } from "./ukvs/header.ts";
export { formatRecord, parseRecord } from "./ukvs/record.ts";
export type { UkvsRecord } from "./ukvs/record.ts";
export { readUkvs, UkvsReader } from "./ukvs/reader.ts";
export type { DuplicateKey, ReadUkvsOptions } from "./ukvs/reader.ts";
export type { RecordBatch } from "./ukvs/reader.ts";
export { UkvsWriter } from "./ukvs/writer.ts";
export type { ByteSink, WriteUkvsOptions } from "./ukvs/writer.ts";

export { generateMap } from "./map/generate/generate-map.ts";
export type { GeneratedMap, GenerateMapOptions, IndexSource } from "./map/generate/generate-map.ts";
export type { IndexCounts } from "./map/generate/index-reader.ts";
export type { Canonicalization, MapDescription } from "./map/generate/generate-map.ts";
export type { Damage, DamageLog } from "./bytes/damage.ts";
export { INPUT_FORMATS } from "./input/detect.ts";
export type { InputFormat, KeyTrust } from "./input/detect.ts";
export type { BackOff } from "./http/retry.ts";
export type { CdxMatch, CdxPaging, CdxQuery } from "./harvest/cdx-request.ts";
export { joinFilters, PAPER_PRESET } from "./input/filter.ts";
export type { CaptureFilter, FilterReason } from "./input/filter.ts";

export { compactMap } from "./map/compact/compact-map.ts";
export type { CompactMapOptions, CompactSummary } from "./map/compact/compact-map.ts";
export type { SpillStore } from "./files/scratch.ts";
export { WEIGHT_DEFAULTS } from "./map/compact/weight-policy.ts";
export type { PowerLaw, WeightOptions } from "./map/compact/weight-policy.ts";

export { fitChildren } from "./map/compact/fit.ts";
export type { ChildrenFit, DepthChildren } from "./map/compact/fit.ts";
export { DepthCounter } from "./map/compact/fit.ts";
export { parseDepthTable } from "./map/compact/fit.ts";
export { fitPowerLaw } from "./map/compact/fit.ts";
export type { Point, PowerLawFit } from "./map/compact/fit.ts";

export { MemorySource } from "./bytes/byte-source.ts";
export type { ByteSource } from "./bytes/byte-source.ts";
export type {
  Answer,
  KeyAnswer,
  KeyFinder,
  LookupOptions,
  MapLookup,
} from "./map/lookup/lookup.ts";
export { MapSearch } from "./map/lookup/map-search.ts";
export type { MapSearchOptions } from "./map/lookup/map-search.ts";
export { MemoryIndex } from "./map/lookup/memory-index.ts";

export { discoverMap } from "./publish/fetch/discover.ts";
export type {
  Attempt,
  DiscoverOptions,
  Discovery,
  DiscoveryMethod,
} from "./publish/fetch/discover.ts";
export { FetchClient } from "./http/http-client.ts";
export type { HttpClient, HttpHeaders, HttpRequest, HttpResponse } from "./http/http-client.ts";
export { HttpSource } from "./publish/fetch/http-source.ts";
export { PagedSearch } from "./publish/fetch/http-source.ts";

export type { Memento } from "./memento/memento-list.ts";
export { parseLinkHeader } from "./memento/links.ts";
export type { WebLink } from "./memento/links.ts";
export { MementoList } from "./memento/memento-list.ts";
export type { MementoSequence } from "./memento/memento-list.ts";
export { timeMapReader } from "./memento/timemap-reader.ts";
export type { TimeMapReaderOptions } from "./memento/timemap-reader.ts";
export type { TimeMapLink, TimeMapReader, TimeMapReading } from "./memento/timemap-reading.ts";
export type { TimeMapDocument, TimeMapFormat } from "./memento/timemap-document.ts";
export { writeTimeMap } from "./memento/write-timemap.ts";

export type { Archive } from "./aggregate/route/archive.ts";
export { parseArchiveList } from "./aggregate/route/archive.ts";
export type { Decision, Router, RouteReason, RouteRequest } from "./aggregate/route/decision.ts";
export { HitRates } from "./aggregate/route/decision.ts";
export { MapRouter } from "./aggregate/route/map-router.ts";
export type { MapRouterOptions } from "./aggregate/route/map-router.ts";
export type { RoutedMap } from "./aggregate/route/routed-map.ts";

export { Aggregator } from "./aggregate/aggregator.ts";
export type { AggregateRequest, Aggregation, AggregatorOptions } from "./aggregate/aggregator.ts";
export { mergeTimeMaps } from "./aggregate/merge.ts";
export type { MergedTimeMap } from "./aggregate/merge.ts";
export type {
  Upstream,
  UpstreamAnswer,
  UpstreamRequest,
  UpstreamState,
} from "./aggregate/upstream.ts";

export { diffMaps } from "./map/diff.ts";
export type { HeaderDifference, MapDifference, RecordDifference } from "./map/diff.ts";
export type { Fault, FaultCode } from "./map/faults.ts";
export { mergeMaps } from "./map/merge.ts";
export type { MergeSummary } from "./map/merge.ts";
export { pageChunks, planPages } from "./map/split.ts";
export type { MapPage, SplitPlan, SplitSize } from "./map/split.ts";
export { surveyMap } from "./map/survey.ts";
export type { DomainShare, MapSurvey, SurveyOptions } from "./map/survey.ts";
export { validateMap } from "./map/validate.ts";

export { sampleIndex } from "./study/sample/sample-archive.ts";
export { sampleLookups } from "./study/sample/sample-lookups.ts";
export type { SampleLookupOptions } from "./study/sample/sample-lookups.ts";
export type { SampleOptions } from "./study/sample/sample-archive.ts";

export { analyzeIndex } from "./study/analyze/analyze-index.ts";
export type { Analysis } from "./study/analyze/analysis.ts";

// Types that the signatures above refer to.
export type { ArchiveTallies, ArchiveTally } from "./aggregate/statistics.ts";
export type { AskLimits } from "./aggregate/ask-archive.ts";
export type { FailureReason } from "./http/retry.ts";
export type { MergeSource } from "./aggregate/merge.ts";
export type { MementoRange, MergeColumns, MergedMemento } from "./aggregate/merge.ts";
export type { Outcome, Result } from "./aggregate/session.ts";
export type { RoutingEstimate, RoutingReport, Share } from "./aggregate/statistics.ts";
export type {
  Clock,
  ProcessPlace,
  Session,
  SessionEnd,
  SessionObserver,
} from "./aggregate/session.ts";
export type { StopSignal } from "./aggregate/upstream.ts";
export type { Endpoint, EndpointState } from "./aggregate/upstream.ts";
export type {
  CaptureTables,
  ExactDepthRow,
  Fits,
  GrowthPoint,
  IndexStatistics,
  MalformedTables,
  MalformedValues,
  MementoDistribution,
  Method,
  Reduction,
  SubTreeRow,
  TldRow,
  TldTable,
  TopTables,
  YearRow,
} from "./study/analyze/analysis.ts";
export type { AnalyzeIndexOptions } from "./study/analyze/analyze-index.ts";
export type { LineCounts } from "./study/analyze/capture-tally.ts";
export type { DepthRow, ReductionCurve } from "./study/analyze/histogram.ts";
export type { HeapsFit } from "./study/analyze/histogram.ts";
export type { CurvePoint, DistributionSummary } from "./study/analyze/histogram.ts";
export type { SubTree } from "./study/analyze/holdings-tree.ts";
export type { Ranked } from "./study/analyze/bounded.ts";
export type { LineOptions } from "./bytes/lines.ts";
export type { Prior } from "./map/compact/budget/prior.ts";
export type { TracePoint } from "./study/evaluate/paper-maps.ts";
export type { AnswerCounts } from "./study/evaluate/evaluation.ts";
export type { TruthSummary } from "./study/evaluate/evaluation.ts";
export type { AsOfFreshness, LaterCounts } from "./study/evaluate/evaluation.ts";
export type { MadeBy } from "./study/evaluate/paper-maps.ts";
export type { SourceOptions } from "./map/generate/generate-map.ts";
export type { Match } from "./map/lookup/memory-index.ts";
export type { PageMark } from "./map/lookup/map-head.ts";
export type { SourceLinesOptions } from "./map/lookup/source-lines.ts";
export type { DiffOptions, NamedChunks } from "./map/diff.ts";
export type { OpenMapsOptions } from "./map/logical-map.ts";
export type { MapGuardOptions } from "./map/map-guard.ts";
export type { MergeOptions } from "./map/merge.ts";
export type { PageMembers } from "./map/split.ts";
export type { ValidateOptions } from "./map/validate.ts";
export type { TimeMapPaging } from "./memento/timemap-document.ts";
export type { TimeMapLimits } from "./memento/timemap-reading.ts";
export type { ArchiveRates, HitRate } from "./aggregate/route/decision.ts";
export type { MapSize } from "./ukvs/header.ts";
export type { MapSink } from "./ukvs/writer.ts";
