import { tmpdir } from "node:os";
import CachePolicy from "http-cache-semantics";
import { acceptedForm, discoverMap, isMapAt, webAddress } from "./discover.ts";
import type { HttpClient } from "../../http/http-client.ts";
import type { MapGuardOptions } from "../../maps/map-guard.ts";
import { isMementoMapError } from "../../errors.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import { type Interrupt, interruptible } from "../../interruption.ts";
import { lockFile, readJson, writeJson } from "../../files/shared-files.ts";
import type { ProxySettings } from "../../http/proxy.ts";
import { removeAbandoned, withTempDir } from "../../files/scratch.ts";
import {
  download,
  type Download,
  fileSize,
  type FetchState,
  forget,
  keptHeaders,
  partPaths,
  statePath,
} from "./download.ts";
import { NodeClient } from "../../http/node-client.ts";
import { fetchPages, openDownload, takeMap } from "./take-map.ts";

export interface FetchMapOptions extends MapGuardOptions {
  /** The archive of the map, if another site publishes it. */
  readonly archive?: string | undefined;
  /** Whether the address is that of the map: no discovery, or with `if-map` only if no map is there. */
  readonly isDirect?: boolean | "if-map" | undefined;
  /** Whether to request the packed form of the map, if the server has one; default false. */
  readonly packed?: boolean | undefined;
  /** Whether servers may redirect to private addresses; default false. */
  readonly allowsPrivate?: boolean | undefined;
  /** The proxies to use; default none. */
  readonly proxies?: ProxySettings | undefined;
  /** Default a `NodeClient` that trusts the origin of the address. */
  readonly client?: HttpClient | undefined;
  /** Maximum bytes of the map, compressed and decompressed; default 16 GiB. */
  readonly maxBytes?: number | undefined;
  /** Default 10,000. */
  readonly maxPages?: number | undefined;
  /** Number of retries after a broken connection or a busy server; default 4. */
  readonly retries?: number | undefined;
  /** The first pause before a retry; it doubles each time. Default 1 s. */
  readonly retryDelayMs?: number | undefined;
  /** Called when the server requests a pause of more than two minutes; the fetch then fails. */
  readonly onToldToWait?: ((ms: number) => void) | undefined;
  /** Fetches the map even if it is fresh or unchanged, and replaces any existing map. */
  readonly isForced?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly interrupt?: Interrupt | undefined;
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/** The result of a fetch. */
export interface FetchResult {
  readonly status: "fetched" | "unchanged";
  /** Where the map is published. */
  readonly url: string;
  readonly method: FetchState["method"];
  /** Bytes of the map's file. */
  readonly bytes: number;
  readonly pages: number;
  /** How long it is fresh, by RFC 9111. */
  readonly freshForMs: number;
  /** Anomalies that are no reason to reject the map. */
  readonly warnings: readonly string[];
}

const DEFAULT_MAX_BYTES = 16 * 2 ** 30;
/** The headers that a 304 may update. */
const CACHE_HEADERS = ["cache-control", "expires", "date", "age", "etag", "last-modified"];

/**
 * Discovers the map of an archive and downloads it to a file, unless the file is current.
 *
 * The map is downloaded beside the file, joined from its pages if it has some, and checked line by
 * line (packed ones part by part); only then is the file replaced, in one step. If anything fails, the
 * old map stays. A small file beside the map stores tags and freshness. Memory: a few chunks.
 *
 * Concurrent fetches to one file would corrupt each other's download: the second is rejected.
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

  /** Checks that the file can be written before sending any request. */
  async run(): Promise<FetchResult> {
    await fileSize(this.#target);
    const unlock = await lockFile(this.#target, this.#options.interrupt);
    try {
      await removeAbandoned(tmpdir());
      const held = await this.#heldState();
      const current = held === undefined ? undefined : await this.#refresh(held);
      return current ?? (await this.#fetch(await this.#place()));
    } finally {
      unlock();
    }
  }

  /** The state of the file, if it is unchanged since it was fetched. */
  async #heldState(): Promise<FetchState | undefined> {
    const { isForced, archive = this.#address } = this.#options;
    if (isForced === true) return undefined;
    const state = await readJson<FetchState>(statePath(this.#target));
    const isThis = state?.address === this.#address && state.archive === webAddress(archive).href;
    return isThis && state.bytes === (await fileSize(this.#target)) ? state : undefined;
  }

  /** Revalidates the file; undefined if there is another map to fetch. */
  async #refresh(held: FetchState): Promise<FetchResult | undefined> {
    let policy: CachePolicy | undefined;
    for (const { url, etag, lastModified } of held.parts) {
      if (etag === undefined && lastModified === undefined) return undefined;
      const condition: Record<string, string> =
        etag === undefined
          ? { "If-Modified-Since": lastModified ?? "" }
          : { "If-None-Match": etag };
      const { signal, packed } = this.#options;
      const headers = { ...condition, "Accept-Encoding": "gzip", ...acceptedForm(packed) };
      const response = await this.#client.request(url, { headers, signal });
      await response.discard();
      if (response.status !== 304) return undefined;
      policy ??= revalidated(held, keptHeaders(response, CACHE_HEADERS));
    }
    return policy === undefined ? undefined : this.#note("unchanged", held, policy, []);
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

  async #fetch({ url, archive, method }: Place): Promise<FetchResult> {
    const paths = partPaths(this.#target);
    const { interrupt, signal, isForced, maxShrink } = this.#options;
    const { maxBytes = DEFAULT_MAX_BYTES } = this.#options;
    const options = {
      ...this.#options,
      client: this.#client,
      maxBytes,
      retries: this.#options.retries ?? 4,
      retryDelayMs: this.#options.retryDelayMs ?? 1000,
      maxPages: this.#options.maxPages ?? 10_000,
    };
    const first = await download(url, paths, options).catch(async (error: unknown) => {
      // A full disk needs the space.
      if (isMementoMapError(error) && error.code === "MM_IO") await forget(paths);
      throw error;
    });
    try {
      return await withTempDir({ interrupt }, async (folder) => {
        const opened = await openDownload(paths.part, first, maxBytes);
        const pages = await fetchPages(opened, folder, options);
        const headers = await takeMap(pages, this.#target, {
          maxShrink: isForced === true ? 1 : maxShrink,
          maxBytes,
          interrupt,
          signal,
        });
        await forget(paths);
        const bytes = (await fileSize(this.#target)) ?? 0;
        const parts = pages.map(({ fetched }) => fetched.part);
        const state = { address: this.#address, archive, method, parts, bytes };
        return this.#note("fetched", state, policyOf(first), warningsOf(headers, archive));
      });
    } catch (error) {
      // A rejected download is useless to the next run, and a full disk needs its space.
      if (signal?.aborted !== true && !isInterruption(error)) await forget(paths);
      throw error;
    }
  }

  /** Stores the state of the file for the next run. */
  async #note(
    status: FetchResult["status"],
    file: Omit<FetchState, "policy">,
    policy: CachePolicy,
    warnings: readonly string[],
  ): Promise<FetchResult> {
    const state: FetchState = { ...file, policy: policy.toObject() };
    await writeJson(statePath(this.#target), state, this.#options.interrupt);
    const { method, bytes, parts } = file;
    const freshForMs = policy.timeToLive();
    return { status, url: parts[0].url, method, bytes, pages: parts.length, freshForMs, warnings };
  }
}

function warningsOf({ id }: UkvsHeaders, archive: string): string[] {
  if (id === undefined) return ["the map names no archive (!id)"];
  const isSame = URL.canParse(id) && new URL(id).host === new URL(archive).host;
  return isSame ? [] : [`the map names another archive (!id is ${id}) than ${archive}`];
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
