import { stat } from "node:fs/promises";
import CachePolicy from "http-cache-semantics";
import { acceptedForm, discoverMap, isMapAt, webAddress } from "./discover.ts";
import type { HttpClient } from "../../http/http-client.ts";
import type { MapGuardOptions } from "../../map/map-guard.ts";
import {
  foreseenError,
  internalFault,
  ioError,
  isMementoMapError,
  MementoMapError,
  systemCode,
} from "../../errors.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import { checkSignal, type Interrupt, interruptible } from "../../interruption.ts";
import { lockFile, readJson, writeJson } from "../../files/shared-files.ts";
import type { ProxySettings } from "../../http/proxy.ts";
import { removeAbandonedScratch, withTempDir } from "../../files/scratch.ts";
import {
  download,
  type Download,
  type FetchState,
  forget,
  keptHeaders,
  partPaths,
  statePath,
} from "./download.ts";
import { NodeClient } from "../../http/node-client.ts";
import { type DownloadedPage, fetchPages, pageOf, takeMap } from "./take-map.ts";

export interface FetchMapOptions extends MapGuardOptions {
  /** The archive whose map is wanted, where another site publishes it. */
  readonly archive?: string | undefined;
  /** The address is that of the map itself: nothing is discovered, or only if no map is there. */
  readonly isDirect?: boolean | "if-map" | undefined;
  /** Whether to ask for the packed form of the map, where the server has one; default false. */
  readonly packed?: boolean | undefined;
  /** Whether servers may lead to private addresses; default false. */
  readonly allowsPrivate?: boolean | undefined;
  /** Which requests go through which proxy; default none. */
  readonly proxies?: ProxySettings | undefined;
  /** Default a `NodeClient` that trusts the origin of the address. */
  readonly client?: HttpClient | undefined;
  /** Bytes of the map, compressed and decompressed; default 16 GiB. */
  readonly maxBytes?: number | undefined;
  /** Default 10,000. */
  readonly maxPages?: number | undefined;
  /** How often to go on after a connection that was cut, or a server that was busy; default 4. */
  readonly retries?: number | undefined;
  /** The first pause before going on; it doubles each time. Default 1 s. */
  readonly retryDelayMs?: number | undefined;
  /** Called when the server asks for a pause of more than two minutes; the fetch then fails. */
  readonly onToldToWait?: ((ms: number) => void) | undefined;
  /** Fetches the map even if it is fresh or unchanged, and takes it whatever it replaces. */
  readonly isForced?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly interrupt?: Interrupt | undefined;
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/** What became of a map. */
export interface FetchResult {
  readonly status: "fetched" | "unchanged";
  /** Where the map is published. */
  readonly url: string;
  readonly method: FetchState["method"];
  /** Bytes of the map's file. */
  readonly bytes: number;
  readonly pages: number;
  /** How long it may be used before it is asked for again, by RFC 9111. */
  readonly freshForMs: number;
  /** What is strange, and no reason to refuse the map. */
  readonly warnings: readonly string[];
}

const DEFAULT_MAX_BYTES = 16 * 2 ** 30;

/**
 * Discovers the map of an archive and brings it into a file, or finds that the file is current.
 *
 * The map is downloaded beside the file, put together from its pages if it has some, and checked
 * line by line (packed ones part by part); only then the file is replaced, in one step. Whatever fails before, the old map
 * stays. A small file beside it remembers tags and freshness. Memory: a few chunks.
 *
 * Two that fetch into one file at the same time would spoil each other's download: the second is
 * refused.
 *
 * @throws MM_NOT_FOUND, MM_HTTP, MM_REFUSED, MM_BAD_URI, MM_IO; MM_EMPTY and MM_SHRUNK when the map has
 *   lost too much of the one in the file; MM_INTERRUPTED
 *
 * @example
 * ```ts
 * import { fetchMap, generateMapFile } from "mementomap/node";
 * import { createPublisher, listen } from "mementomap/server";
 *
 * await generateMapFile(["index.cdxj"], "map.ukvs");
 * const publisher = await createPublisher("map.ukvs");
 * const server = await listen(publisher, { port: 0 });
 * const { status } = await fetchMap(server.url, "copy.ukvs");
 * console.log(status);
 * await server.stop();
 * await publisher.close();
 * ```
 * ```
 * fetched
 * ```
 */
export async function fetchMap(
  address: string,
  target: string,
  options: FetchMapOptions = {},
): Promise<FetchResult> {
  const site = webAddress(address);
  const fetchWith = (client: HttpClient): Promise<FetchResult> =>
    interruptible(options.signal, () => new Fetching(site.href, target, options, client).run());
  if (options.client !== undefined) return fetchWith(options.client);
  const { allowsPrivate, proxies } = options;
  const own = new NodeClient({ trustedOrigins: [site.origin], allowsPrivate, proxies });
  try {
    return await fetchWith(own);
  } finally {
    own.close();
  }
}

interface Place {
  readonly url: string;
  readonly archive: string;
  readonly method: FetchState["method"];
}

class Fetching {
  readonly #address: string;
  readonly #target: string;
  readonly #options: FetchMapOptions;
  readonly #client: HttpClient;

