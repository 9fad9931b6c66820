import { rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { basename } from "node:path";
import { MementoMapError, quote } from "../../errors.ts";
import { makeTempDir } from "../../files/scratch.ts";
import { availableEncodings, EncodedCopies } from "./encoded-copies.ts";
import { type Exchange, Site } from "./site.ts";
import { HostedMap } from "./hosted-map.ts";
import {
  DEFAULT_PUBLISHER_LIMITS,
  type PublisherLimits,
  type RateLimit,
  type RequestHandler,
} from "../../http/listen.ts";
import { type Log, requestEntry, SILENT_LOG } from "../../http/log.ts";
import { Metrics } from "../../http/metrics.ts";
import { type Encoding, INTERNAL_ERROR, notFound, sendProblem } from "../../http/send.ts";
import { mapMetrics } from "./answers.ts";
import { findMonitoringRoute, findRoute, type Route } from "./routes.ts";
import { pathPrefix, splitTarget, type Target } from "../../http/target.ts";
import { type ClientView, TrustedProxies } from "./trusted-proxies.ts";

/** A map to publish: its file, or its file and the name it has in `/maps/{id}`. */
export type PublishedMap = string | { readonly path: string; readonly id: string };

/** How maps are published. Every member but the maps may be left out. */
export interface PublisherOptions {
  /** The first is the map of this host's own archive, unless `isThirdParty`. */
  readonly maps: readonly PublishedMap[];
  /** The public address of the site; links are relative without it. */
  readonly base?: string | undefined;
  /** What comes before `/`, `/lookup`, `/maps`, …; default nothing. `/.well-known/mementomap` stays. */
  readonly prefix?: string | undefined;
  /** Whether requests may come without the prefix, as from a proxy that takes it off; default false. */
  readonly isPrefixOptional?: boolean | undefined;
  /** Whether all maps are of other archives. */
  readonly isThirdParty?: boolean | undefined;
  /**
   * What a URI is written behind to look at it in the archive, such as
   * `https://archive.example.org/web/`; the page links there. A map can say so itself, as
   * `replay` of its `!meta`.
   */
  readonly replay?: string | undefined;
  /** How long clients may use a map without asking again; default 3600 seconds. */
  readonly maxAgeSeconds?: number | undefined;
  /** Records of a page at most; default 50,000. */
  readonly pageRecords?: number | undefined;
  /** Maps up to this size are held in memory for lookups; larger are searched. Default 64 MiB. */
  readonly maxIndexBytes?: number | undefined;
  /** The share of its mementos that a new version of a map may have lost; default a half. */
  readonly maxShrink?: number | undefined;
  /** Where compressed copies are kept; default a scratch folder that is removed by `close`. */
  readonly cacheFolder?: string | undefined;
  /** The codings to offer; default all that can be made here. */
  readonly encodings?: readonly Encoding[] | undefined;
  /** How often files are looked at for a new version; default every 2 seconds, 0 for never. */
  readonly reloadEveryMs?: number | undefined;
  readonly limits?: Partial<PublisherLimits> | undefined;
  readonly rateLimit?: RateLimit | undefined;
  /** Proxies whose word about clients is taken; default none. See `TrustedProxies`. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Whether `/metrics` is answered among the other paths; default true. See `monitoring`. */
  readonly servesMetrics?: boolean | undefined;
  readonly log?: Log | undefined;
}

/**
 * Publishes maps over HTTP: the maps and their pages, lookups, and a page about them.
 *
 * It knows requests and responses of `node:http` and nothing of ports, so that it can live in any
 * server. Memory: maps up to `maxIndexBytes`, and a chunk per request.
 */
export class Publisher {
  readonly site: Site;
  readonly metrics: Metrics = new Metrics();
  readonly #options: PublisherOptions;
  readonly #limits: PublisherLimits;
  readonly #log: Log;
  readonly #cacheControl: string;
  readonly #scratchFolder: string;
  readonly #proxies: TrustedProxies;
  readonly #timer: NodeJS.Timeout | undefined;

  private constructor(site: Site, options: PublisherOptions, scratchFolder: string) {
    this.site = site;
    this.#options = options;
    this.#limits = { ...DEFAULT_PUBLISHER_LIMITS, ...options.limits };
    this.#log = options.log ?? SILENT_LOG;
    this.#cacheControl = `public, max-age=${options.maxAgeSeconds ?? 3600}`;
    this.#scratchFolder = scratchFolder;
    this.#proxies = new TrustedProxies(options.trustedProxies);
    for (const metric of mapMetrics(site)) this.metrics.read(metric);
    const every = options.reloadEveryMs ?? 2000;
    if (every > 0) this.#timer = setInterval(() => this.#reload(), every).unref();
  }

  /**
   * Opens the maps, and reads each of them through.
   *
   * @throws MM_USAGE without maps or with two of one name; what is wrong with a map or its file.
   */
  static async open(options: PublisherOptions): Promise<Publisher> {
    const named = options.maps.map(withName);
    checkNames(named);
    const scratchFolder = await makeTempDir();
    const maps: HostedMap[] = [];
    try {
      for (const { id, path } of named) {
        const folder = options.cacheFolder ?? scratchFolder;
        maps.push(
          await HostedMap.open({
            id,
            path,
            scratchFolder,
            copies: new EncodedCopies(folder, { keepsFiles: options.cacheFolder !== undefined }),
            encodings: options.encodings ?? availableEncodings(),
            pageRecords: options.pageRecords ?? 50_000,
            maxIndexBytes: options.maxIndexBytes ?? 64 * 2 ** 20,
            maxShrink: options.maxShrink,
            log: options.log ?? SILENT_LOG,
          }),
        );
      }
    } catch (error) {
      for (const map of maps) await map.close();
      await rm(scratchFolder, { recursive: true, force: true });
      throw error;
    }
    const { base, replay, isThirdParty = false } = options;
    const prefix = pathPrefix(options.prefix);
    const site = new Site({ maps, base, prefix, isThirdParty, replay });
    return new Publisher(site, options, scratchFolder);
  }

  /**
   * Answers a request if it is for one of the paths published here; false, with nothing done, if it
   * is not.
   */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const target = splitTarget(rawTarget(request));
    const route = this.#route(target.path);
    if (route === undefined) return false;
    if (route.isMetrics === true && this.#options.servesMetrics === false) return false;
    this.#answer(this.#exchange(request, response, target), route);
    return true;
  }

  /** Answers `/metrics` and `/health` and nothing else: for a port that the public does not reach. */
  get monitoring(): RequestHandler {
    return {
      handle: (request, response) => {
        const target = splitTarget(rawTarget(request));
        const route = findMonitoringRoute(target.path);
        if (route === undefined) return false;
        this.#answer(this.#exchange(request, response, target), route);
        return true;
      },
      handleUnknown: (request, response) => this.handleUnknown(request, response),
    };
  }

  /** Answers a request that nothing else answers: 404, with a link to the map. */
  handleUnknown(request: IncomingMessage, response: ServerResponse): void {
    const target = splitTarget(rawTarget(request));
    this.#answer(this.#exchange(request, response, target), { answer: nothingHere });
  }

  /** Sets what every response of the site carries: the link to the map, and who may read it. */
  setHeaders(request: IncomingMessage, response: ServerResponse): void {
    this.#setHeaders(this.#view(request), response);
  }

  #setHeaders(client: ClientView, response: ServerResponse): void {
    response.setHeader("Link", this.site.linkHeader(client));
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Access-Control-Expose-Headers", EXPOSED_HEADERS);
    response.setHeader("X-Content-Type-Options", "nosniff");
  }

  /** Adds the link to the map to a response that something else makes. */
  announce(request: IncomingMessage, response: ServerResponse): void {
    response.appendHeader("Link", this.site.linkHeader(this.#view(request)));
  }

  /** Looks for new versions now. */
  async reload(): Promise<void> {
    for (const map of this.site.maps) await map.check();
  }

  /** Stops looking for new versions, closes the maps, removes scratch files. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const map of this.site.maps) await map.close();
    await rm(this.#scratchFolder, { recursive: true, force: true });
  }

  #route(path: string): Route | undefined {
    const route = findRoute(path, this.site.prefix);
    if (route !== undefined || this.#options.isPrefixOptional !== true) return route;
    return findRoute(path, "");
  }

  /** How a client sees the site. What a proxy takes off comes before what it leaves. */
  #view(request: IncomingMessage): ClientView {
    const view = this.#proxies.view(request);
    const { prefix } = this.site;
    const isKept = splitTarget(rawTarget(request)).path.startsWith(`${prefix}/`);
    if (view.prefix === "" || view.prefix === prefix) return { ...view, prefix };
    return { ...view, prefix: isKept ? view.prefix + prefix : view.prefix };
  }

  #exchange(request: IncomingMessage, response: ServerResponse, target: Target): Exchange {
    return {
      request,
      response,
      isHead: request.method === "HEAD",
      client: this.#view(request),
      path: target.path,
      query: target.query,
      site: this.site,
      metrics: this.metrics,
      limits: this.#limits,
      log: this.#log,
      cacheControl: this.#cacheControl,
      route: "other",
    };
  }

  #answer(exchange: Exchange, { answer, isUnlimited }: Route): void {
    this.#watch(exchange);
    this.#setHeaders(exchange.client, exchange.response);
    if (isUnlimited !== true && this.#isTooFast(exchange)) return;
    try {
      const answered = answer(exchange);
      if (answered !== undefined) answered.catch((error: unknown) => this.#fail(exchange, error));
    } catch (error) {
      this.#fail(exchange, error);
    }
  }

  #reload(): void {
    this.reload().catch((error: unknown) => {
      this.#log.event("error", "reloading failed", { reason: stackOf(error) });
    });
  }

  #watch(exchange: Exchange): void {
    const { request, response, metrics, client } = exchange;
    const startedAt = performance.now();
    const { socket } = request;
    const sentBefore = socket.bytesWritten;
    response.once("close", () => {
      const ms = performance.now() - startedAt;
      const bytes = socket.bytesWritten - sentBefore;
      metrics.sentBytes.inc(bytes);
      metrics.request(exchange.route, response.statusCode, ms / 1000);
      this.#log.request?.(requestEntry(request, response, { bytes, ms, remote: client.address }));
    });
  }

  #isTooFast({ client, response, isHead }: Exchange): boolean {
    const wait = this.#options.rateLimit?.take(client.address) ?? 0;
    if (wait === 0) return false;
    const seconds = String(Math.max(1, Math.ceil(wait)));
    const detail = `too many requests from your address; wait ${seconds} s`;
    const headers = { "Retry-After": seconds };
    sendProblem(response, { status: 429, title: "Too many requests", detail, headers }, isHead);
    return true;
  }

  #fail({ request, response, isHead }: Exchange, error: unknown): void {
    // A client that goes away in the middle is not our fault.
    const isGone = request.destroyed && !request.complete;
    if (!isGone && !response.writableEnded) {
      this.#log.event("error", "request failed", {
        target: rawTarget(request),
        reason: stackOf(error),
      });
    }
    sendProblem(response, INTERNAL_ERROR, isHead);
  }
}

