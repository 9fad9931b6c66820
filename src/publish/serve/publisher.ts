import { rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { MementoMapError } from "../../errors.ts";
import { makeTempDir } from "../../files/scratch.ts";
import { availableEncodings, EncodedCopies } from "./encoded-copies.ts";
import { DEFAULT_PUBLISHER_LIMITS, type Exchange, type PublisherLimits, Site } from "./site.ts";
import { checkNames, nameOfFile } from "./map-names.ts";
import { HostedMap, type MapBytes } from "./hosted-map.ts";
import { type Log, SILENT_LOG } from "../../http/log.ts";
import { Metrics } from "../../http/metrics.ts";
import { type Encoding, notFound, type ReplyHeaders } from "../../http/reply.ts";
import { nodeRequest } from "../../http/send.ts";
import {
  type BaseExchange,
  HttpService,
  type ServiceOptions,
  stackOf,
} from "../../http/service.ts";
import { webRequest } from "../../http/web-request.ts";
import { mapMetrics } from "./answers.ts";
import { ROUTES } from "./routes.ts";
import { pathPrefix } from "../../http/target.ts";

/**
 * A map to publish: its file, or its file or its bytes with a name for `/maps/{id}`. Files are checked
 * for new versions; bytes are not. `packed` is the file of the same map, packed: clients whose `Accept`
 * names its media type get it at the same address.
 */
export type PublishedMap =
  | string
  | {
      readonly path: string;
      readonly id?: string | undefined;
      readonly packed?: string | undefined;
    }
  | (MapBytes & { readonly id: string });

/** Options of a publisher. */
export interface PublisherOptions extends ServiceOptions {
  /** The public address of the site; links are relative without it. */
  readonly base?: string | undefined;
  /** Prefix of `/`, `/lookup`, `/maps`, …; default none. `/.well-known/mementomap` never has it. */
  readonly prefix?: string | undefined;
  /** Whether requests may lack the prefix, for example behind a proxy that strips it; default false. */
  readonly isPrefixOptional?: boolean | undefined;
  /** Whether all maps are of other archives. */
  readonly isThirdParty?: boolean | undefined;
  /**
   * Prefix of the URI of a page to view it in the archive, such as
   * `https://archive.example.org/web/`; the page links there. A map can state its own, as `replay` of
   * its `!meta`.
   */
  readonly replay?: string | undefined;
  /** How long clients may cache a map; default 3600 seconds. */
  readonly maxAgeSeconds?: number | undefined;
  /** Maximum records per page; default 50,000. */
  readonly pageRecords?: number | undefined;
  /**
   * Memory per map for lookups: maps up to this size are held completely, of larger ones the parts
   * used last. Default 64 MiB.
   */
  readonly maxIndexBytes?: number | undefined;
  /** The fraction of its mementos that a new version of a map may have lost; default 0.5. */
  readonly maxShrink?: number | undefined;
  /** Folder for compressed copies; default a scratch folder that `close` removes. */
  readonly cacheFolder?: string | undefined;
  /** The codings to offer; default all that are available here. */
  readonly encodings?: readonly Encoding[] | undefined;
  /** How often to check files for a new version; default every 2 seconds, 0 for never. */
  readonly reloadEveryMs?: number | undefined;
  readonly limits?: Partial<PublisherLimits> | undefined;
}

/**
 * Opens maps, reads each of them completely, and creates a publisher for them.
 *
 * The first is the map of this host's own archive, unless `isThirdParty`.
 *
 * @throws MM_USAGE without maps or with duplicate names; any fault of a map or its file.
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
  // Workers have no file system for it, and need none.
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
 * It answers requests and is independent of ports, so it runs in any server: as `fetch`, or as
 * `handle` of `node:http`. Memory: maps up to `maxIndexBytes`, and a chunk per request.
 */
export class Publisher extends HttpService<Exchange> {
  readonly site: Site;
  readonly #limits: PublisherLimits;
  readonly #log: Log;
  readonly #cacheControl: string;
  readonly #scratchFolder: string;
  readonly #timer: NodeJS.Timeout | undefined;

  /** @internal See {@link createPublisher}. */
  constructor(site: Site, options: PublisherOptions, scratchFolder: string) {
    super({
      ...options,
      routes: ROUTES,
      prefix: site.prefix,
      isPrefixOptional: options.isPrefixOptional ?? false,
      metrics: new Metrics(),
      allowedHeaders:
        "Accept, Content-Type, If-Match, If-None-Match, If-Modified-Since, If-Range, Range",
      unknown: notFound("no such path; the Link header points to the map"),
    });
    this.site = site;
    this.#limits = { ...DEFAULT_PUBLISHER_LIMITS, ...options.limits };
    this.#log = options.log ?? SILENT_LOG;
    this.#cacheControl = `public, max-age=${options.maxAgeSeconds ?? 3600}`;
    this.#scratchFolder = scratchFolder;
    for (const metric of mapMetrics(site)) this.metrics.read(metric);
    const every = options.reloadEveryMs ?? 2000;
    if (every > 0) this.#timer = setInterval(() => this.#reload(), every).unref();
  }

  /** The `Link` header with the address of the map, for responses that are created elsewhere. */
  linkHeader(request: Request): string {
    return this.site.linkHeader(this.open(webRequest(request)).client);
  }

  /** Adds the link to the map to a response that is created elsewhere. */
  announce(request: IncomingMessage, response: ServerResponse): void {
    const { client } = this.open(nodeRequest(request));
    response.appendHeader("Link", this.site.linkHeader(client));
  }

  /** Checks for new versions now. */
  async reload(): Promise<void> {
    for (const map of this.site.maps) await map.check();
  }

  /** Stops checking for new versions, closes the maps, removes scratch files. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const map of this.site.maps) await map.close();
    await removeFolder(this.#scratchFolder);
  }

  protected override exchange(base: BaseExchange): Exchange {
    return {
      ...base,
      site: this.site,
      metrics: this.metrics,
      limits: this.#limits,
      cacheControl: this.#cacheControl,
    };
  }

  /** The link to the map, and the CORS headers. */
  protected override headers({ client }: Exchange): ReplyHeaders {
    return {
      Link: this.site.linkHeader(client),
      "Access-Control-Expose-Headers": EXPOSED_HEADERS,
    };
  }

  #reload(): void {
    this.reload().catch((error: unknown) => {
      this.#log.event("error", "reloading failed", { reason: stackOf(error) });
    });
  }
}

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
