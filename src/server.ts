/**
 * Serves maps over HTTP, as a standalone server or within an archive's server, and serves aggregators.
 *
 * @module
 */
export { listen } from "./http/listen.ts";
export { RateLimit } from "./http/rate-limit.ts";
export { JsonLog } from "./http/log.ts";
export { createAggregatorService } from "./library/create-aggregator-service.ts";
export { mementoMapMiddleware, mementoMapPlugin } from "./publish/serve/middleware.ts";
export { createPublisher } from "./publish/serve/publisher.ts";

// Types used in the signatures above.
export type { AggregatorHandlerOptions } from "./library/create-aggregator-service.ts";
export type { Listening, ListenOptions, RequestHandler } from "./http/listen.ts";
export type { Level, Log, RequestEntry } from "./http/log.ts";
export type { FastifyLike, Middleware } from "./publish/serve/middleware.ts";
export type { PublishedMap, Publisher, PublisherOptions } from "./publish/serve/publisher.ts";
