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

// Types that the signatures above refer to.
export type { AggregatorHandlerOptions } from "./library/create-aggregator-service.ts";
export type { Listening, ListenOptions, RequestHandler } from "./http/listen.ts";
export type { Level, Log, RequestEntry } from "./http/log.ts";
export type { FastifyLike, Middleware } from "./publish/serve/middleware.ts";
export type { PublishedMap, Publisher, PublisherOptions } from "./publish/serve/publisher.ts";
