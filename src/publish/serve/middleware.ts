import type { IncomingMessage, ServerResponse } from "node:http";
import type { Publisher } from "./publisher.ts";

/** What Express, Connect and their kin call for each request. */
export type Middleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Publishes maps within a server made with Express or the like.
 *
 * Put it before anything that reads bodies. It answers the paths of the publisher and adds the link
 * to the map to every other response.
 *
 * ```ts
 * const publisher = await createPublisher("map.ukvs", { prefix: "/mementomap" });
 * app.use(mementoMapMiddleware(publisher));
 * ```
 */
export function mementoMapMiddleware(publisher: Publisher): Middleware {
  return (request, response, next) => {
    if (publisher.handle(request, response)) return;
    publisher.announce(request, response);
    next();
  };
}

/** The parts of Fastify that the plugin needs; the package does not depend on it. */
export interface FastifyLike {
  addHook(
    name: "onRequest",
    hook: (
      request: { readonly raw: IncomingMessage },
      reply: { readonly raw: ServerResponse; hijack(): unknown },
    ) => Promise<void>,
  ): unknown;
}

/**
 * Publishes maps within a Fastify server.
 *
 * ```ts
 * const publisher = await createPublisher("map.ukvs", { prefix: "/mementomap" });
 * app.register(mementoMapPlugin(publisher));
 * ```
 */
export function mementoMapPlugin(publisher: Publisher): (app: FastifyLike) => Promise<void> {
  const plugin = async (app: FastifyLike): Promise<void> => {
    app.addHook("onRequest", async (request, reply) => {
      // Before Fastify decodes the path or reads the body: both are the publisher's own affair.
      if (publisher.handle(request.raw, reply.raw)) reply.hijack();
      else publisher.announce(request.raw, reply.raw);
    });
  };
  // For the whole server, not only for routes that are registered with the plugin.
  return Object.assign(plugin, { [Symbol.for("skip-override")]: true });
}
