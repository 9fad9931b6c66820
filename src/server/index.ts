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
