/**
 * Publishes maps over HTTP, as a server of its own or within an archive's server; and serves an
 * aggregator.
 *
 * @module
 */
export { listen } from "./listen.ts";
export type { Listening, ListenOptions, RequestHandler } from "./listen.ts";
export { DEFAULT_CONNECTION_LIMITS, DEFAULT_PUBLISHER_LIMITS } from "./limits.ts";
export type { ConnectionLimits, PublisherLimits } from "./limits.ts";
export { mementoMapMiddleware, mementoMapPlugin } from "./middleware.ts";
export type { FastifyLike, Middleware } from "./middleware.ts";
export { JsonLog, SILENT_LOG } from "./log.ts";
export type { Level, Log, RequestEntry } from "./log.ts";
export { Publisher } from "./publisher.ts";
export type { PublishedMap, PublisherOptions } from "./publisher.ts";
export { RateLimit } from "./rate-limit.ts";
export type { Encoding } from "./representation.ts";
export { writeStaticSite } from "./static-site.ts";
export type { StaticSite } from "./static-site.ts";
export { AggregatorService } from "./aggregator/aggregator-service.ts";
export type { AggregatorServiceOptions } from "./aggregator/aggregator-service.ts";
export { Monitor } from "./aggregator/monitor.ts";
export { ServiceStatus } from "./aggregator/service-status.ts";

// Types that the signatures above refer to.
export type { AggregatorMetrics } from "./aggregator/aggregator-metrics.ts";
export type { MementoClient } from "./aggregator/answer-proxy.ts";
export type {
  ServiceLoad,
  ServiceProcesses,
  StatusSnapshot,
  WorkerCounts,
} from "./aggregator/joined-status.ts";
export type { QuestionDeskOptions } from "./aggregator/question-desk.ts";
export type { ArchiveStatus, StatusSources, StatusView } from "./aggregator/service-status.ts";
export type { EncodedCopies } from "./encoded-copies.ts";
export type { HostedMap, HostedMapOptions } from "./hosted-map.ts";
export type { MapVersion, MapVersionOptions } from "./map-version.ts";
export type { Metrics, MetricsSnapshot, ReadMetric, RouteName, Sample } from "./metrics.ts";
export type { Representation } from "./representation.ts";
export type { Site, SiteMap, SiteOptions } from "./site.ts";
export type { ClientView } from "./trusted-proxies.ts";
