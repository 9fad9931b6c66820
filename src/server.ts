/**
 * Publishes maps over HTTP, as a server of its own or within an archive's server; and serves an
 * aggregator.
 *
 * @module
 */
export { listen } from "./http/listen.ts";
export type { Listening, ListenOptions, RequestHandler } from "./http/listen.ts";
export { DEFAULT_CONNECTION_LIMITS, DEFAULT_PUBLISHER_LIMITS } from "./http/listen.ts";
export type { ConnectionLimits, PublisherLimits } from "./http/listen.ts";
export { mementoMapMiddleware, mementoMapPlugin } from "./publish/serve/middleware.ts";
export type { FastifyLike, Middleware } from "./publish/serve/middleware.ts";
export { JsonLog, SILENT_LOG } from "./http/log.ts";
export type { Level, Log, RequestEntry } from "./http/log.ts";
export { createPublisher } from "./publish/serve/publisher.ts";
export type { PublishedMap, Publisher, PublisherOptions } from "./publish/serve/publisher.ts";
export type { FetchClient } from "./http/web.ts";
export { RateLimit } from "./http/listen.ts";
export type { Encoding } from "./http/reply.ts";
export { writeStaticSite } from "./publish/serve/static-site.ts";
export type { StaticSite } from "./publish/serve/static-site.ts";
export { AggregatorService } from "./aggregate/service/aggregator-service.ts";
export type { AggregatorServiceOptions } from "./aggregate/service/aggregator-service.ts";
export { Monitor } from "./aggregate/memgator-events.ts";
export { ServiceStatus } from "./aggregate/service/service-status.ts";

// Types that the signatures above refer to.
export type { AggregatorMetrics } from "./aggregate/service/aggregator-metrics.ts";
export type { MementoClient } from "./aggregate/service/answer-proxy.ts";
export type {
  ServiceLoad,
  ServiceProcesses,
  StatusSnapshot,
  WorkerCounts,
} from "./aggregate/service/service-status.ts";
export type { AggregationOptions } from "./aggregate/service/routes.ts";
export type { TimeMapOptions } from "./aggregate/service/answer-timemap.ts";
export type { ProxyOptions } from "./aggregate/service/answer-proxy.ts";
export type {
  ArchiveStatus,
  StatusSources,
  StatusView,
} from "./aggregate/service/service-status.ts";
export type { EncodedCopies } from "./publish/serve/encoded-copies.ts";
export type { HostedMap, HostedMapOptions } from "./publish/serve/hosted-map.ts";
export type { MapQuestion, MapVersion, MapVersionOptions } from "./publish/serve/hosted-map.ts";
export type {
  Metrics,
  MetricsSnapshot,
  ReadMetric,
  RouteName,
  Sample,
  Timings,
  TimingsOptions,
} from "./http/metrics.ts";
export type { Representation } from "./http/reply.ts";
export type { Site, SiteMap, SiteOptions } from "./publish/serve/site.ts";
export type { ClientView } from "./publish/serve/trusted-proxies.ts";
