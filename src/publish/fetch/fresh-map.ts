import { foreseenError, internalFault, type MementoMapError } from "../../errors.ts";
import { checkSignal } from "../../interruption.ts";
import { fetchMap, type FetchMapOptions, type FetchResult } from "./fetch-map.ts";

const DAY_MS = 86_400_000;

export interface FreshMapOptions extends FetchMapOptions {
  /** Minimum time between requests; default a minute. */
  readonly minIntervalMs?: number | undefined;
  /** Maximum time between requests, however long the map stays fresh; default a day. */
  readonly maxIntervalMs?: number | undefined;
  /** Called after each fetch that replaced the map. */
  readonly onFetched?: ((result: FetchResult) => void) | undefined;
  /** Called after each successful fetch, whether the map is new or not. */
  readonly onAnswered?: ((result: FetchResult) => void) | undefined;
  /** Called after each fetch that failed; the old map stays in use. */
  readonly onFailure?: ((error: MementoMapError) => void) | undefined;
  /** From 0 to 1; spreads the requests of many routers. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/**
 * Keeps a fresh copy of an archive's map in a file, for routers.
 *
 * The archive states how long a map is fresh (RFC 9111); it is queried again after that time, plus up
 * to a tenth to spread the requests of many routers. After failures the pauses double, and honour
 * `Retry-After`, up to a day. Its timer does not keep a process alive.
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

  /** The length of the pause that began after the last fetch. */
  get nextInMs(): number | undefined {
    return this.#nextInMs;
  }

  /** Fetches the map now, and from then on whenever it is due. */
  async start(): Promise<FetchResult | undefined> {
    return this.refresh();
  }

  /**
   * Queries the archive now. Returns undefined on failure, after calling `onFailure`.
   *
   * @throws MM_INTERRUPTED when the signal of the options is aborted, which stops all further requests;
   *   errors not caused by the archive or the network.
   */
  refresh(): Promise<FetchResult | undefined> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** Stops refreshing and cancels a pending fetch; waits until the file is no longer written to. */
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
        // A bug must be reported, but must not stop the refreshing.
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
      // Nothing awaits a timer: a rejection would end the process because of one map.
      this.refresh().catch((error: unknown) => {
        if (this.#options.signal?.aborted === true) return;
        this.#options.onFailure?.(internalFault(error, "MM_HTTP"));
      });
    }, this.#nextInMs).unref();
  }
}
