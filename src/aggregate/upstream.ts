import type { HttpHeaders } from "../discover/http-client.ts";
import type { Archive } from "../route/archive.ts";
import type { StopSignal } from "./stop-signal.ts";

/** What an archive is asked for. */
export interface UpstreamRequest {
  readonly archive: Archive;
  /** Sent byte for byte: never decoded, normalised or collapsed. */
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

/** Whether an archive can be asked now. */
export interface UpstreamState {
  /** `probing`: was dormant, and one request finds out whether it is back. */
  readonly health: "awake" | "dormant" | "probing";
  readonly consecutiveFailures: number;
  /** When it will be asked again, in milliseconds since 1970. */
  readonly dormantUntil: number | undefined;
  readonly lastFailure: string | undefined;
  readonly requestsUnderWay: number;
  readonly requestsWaiting: number;
}

/** Asks archives, as a good citizen: limits, timeouts, retries, caching and dormancy are behind it. */
export interface Upstream {
  /**
   * @throws MM_HTTP when there is no answer in time, MM_REFUSED when it may not be asked (a private
   *   address, an archive that is dormant), MM_BAD_URI.
   */
  ask(request: UpstreamRequest): Promise<UpstreamAnswer>;
  stateOf(archive: Archive): UpstreamState;
}
