import { rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { MementoMapError } from "../../errors.ts";
import { makeTempDir } from "../../files/scratch.ts";
import { availableEncodings, EncodedCopies } from "./encoded-copies.ts";
import { type Exchange, Site } from "./site.ts";
import { checkNames, nameOfFile } from "./map-names.ts";
import { HostedMap, type MapBytes } from "./hosted-map.ts";
import {
  DEFAULT_PUBLISHER_LIMITS,
  type PublisherLimits,
  type RateLimit,
  type RequestHandler,
} from "../../http/listen.ts";
import { type Log, requestEntry, SILENT_LOG } from "../../http/log.ts";
import { Metrics } from "../../http/metrics.ts";
import {
  ClientFault,
  type Encoding,
  type HttpRequest,
  INTERNAL_ERROR,
  notFound,
  problemReply,
  type Reply,
} from "../../http/reply.ts";
import { NodeRequest, sendProblem, sendReply } from "../../http/send.ts";
import { type FetchClient, WebRequest, webResponse } from "../../http/web-request.ts";
import { mapMetrics } from "./answers.ts";
import { findMonitoringRoute, findRoute, type Route } from "./publisher-routes.ts";
import { pathPrefix, splitTarget } from "../../http/target.ts";
import { type ClientView, TrustedProxies } from "./trusted-proxies.ts";

/**
 * A map to publish: its file, or its file or its bytes and the name it has in `/maps/{id}`. Files are
 * looked at for new versions; bytes are not. `packed` is the file of the same map, packed: clients whose
 * `Accept` names its media type get it at the same address.
 */
export type PublishedMap =
  | string
  | {
      readonly path: string;
      readonly id?: string | undefined;
      readonly packed?: string | undefined;
    }
  | (MapBytes & { readonly id: string });

/** How maps are published. */
export interface PublisherOptions {
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
  /**
   * How much of each map is held in memory for lookups: maps up to this size as a whole, of larger
   * ones the parts used last. Default 64 MiB.
   */
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
 * Opens maps, reads each of them through, and makes a publisher of them.
 *
 * The first is the map of this host's own archive, unless `isThirdParty`.
 *
 * @throws MM_USAGE without maps or with two of one name; what is wrong with a map or its file.
 *
 * @example
 * ```ts
 * import { generateMapFile } from "mementomap/node";
 * import { createPublisher } from "mementomap/server";
 *
 * await generateMapFile(["index.cdxj"], "map.ukvs");
 * const publisher = await createPublisher("map.ukvs"); // Bun.serve(publisher), Hono, Deno.serve …
 * const request = new Request("https://archive.example.org/lookup?url=http://nobody.example/");
 * const response = await publisher.fetch(request);
 * console.log(response.status, (await response.json()).present);
 * await publisher.close();
 * ```
 * ```
 * 200 false
 * ```
 */
export async function createPublisher(
  maps: PublishedMap | readonly PublishedMap[],
  options: PublisherOptions = {},
): Promise<Publisher> {
  const named = [maps].flat().map(withName);
  if (named.length === 0) throw new MementoMapError("MM_USAGE", "name at least one map to publish");
  checkNames(named);
  const encodings = options.encodings ?? availableEncodings();
  const hasFiles = named.some(({ origin }) => typeof origin === "string");
  // Workers have no place for it, and need none.
  const scratchFolder = hasFiles || encodings.length > 0 ? await makeTempDir() : "";
  const hosted: HostedMap[] = [];
  try {
    for (const { id, origin, packed } of named) {
      const folder = options.cacheFolder ?? scratchFolder;
      hosted.push(
        await HostedMap.open({
          id,
          origin,
          packed,
          scratchFolder,
          copies: new EncodedCopies(folder, { keepsFiles: options.cacheFolder !== undefined }),
          encodings,
          pageRecords: options.pageRecords ?? 50_000,
          maxIndexBytes: options.maxIndexBytes ?? 64 * 2 ** 20,
          maxShrink: options.maxShrink,
          log: options.log ?? SILENT_LOG,
        }),
      );
    }
  } catch (error) {
    for (const map of hosted) await map.close();
    await removeFolder(scratchFolder);
    throw error;
  }
  const { base, replay, isThirdParty = false } = options;
  const prefix = pathPrefix(options.prefix);
  const site = new Site({ maps: hosted, base, prefix, isThirdParty, replay });
  const reloadEveryMs = hasFiles ? options.reloadEveryMs : 0;
  return new Publisher(site, { ...options, reloadEveryMs }, scratchFolder);
}

/**
 * Publishes maps over HTTP: the maps and their pages, lookups, and a page about them.
 *
 * It answers requests and knows nothing of ports, so that it can live in any server: as `fetch`, or
 * as `handle` of `node:http`. Memory: maps up to `maxIndexBytes`, and a chunk per request.
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

  /** @internal See {@link createPublisher}. */
  constructor(site: Site, options: PublisherOptions, scratchFolder: string) {
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
   * Answers a request of a server whose handlers take a `Request`: Hono, Bun, Deno, workers.
   *
   * It need not be called as a method: `export default { fetch: publisher.fetch }`. Paths that are
   * not published here are answered with 404; see {@link publishes}.
   */
  readonly fetch: (request: Request, client?: FetchClient) => Promise<Response> = async (
    request,
    client,
  ) => {
    const startedAt = performance.now();
    const exchange = this.#exchange(new WebRequest(request, client));
    const reply = await this.#reply(exchange, this.#route(exchange.path) ?? UNKNOWN);
    return webResponse(reply, ({ bytes, error }) => {
      if (error !== undefined) this.#noteFailure(exchange, error);
      this.#noteRequest(exchange, { status: reply.status, bytes, startedAt });
    });
  };

  /** Whether a request is for one of the paths published here. */
  publishes(request: Request): boolean {
    return this.#route(splitTarget(new WebRequest(request).target).path) !== undefined;
  }

  /** The `Link` header that tells where the map is, for responses that something else makes. */
  linkHeader(request: Request): string {
    return this.site.linkHeader(this.#exchange(new WebRequest(request)).client);
  }

  /**
   * Answers a request of `node:http` if it is for one of the paths published here; false, with
   * nothing done, if it is not.
   */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const exchange = this.#exchange(new NodeRequest(request));
    return this.#answer(request, response, exchange, this.#route(exchange.path));
  }

  /**
   * As `handle`, for a path that another service has read: it and links in the answer are below
   * `prefix`.
   */
  handleBelow(
    request: IncomingMessage,
    response: ServerResponse,
    { path, prefix }: { readonly path: string; readonly prefix: string },
  ): boolean {
    const exchange = this.#exchange(new NodeRequest(request));
    const client = { ...exchange.client, prefix };
    return this.#answer(request, response, { ...exchange, path, client }, this.#route(path));
  }

  /** Answers `/metrics` and `/health` and nothing else: for a port that the public does not reach. */
  get monitoring(): RequestHandler {
    return {
      handle: (request, response) => {
        const exchange = this.#exchange(new NodeRequest(request));
        return this.#answer(request, response, exchange, findMonitoringRoute(exchange.path));
      },
      handleUnknown: (request, response) => this.handleUnknown(request, response),
    };
  }

  /** Answers a request that nothing else answers: 404, with a link to the map. */
  handleUnknown(request: IncomingMessage, response: ServerResponse): void {
    this.#answer(request, response, this.#exchange(new NodeRequest(request)), UNKNOWN);
  }

  /** Adds the link to the map to a response that something else makes. */
  announce(request: IncomingMessage, response: ServerResponse): void {
    const { client } = this.#exchange(new NodeRequest(request));
    response.appendHeader("Link", this.site.linkHeader(client));
  }

  /** Looks for new versions now. */
  async reload(): Promise<void> {
    for (const map of this.site.maps) await map.check();
  }

  /** Stops looking for new versions, closes the maps, removes scratch files. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const map of this.site.maps) await map.close();
    await removeFolder(this.#scratchFolder);
  }

  #route(path: string): Route | undefined {
    const { isPrefixOptional = false, servesMetrics = true } = this.#options;
    const route =
      findRoute(path, this.site.prefix) ?? (isPrefixOptional ? findRoute(path, "") : undefined);
    return route?.isMetrics === true && !servesMetrics ? undefined : route;
  }

  /** How a client sees the site. What a proxy takes off comes before what it leaves. */
  #view(request: HttpRequest, path: string): ClientView {
    const view = this.#proxies.view(request);
    const { prefix } = this.site;
    if (view.prefix === "" || view.prefix === prefix) return { ...view, prefix };
    const isKept = path.startsWith(`${prefix}/`);
    return { ...view, prefix: isKept ? view.prefix + prefix : view.prefix };
  }

  #exchange(request: HttpRequest): Exchange {
    const { path, query } = splitTarget(request.target);
    return {
      request,
      client: this.#view(request, path),
      path,
      query,
      site: this.site,
      metrics: this.metrics,
      limits: this.#limits,
      log: this.#log,
      cacheControl: this.#cacheControl,
      route: "other",
    };
  }

  /** Answers over `node:http`; false where there is no route. */
  #answer(
    request: IncomingMessage,
    response: ServerResponse,
    exchange: Exchange,
    route: Route | undefined,
  ): boolean {
    if (route === undefined) return false;
    const startedAt = performance.now();
    const { socket } = request;
    const sentBefore = socket.bytesWritten;
    response.once("close", () => {
      const bytes = socket.bytesWritten - sentBefore;
      this.#noteRequest(exchange, { status: response.statusCode, bytes, startedAt });
    });
    const failed = (error: unknown): void => {
      this.#noteFailure(exchange, error);
      sendProblem(response, INTERNAL_ERROR, request.method === "HEAD");
    };
    const reply = this.#reply(exchange, route);
    if (reply instanceof Promise) {
      reply.then((ready) => sendReply(response, ready)).catch(failed);
      return true;
    }
    try {
      sendReply(response, reply)?.catch(failed);
    } catch (error) {
      failed(error);
    }
    return true;
  }

  /** The whole reply to a request; a promise only where something has to be waited for. */
  #reply(exchange: Exchange, { answer, isUnlimited }: Route): Reply | Promise<Reply> {
    const failed = (error: unknown): Reply => {
      this.#noteFailure(exchange, error);
      return this.#complete(exchange, problemReply(INTERNAL_ERROR));
    };
    try {
      const refusal = isUnlimited === true ? undefined : this.#refusalOfRate(exchange);
      const reply = refusal ?? answer(exchange);
      return reply instanceof Promise
        ? reply.then((ready) => this.#complete(exchange, ready)).catch(failed)
        : this.#complete(exchange, reply);
    } catch (error) {
      return failed(error);
    }
  }

  /** Adds what every reply of the site carries: the link to the map, and who may read it. */
  #complete({ request, client }: Exchange, reply: Reply): Reply {
    const { status, body, release, closesConnection } = reply;
    const headers = {
      Link: this.site.linkHeader(client),
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Expose-Headers": EXPOSED_HEADERS,
      "X-Content-Type-Options": "nosniff",
      ...reply.headers,
    };
    const isHead = request.method === "HEAD";
    return { status, headers, body: isHead ? undefined : body, release, closesConnection };
  }

  #refusalOfRate({ client: { address } }: Exchange): Reply | undefined {
    // Servers other than `node:http` may not know the address.
    const wait = address === "" ? 0 : (this.#options.rateLimit?.take(address) ?? 0);
    if (wait === 0) return undefined;
    const seconds = String(Math.max(1, Math.ceil(wait)));
    return problemReply({
      status: 429,
      title: "Too many requests",
      detail: `too many requests from your address; wait ${seconds} s`,
      headers: { "Retry-After": seconds },
    });
  }

  #reload(): void {
    this.reload().catch((error: unknown) => {
      this.#log.event("error", "reloading failed", { reason: stackOf(error) });
    });
  }

  #noteRequest(
    { request, client, route }: Exchange,
    { status, bytes, startedAt }: { status: number; bytes: number; startedAt: number },
  ): void {
    const ms = performance.now() - startedAt;
    this.metrics.sentBytes.inc(bytes);
    this.metrics.request(route, status, ms / 1000);
    this.#log.request?.(requestEntry(request, { status, bytes, ms, remote: client.address }));
  }

  #noteFailure({ request }: Exchange, error: unknown): void {
    // A client that goes away in the middle, or sends what cannot be read, is not our fault.
    if (request.isAborted || error instanceof ClientFault) return;
    this.#log.event("error", "request failed", { target: request.target, reason: stackOf(error) });
  }
}

/** For paths that nothing is published at. */
const UNKNOWN: Route = {
  answer: () =>
    problemReply(notFound("there is nothing here; the map is where the Link header says")),
};

const EXPOSED_HEADERS =
  "Link, ETag, Last-Modified, Accept-Ranges, Content-Range, Content-Length, Repr-Digest, Retry-After";

interface NamedMap {
  readonly id: string;
  readonly origin: string | MapBytes;
  readonly packed?: string | undefined;
}

function withName(map: PublishedMap): NamedMap {
  if (typeof map === "string") return { id: nameOfFile(map), origin: map };
  if (!("path" in map)) return { id: map.id, origin: map };
  const { id = nameOfFile(map.path), path, packed } = map;
  return { id, origin: path, packed };
}

async function removeFolder(folder: string): Promise<void> {
  if (folder !== "") await rm(folder, { recursive: true, force: true });
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