function nothingHere({ response, isHead }: Exchange): void {
  const detail = "there is nothing here; the map is where the Link header says";
  sendProblem(response, notFound(detail), isHead);
}

const EXPOSED_HEADERS =
  "Link, ETag, Last-Modified, Accept-Ranges, Content-Range, Content-Length, Repr-Digest, Retry-After";

/** Express takes its mount path off `url`, and keeps what was sent in `originalUrl`. */
function rawTarget(request: IncomingMessage & { readonly originalUrl?: string }): string {
  return request.originalUrl ?? request.url ?? "/";
}

function withName(map: PublishedMap): { path: string; id: string } {
  if (typeof map !== "string") return map;
  const id = basename(map)
    .replace(/(?:\.(?:ukvs|txt|gz|zst|mementomap))+$/i, "")
    .replaceAll(/[^\w.-]+/g, "-");
  return { path: map, id: id === "" ? "map" : id };
}

function checkNames(maps: readonly { readonly id: string }[]): void {
  if (maps.length === 0) throw new MementoMapError("MM_USAGE", "name at least one map to publish");
  for (const [index, { id }] of maps.entries()) {
    if (!/^[\w.-]{1,100}$/.test(id)) {
      throw new MementoMapError(
        "MM_USAGE",
        `${quote(id)} cannot be the name of a map; use letters, digits, "-", "_" and "."`,
      );
    }
    if (maps.findIndex((other) => other.id === id) !== index) {
      throw new MementoMapError(
        "MM_USAGE",
        `two maps are named ${quote(id)}; give one another name: other=PATH`,
      );
    }
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

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
 * const publisher = await Publisher.open({ maps: ["map.ukvs"], prefix: "/mementomap" });
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
 * const publisher = await Publisher.open({ maps: ["map.ukvs"], prefix: "/mementomap" });
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