  constructor(address: string, target: string, options: FetchMapOptions, client: HttpClient) {
    this.#address = address;
    this.#target = target;
    this.#options = options;
    this.#client = client;
  }

  /** Finds out whether the file can be written before anybody is asked for anything. */
  async run(): Promise<FetchResult> {
    await sizeOf(this.#target);
    const unlock = await lockFile(this.#target, this.#options.interrupt);
    try {
      await removeAbandonedScratch();
      const held = await this.#heldState();
      const current = held === undefined ? undefined : await this.#refresh(held);
      return current ?? (await this.#fetch(await this.#place()));
    } finally {
      unlock();
    }
  }

  /** What is known of the file, if it is still the file that was fetched. */
  async #heldState(): Promise<FetchState | undefined> {
    if (this.#options.isForced === true) return undefined;
    const state = await readJson<FetchState>(statePath(this.#target));
    const archive = this.#options.archive ?? this.#address;
    if (state?.address !== this.#address || state.archive !== webAddress(archive).href) {
      return undefined;
    }
    return state.bytes === (await sizeOf(this.#target)) ? state : undefined;
  }

  /** Asks whether what is held is current; undefined if there is something new to fetch. */
  async #refresh(held: FetchState): Promise<FetchResult | undefined> {
    let policy: CachePolicy | undefined;
    for (const part of held.parts) {
      const answer = await this.#askWhetherCurrent(part);
      if (answer === undefined) return undefined;
      policy ??= revalidated(held, answer);
    }
    if (policy === undefined) return undefined;
    const state = { ...held, policy: policy.toObject() };
    await writeJson(statePath(this.#target), state, this.#options.interrupt);
    return {
      status: "unchanged",
      url: held.parts[0].url,
      method: held.method,
      bytes: held.bytes,
      pages: held.parts.length,
      freshForMs: policy.timeToLive(),
      warnings: [],
    };
  }

  /** The headers of a 304; undefined for any other answer. */
  async #askWhetherCurrent(
    part: FetchState["parts"][number],
  ): Promise<Record<string, string> | undefined> {
    const { etag, lastModified } = part;
    if (etag === undefined && lastModified === undefined) return undefined;
    const condition: Record<string, string> =
      etag === undefined ? { "If-Modified-Since": lastModified ?? "" } : { "If-None-Match": etag };
    const { signal, packed } = this.#options;
    const headers = { ...condition, "Accept-Encoding": "gzip", ...acceptedForm(packed) };
    const response = await this.#client.request(part.url, { headers, signal });
    await response.discard();
    if (response.status !== 304) return undefined;
    const names = ["cache-control", "expires", "date", "age", "etag", "last-modified"];
    return keptHeaders(response, names);
  }

  async #place(): Promise<Place> {
    const { archive, isDirect, signal } = this.#options;
    const hasMap =
      isDirect === "if-map" ? await isMapAt(this.#client, this.#address, signal) : isDirect;
    if (hasMap === true) {
      const about = archive === undefined ? this.#address : webAddress(archive).href;
      return { url: this.#address, archive: about, method: "direct" };
    }
    return discoverMap(this.#client, this.#address, { archive, signal });
  }

  async #fetch(place: Place): Promise<FetchResult> {
    const paths = partPaths(this.#target);
    const { maxBytes = DEFAULT_MAX_BYTES, interrupt } = this.#options;
    const options = {
      ...this.#options,
      client: this.#client,
      maxBytes,
      retries: this.#options.retries ?? 4,
      retryDelayMs: this.#options.retryDelayMs ?? 1000,
      maxPages: this.#options.maxPages ?? 10_000,
    };
    const first = await download(place.url, paths, options).catch(async (error: unknown) => {
      // A full disk needs the room.
      if (isMementoMapError(error) && error.code === "MM_IO") await forget(paths);
      throw error;
    });
    try {
      const page = await pageOf(paths.part, first, maxBytes);
      return await withTempDir({ interrupt }, async (folder) => {
        const pages = page === undefined ? undefined : await fetchPages(page, folder, options);
        return this.#take(place, first, pages, maxBytes);
      });
    } catch (error) {
      // A complete download that was refused is useless to the next run, and a full disk needs its room.
      const isAborted = this.#options.signal?.aborted === true;
      if (!isAborted && !isInterruption(error)) await forget(paths);
      throw error;
    }
  }

  async #take(
    place: Place,
    first: Download,
    pages: readonly DownloadedPage[] | undefined,
    maxBytes: number,
  ): Promise<FetchResult> {
    const paths = partPaths(this.#target);
    const { interrupt, signal, isForced, maxShrink } = this.#options;
    const headers = await takeMap(pages ?? paths.part, this.#target, {
      maxShrink: isForced === true ? 1 : maxShrink,
      url: first.part.url,
      maxBytes,
      interrupt,
      signal,
    });
    await forget(paths);
    const policy = policyOf(first);
    const bytes = (await sizeOf(this.#target)) ?? 0;
    const state: FetchState = {
      address: this.#address,
      archive: place.archive,
      method: place.method,
      parts: pages?.map(({ fetched }) => fetched.part) ?? [first.part],
      policy: policy.toObject(),
      bytes,
    };
    await writeJson(statePath(this.#target), state, interrupt);
    return {
      status: "fetched",
      url: first.part.url,
      method: place.method,
      bytes,
      pages: pages?.length ?? 1,
      freshForMs: policy.timeToLive(),
      warnings: warningsOf(headers, place.archive),
    };
  }
}

function warningsOf({ id }: UkvsHeaders, archive: string): string[] {
  if (id === undefined) return ["the map does not say which archive it is of"];
  const isSame = URL.canParse(id) && new URL(id).host === new URL(archive).host;
  return isSame ? [] : [`the map says that it is of ${id}, and was fetched as that of ${archive}`];
}

function policyOf({ part, status, headers }: Download): CachePolicy {
  const request = { url: part.url, method: "GET", headers: {} };
  const response = { status: status === 206 ? 200 : status, headers };
  return new CachePolicy(request, response, { shared: false });
}

function revalidated(held: FetchState, headers: Record<string, string>): CachePolicy {
  const request = { url: held.parts[0].url, method: "GET", headers: {} };
  const response = { status: 304, headers };
  return CachePolicy.fromObject(held.policy).revalidatedPolicy(request, response).policy;
}

function isInterruption(error: unknown): boolean {
  return isMementoMapError(error) && ["MM_INTERRUPTED", "MM_HTTP"].includes(error.code);
}

/** @throws MM_IO for a folder */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const stats = await stat(path);
    if (!stats.isDirectory()) return stats.size;
    throw new MementoMapError("MM_IO", "is a directory; name a file", {
      position: { source: path },
    });
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw ioError(error, path);
  }
}

const DAY_MS = 86_400_000;

export interface FreshMapOptions extends FetchMapOptions {
  /** Never ask more often than this; default a minute. */
  readonly minIntervalMs?: number | undefined;
  /** Ask at least this often, however long the archive says the map stays fresh; default a day. */
  readonly maxIntervalMs?: number | undefined;
  /** Called after each fetch that brought a new map. */
  readonly onFetched?: ((result: FetchResult) => void) | undefined;
  /** Called after each fetch that did not fail, whether the map is new or not. */
  readonly onAnswered?: ((result: FetchResult) => void) | undefined;
  /** Called after each fetch that failed; the old map stays in use. */
  readonly onFailure?: ((error: MementoMapError) => void) | undefined;
  /** From 0 to 1; spreads the requests of many routers. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/**
 * Keeps the map of an archive in a file, and the file fresh, for routers.
 *
 * The archive says for how long a map is fresh (RFC 9111); it is asked again when that time is over,
 * up to a tenth later, so that not all ask at once. After failures the pauses double, and are as long
 * as the archive wants (`Retry-After`), up to a day. A timer of it does not keep a process alive.
 *
 * @example
 * ```ts
 * import { FreshMap, generateMapFile } from "mementomap/node";
 * import { createPublisher, listen } from "mementomap/server";
 *
 * await generateMapFile(["index.cdxj"], "map.ukvs");
 * const publisher = await createPublisher("map.ukvs");
 * const server = await listen(publisher, { port: 0 });
 * const map = new FreshMap(server.url, "kept.ukvs", { onFetched: ({ pages }) => console.log(pages) });
 * await map.start(); // asks again whenever the map is due
 * await map.stop();
 * await server.stop();
 * await publisher.close();
 * ```
 * ```
 * 1
 * ```
 */
export class FreshMap {
  readonly address: string;
  readonly path: string;
  readonly #options: FreshMapOptions;
  readonly #stopping = new AbortController();
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #refreshing: Promise<FetchResult | undefined> | undefined;
  #nextInMs: number | undefined;

  constructor(address: string, path: string, options: FreshMapOptions = {}) {
    this.address = address;
    this.path = path;
    this.#options = options;
  }

  /** How long the pause is that was begun after the last fetch. */
  get nextInMs(): number | undefined {
    return this.#nextInMs;
  }

  /** Fetches the map now, and from then on whenever it is due. */
  async start(): Promise<FetchResult | undefined> {
    return this.refresh();
  }

  /**
   * Asks the archive now. Gives undefined when that failed, after `onFailure` was told.
   *
   * @throws MM_INTERRUPTED when the signal of the options is aborted, after which the archive is asked
   *   no more; errors that are not the archive's or the network's.
   */
  refresh(): Promise<FetchResult | undefined> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** Asks no more, and gives up what is under way; waits until the file is no longer written to. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error("stopped"));
    clearTimeout(this.#timer);
    // The caller of `refresh` gets the error.
    await this.#refreshing?.catch(() => undefined);
  }

  async #refresh(): Promise<FetchResult | undefined> {
    clearTimeout(this.#timer);
    const own = this.#stopping.signal;
    const { signal: given } = this.#options;
    const signal = given === undefined ? own : AbortSignal.any([own, given]);
    let toldMs = 0;
    const onToldToWait = (ms: number): void => {
      toldMs = ms;
      this.#options.onToldToWait?.(ms);
    };
    try {
      const options = { ...this.#options, onToldToWait, signal };
      const result = await fetchMap(this.address, this.path, options);
      this.#failures = 0;
      this.#schedule(result.freshForMs);
      this.#options.onAnswered?.(result);
      if (result.status === "fetched") this.#options.onFetched?.(result);
      return result;
    } catch (error) {
      if (own.aborted) return undefined;
      checkSignal(given);
      const foreseen = foreseenError(error, this.path);
      if (foreseen === undefined) {
        // A bug must not go unseen; nor may it be the last time that the map is asked for.
        this.#schedule(this.#options.maxIntervalMs ?? DAY_MS);
        throw error;
      }
      const { minIntervalMs = 60_000 } = this.#options;
      this.#schedule(Math.max(minIntervalMs * 2 ** this.#failures, toldMs));
      this.#failures += 1;
      this.#options.onFailure?.(foreseen);
      return undefined;
    }
  }

  #schedule(afterMs: number): void {
    const { minIntervalMs = 60_000, maxIntervalMs = DAY_MS, random = Math.random } = this.#options;
    const wanted = Math.min(Math.max(afterMs, minIntervalMs), maxIntervalMs);
    this.#nextInMs = Math.round(wanted * (1 + random() / 10));
    if (this.#stopping.signal.aborted || this.#options.signal?.aborted === true) return;
    this.#timer = setTimeout(() => {
      // Nobody awaits a timer: what would be thrown would end the process for one map.
      this.refresh().catch((error: unknown) => {
        if (this.#options.signal?.aborted === true) return;
        this.#options.onFailure?.(internalFault(error, "MM_HTTP"));
      });
    }, this.#nextInMs).unref();
  }
}
