/**
 * Publishes maps over HTTP, as a server of its own or within an archive's server; and serves an
 * aggregator.
 *
 * @module
 */
export { listen } from "./http/listen.ts";
export { RateLimit } from "./http/rate-limit.ts";
export { JsonLog } from "./http/log.ts";
export { createAggregatorService } from "./library/create-aggregator-service.ts";
export { mementoMapMiddleware, mementoMapPlugin } from "./publish/serve/middleware.ts";
export { createPublisher } from "./publish/serve/publisher.ts";
export { writeStaticSite } from "./library/map-files.ts";

// Types that the signatures above refer to.
export type { AggregatorHandlerOptions } from "./library/create-aggregator-service.ts";
export type { ConnectionLimits, Listening, ListenOptions, RequestHandler } from "./http/listen.ts";
export type { Level, Log, RequestEntry } from "./http/log.ts";
export type { Encoding } from "./http/reply.ts";
export type { FastifyLike, Middleware } from "./publish/serve/middleware.ts";
export type { PublishedMap, Publisher, PublisherOptions } from "./publish/serve/publisher.ts";
export type { FetchClient } from "./http/web-request.ts";
export type { StaticSiteOptions } from "./library/map-files.ts";
export type { StaticSite } from "./publish/serve/static-site.ts";
export type { RecallBySpan, RecallHistory } from "./aggregate/recall-history.ts";
export type { ArchiveLearning, LearningReport } from "./aggregate/learn/learning-report.ts";
export type { LearningMark } from "./aggregate/learn/learner.ts";
export type { MeasuredRecall } from "./aggregate/learn/policy.ts";
export type { AggregatorServiceOptions, MementoClient } from "./aggregate/service/exchange.ts";
export type { AggregatorMetrics } from "./aggregate/service/aggregator-metrics.ts";
export type { ServiceProcesses } from "./aggregate/service/service-status.ts";
export type { WorkerCounts } from "./aggregate/service/cluster.ts";
export type {
  ArchiveStatus,
  StatusSources,
  StatusView,
} from "./aggregate/service/service-status.ts";
export type { EncodedCopies } from "./publish/serve/encoded-copies.ts";
export type { HostedMap, HostedMapOptions } from "./publish/serve/hosted-map.ts";
export type { MapBytes } from "./publish/serve/hosted-map.ts";
export type { MapQuestion, MapVersion, MapVersionOptions } from "./publish/serve/map-version.ts";
export type { Metrics, ReadMetric, Sample } from "./http/metrics.ts";
export type { Representation } from "./http/reply.ts";
export type { BaseExchange, HttpService, ServiceOptions } from "./http/service.ts";
export type { PublisherLimits, Site, SiteMap, SiteOptions } from "./publish/serve/site.ts";
export type { ClientView } from "./http/forwarded.ts";
export type { ByteSource } from "./bytes/byte-source.ts";
export type { FileSource } from "./files/input-file.ts";
export type { MapLookup } from "./lookup/map-lookup.ts";
export type { MapSurvey } from "./maps/map-survey.ts";
export type { Monitor } from "./aggregate/service/stream.ts";
export type { ServiceStatus } from "./aggregate/service/service-status.ts";
export type { SplitPlan } from "./maps/split-map.ts";
export type { SplitSize } from "./maps/split-map.ts";
export type { DomainShare } from "./maps/map-survey.ts";
export type { KeyFinder } from "./lookup/map-lookup.ts";
export type { MapPage } from "./maps/split-map.ts";
export type { PageMark } from "./ukvs/head.ts";
