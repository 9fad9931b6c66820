import type { IncomingMessage, ServerResponse } from "node:http";
import type { Publisher } from "./publisher.ts";

/** The request handler of Express, Connect and similar frameworks. */
export type Middleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Publishes maps within a server made with Express or the like.
 *
 * Install it before any body parser. It answers the paths of the publisher, and adds the link to the
 * map to every other response.
 *
 * @example
 * ```ts
 * import { generateMapFile } from "mementomap/node";
 * import { createPublisher, mementoMapMiddleware } from "mementomap/server";
 *
 * await generateMapFile(["index.cdxj"], "map.ukvs");
 * const publisher = await createPublisher("map.ukvs", { prefix: "/mementomap" });
 * const middleware = mementoMapMiddleware(publisher); // app.use(middleware)
 * console.log(middleware.length);
 * await publisher.close();
 * ```
 * ```
 * 3
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
 * @example
 * ```ts
 * import { generateMapFile } from "mementomap/node";
 * import { createPublisher, mementoMapPlugin } from "mementomap/server";
 *
 * await generateMapFile(["index.cdxj"], "map.ukvs");
 * const publisher = await createPublisher("map.ukvs", { prefix: "/mementomap" });
 * const plugin = mementoMapPlugin(publisher); // await app.register(plugin)
 * console.log(plugin.length);
 * await publisher.close();
 * ```
 * ```
 * 1
 * ```
 */
export function mementoMapPlugin(publisher: Publisher): (app: FastifyLike) => Promise<void> {
  const plugin = async (app: FastifyLike): Promise<void> => {
    app.addHook("onRequest", async (request, reply) => {
      // Before Fastify decodes the path or reads the body: the publisher does both itself.
      if (publisher.handle(request.raw, reply.raw)) reply.hijack();
      else publisher.announce(request.raw, reply.raw);
    });
  };
  // For the whole server, not only for routes registered with the plugin.
  return Object.assign(plugin, { [Symbol.for("skip-override")]: true });
}
