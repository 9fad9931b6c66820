import type { HttpHeaders } from "../http/http-client.ts";
import type { Archive } from "./route/archive.ts";

/** What an archive has of RFC 7089. Each may work while the other does not. */
export type Endpoint = "timemap" | "timegate";

/** What an archive is asked for. */
export interface UpstreamRequest {
  readonly archive: Archive;
  /** Whose health decides whether it is asked; default `timemap`. */
  readonly endpoint?: Endpoint | undefined;
  /**
   * Sent as it is: never decoded, normalised or collapsed. Only characters that no URI has, such as
   * `<` and `"`, are percent-encoded.
   */
  readonly url: string;
  readonly method?: "GET" | "HEAD" | undefined;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** TimeMaps yes; TimeGates no, whose redirect is the answer. */
  readonly followsRedirects: boolean;
  /** Whether the answer may come from the cache and go there. */
  readonly isCacheable: boolean;
  /** A body longer than this is cut off with MM_LIMIT. */
  readonly maxBytes: number;
  readonly signal?: StopSignal | undefined;
}

/** What an archive answered. */
export interface UpstreamAnswer {
  readonly status: number;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly origin: "network" | "cache" | "revalidated" | "coalesced";
  /**
   * Takes the body, decompressed, as it comes. Call this or `discard`, once.
   *
   * @throws MM_HTTP when it ends too early or takes too long, MM_LIMIT when it is too long.
   */
  read(take: (chunk: Uint8Array) => void): Promise<void>;
  /** Lets go of a body that is not wanted. */
  discard(): void;
}

/** Whether an endpoint can be asked now. */
export interface EndpointState {
  /** `probing`: was dormant, and one request finds out whether it is back. */
  readonly health: "awake" | "dormant" | "probing";
  readonly consecutiveFailures: number;
  /** When it will be asked again, in milliseconds since 1970. */
  readonly dormantUntil: number | undefined;
  readonly lastFailure: string | undefined;
}

/** Whether an archive can be asked now: its state is that of the endpoint that is worse off. */
export interface UpstreamState extends EndpointState {
  /** Undefined for endpoints that the archive does not have. */
  readonly endpoints: Readonly<Record<Endpoint, EndpointState | undefined>>;
  readonly requestsUnderWay: number;
  readonly requestsWaiting: number;
  /** How many requests may be under way at once: it adapts to the archive. */
  readonly concurrency: number;
}

/** Asks archives, as a good citizen: limits, timeouts, retries, caching and dormancy are behind it. */
export interface Upstream {
  /**
   * @throws MM_HTTP when there is no answer in time, MM_REFUSED when it may not be asked (a private
   *   address, an archive that is dormant), MM_BAD_URI.
   */
  ask(request: UpstreamRequest): Promise<UpstreamAnswer>;
  stateOf(archive: Archive): UpstreamState;
  /** Whether an endpoint that the archive has is dormant; not when it is time to probe it. */
  isDormant(archive: Archive, endpoint: Endpoint): boolean;
}

/** What tells that an answer is not wanted any more: an `AbortSignal`, or something lighter. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * Stops what was begun for one question.
 *
 * A dozen archives listen to it at every question: an `AbortSignal` takes longer for that than all
 * else that is done here, and warns of the number of listeners.
 */
export class Stop implements StopSignal {
  aborted = false;
  reason: unknown;
  readonly #listeners = new Set<() => void>();

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
  }

  /** Tells all who listen, once. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }
}
