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

/**
 * Takes an answer as it comes: `onAnswer`, then `onChunk` any number of times and `onEnd` where the body is wanted; or
 * `onFail` at any time, after which nothing is called. May be called before `listen` returns.
 */
export interface AnswerListener {
  /** Whether the body is wanted. Must not throw. */
  onAnswer(answer: UpstreamAnswer): boolean;
  /** What it throws ends the answer, and goes to `onFail`. */
  onChunk(chunk: Uint8Array): void;
  /** Must not throw, nor must `onFail`. */
  onEnd(): void;
  onFail(error: unknown): void;
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
  /** The same without promises, which take a tenth of the time of a lookup; default by `ask`. */
  listen?(request: UpstreamRequest, listener: AnswerListener): void;
  stateOf(archive: Archive): UpstreamState;
  /** Whether an endpoint that the archive has is dormant; not when it is time to probe it. */
  isDormant(archive: Archive, endpoint: Endpoint): boolean;
}

/** Has an upstream that gives promises call a listener. */
export async function listenByAsking(
  upstream: Upstream,
  request: UpstreamRequest,
  listener: AnswerListener,
): Promise<void> {
  try {
    const answer = await upstream.ask(request);
    if (!listener.onAnswer(answer)) {
      answer.discard();
      return;
    }
    await answer.read((chunk) => listener.onChunk(chunk));
  } catch (error) {
    listener.onFail(error);
    return;
  }
  listener.onEnd();
}

/** Told of an abort: a function, or an object as DOM has them. */
export type StopListener = (() => void) | { handleEvent(): void };

/** What tells that an answer is not wanted any more: an `AbortSignal`, or something lighter. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: StopListener): void;
  removeEventListener(type: "abort", listener: StopListener): void;
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
  /** Few, so that one is soon found. */
  #listeners: StopListener[] = [];

  addEventListener(_type: "abort", listener: StopListener): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: StopListener): void {
    const at = this.#listeners.indexOf(listener);
    if (at === -1) return;
    // The last takes its place.
    const last = this.#listeners.pop();
    if (last !== undefined && at < this.#listeners.length) this.#listeners[at] = last;
  }

  /** Tells all who listen, once. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) {
      if (typeof listener === "function") listener();
      else listener.handleEvent();
    }
  }
}
