import { STATUS_CODES, validateHeaderValue } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { httpFailure, httpRefusal, type HttpResponse } from "../http/http-client.ts";
import { isMementoMapError, MementoMapError, quote, systemCode } from "../errors.ts";
import { looksLikeHtml } from "../bytes/bytes.ts";
import {
  type BackOff,
  DEFAULT_BACK_OFF,
  isTemporary,
  LONGEST_ASKED_MS,
  retryAfterMs,
  waitBefore,
} from "../http/retry.ts";
import { serverAddress, whereTheApiIs } from "./cdx-request.ts";
import { decompressed } from "../files/decompress.ts";
import { NodeClient } from "../http/node-client.ts";
import { checkSignal, type Interrupt } from "../interruption.ts";
import type { ProxySettings } from "../http/proxy.ts";
import { codingOf } from "../http/body-decoder.ts";
import { isPassingFault } from "../http/network-failure.ts";

export interface PoliteOptions {
  /** Minimum time between the end of a request and the start of the next; 1,000 by default. */
  readonly intervalMs?: number | undefined;
  readonly backOff?: BackOff | undefined;
  /** Timeout for the response headers and between chunks; 60,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Identifies the client, with an address for contact. */
  readonly userAgent?: string | undefined;
  /** Proxies by URL; default none. */
  readonly proxies?: ProxySettings | undefined;
  /** Whether the server may redirect to private addresses; default false. */
  readonly allowsPrivate?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Removes the lock when the process is interrupted. */
  readonly interrupt?: Interrupt | undefined;
  /** Called with the bytes of each chunk. */
  readonly onRead?: ((bytes: number) => void) | undefined;
  /** Called before each wait for a retry. */
  readonly onRetry?: ((reason: string, waitMs: number) => void) | undefined;
}

const DEFAULT_INTERVAL_MS = 1000;
const DEFAULT_TIMEOUT_MS = 60_000;
/** The maximum of Node's timers, which fire at once for longer delays. */
const MAX_PAUSE_MS = 2 ** 31 - 1;
/** Enough for error messages and page counts of servers. */
const START_CHARACTERS = 4096;

/** A streamed response. */
export interface Answer {
  readonly chunks: AsyncIterable<Uint8Array>;
  /**
   * Whether the end of the response is marked. If the server merely closes the connection, a crash
   * cannot be distinguished from the end.
   */
  readonly isEndMarked: boolean;
  /** The request URL, for messages. */
  readonly source: string;
}

/** Thrown by consumers of a truncated response, to have it requested again. */
export class CutAnswer extends Error {}

/** A failed request. */
class Failure extends Error {
  readonly error: MementoMapError;
  /** Whether the same request may succeed later. */
  readonly isRetryable: boolean;
  /** The wait requested by the server. */
  readonly waitMs: number | undefined;

  constructor(error: MementoMapError, isRetryable: boolean, waitMs?: number) {
    super(error.message);
    this.error = error;
    this.isRetryable = isRetryable;
    this.waitMs = waitMs;
  }
}

/**
 * Sends requests to one server, one at a time, with a minimum interval, and retries when it is busy.
 *
 * Redirects to private addresses are refused, except to the server's own origin or if allowed.
 */
export class PoliteClient {
  readonly #options: PoliteOptions;
  readonly #client: NodeClient;
  readonly #headers: Readonly<Record<string, string>>;
  #nextAt = 0;
  /** Number of requests sent, including retries. */
  requests = 0;

  /**
   * @param api the URL of the server.
   * @throws MM_USAGE for an invalid URL, or an invalid user agent.
   */
  constructor(api: string, options: PoliteOptions) {
    const { userAgent = "mementomap", timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    checkSendable(userAgent);
    this.#options = options;
    this.#headers = { "User-Agent": userAgent, Accept: "*/*", "Accept-Encoding": "gzip" };
    this.#client = new NodeClient({
      trustedOrigins: [serverAddress(api).origin],
      allowsPrivate: options.allowsPrivate,
      proxies: options.proxies,
      headersTimeoutMs: timeoutMs,
      idleTimeoutMs: timeoutMs,
    });
  }

  /**
   * Sends a GET request and passes the response to `use`. If the connection breaks, even in the middle
   * of the response, or the server is busy, the request is retried and `use` is called again from the
   * start. A 404 with "No Captures found", as from some CDX servers, is an empty response, not an
   * error.
   *
   * @throws MM_HTTP for no response or an error status, MM_REFUSED for a redirect to a forbidden
   *   address, both with the URL
   */
  async get<T>(
    url: string,
    use: (answer: Answer) => Promise<T>,
    { retries }: { readonly retries?: number } = {},
  ): Promise<T> {
    const { backOff = DEFAULT_BACK_OFF, onRetry, signal } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#try(url, use);
      } catch (failure) {
        if (!(failure instanceof Failure)) throw failure;
        const { error, isRetryable } = failure;
        if (!isRetryable || attempt > (retries ?? backOff.retries)) throw error;
        const waitMs = waitBefore(attempt, backOff, failure.waitMs);
        if (waitMs > Math.max(LONGEST_ASKED_MS, backOff.longestMs)) throw notNow(error, waitMs);
        onRetry?.(error.message, waitMs);
        await pause(waitMs, signal);
      }
    }
  }

  close(): void {
    this.#client.close();
  }

  async #try<T>(url: string, use: (answer: Answer) => Promise<T>): Promise<T> {
    const { signal, intervalMs = DEFAULT_INTERVAL_MS } = this.#options;
    await pause(this.#nextAt - performance.now(), signal);
    this.requests++;
    let response: HttpResponse | undefined;
    try {
      response = await this.#client.request(url, { headers: this.#headers, signal });
      return await this.#read(response, url, use);
    } catch (error) {
      checkSignal(signal);
      if (error instanceof CutAnswer) {
        throw new Failure(httpFailure(url, error.message, error), true);
      }
      // Other errors come from the consumer of the response.
      if (!isMementoMapError(error) || !["MM_HTTP", "MM_REFUSED"].includes(error.code)) throw error;
      const isRetryable = error.code === "MM_HTTP" && isPassingFault(error);
      throw new Failure(error.at({ source: url }), isRetryable);
    } finally {
      await response?.discard();
      this.#nextAt = performance.now() + intervalMs;
    }
  }

  async #read<T>(
    response: HttpResponse,
    source: string,
    use: (answer: Answer) => Promise<T>,
  ): Promise<T> {
    const { status, headers } = response;
    const coding = codingOf(headers.get("content-encoding") ?? undefined);
    if (coding !== undefined && coding !== "gzip") {
      throw httpRefusal(source, "unexpected Content-Encoding");
    }
    const body = watched(response.body, this.#options.onRead);
    const chunks = coding === undefined ? body : unzipped(body, source);
    if (status >= 200 && status < 300) {
      const end = headers.get("content-length") ?? headers.get("transfer-encoding") ?? coding;
      return use({ chunks, isEndMarked: typeof end === "string", source });
    }
    const reason = await startOf(chunks);
    if (status === 404 && /no captures found/i.test(reason)) {
      return use({ chunks: watched([]), isEndMarked: true, source });
    }
    const isBusy = isTemporary(status);
    // The first lines of an HTML page are not informative.
    const isPage = looksLikeHtml(reason);
    const detail = reason === "" || isPage ? "" : `: ${quote(reason, 200)}`;
    const hint = isPage && !isBusy ? ` with an HTML page; ${whereTheApiIs(source)}` : "";
    const name = `${status} ${STATUS_CODES[status] ?? ""}`.trim();
    const error = httpFailure(source, `the server answered ${name}${detail}${hint}`);
    const waitMs = retryAfterMs(headers.get("retry-after"), Date.now());
    throw new Failure(error, isBusy, waitMs);
  }
}

async function* watched(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  onRead?: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    onRead?.(chunk.length);
    yield chunk;
  }
}

/** @throws CutAnswer for a truncated response, MM_BAD_INPUT, MM_LIMIT */
async function* unzipped(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* decompressed(chunks, { source });
  } catch (error) {
    if (!(error instanceof Error) || systemCode(error.cause) !== "Z_BUF_ERROR") throw error;
    throw new CutAnswer("the compressed response is truncated", { cause: error });
  }
}

/** The beginning of a text, trimmed; the rest is not read. */
export async function startOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > START_CHARACTERS) break;
  }
  return text.trim();
}

/** Waits; throws the signal's reason when aborted. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(Math.min(Math.max(0, ms), MAX_PAUSE_MS), undefined, { signal });
  } catch (error) {
    checkSignal(signal);
    throw error;
  }
}

function checkSendable(userAgent: string): void {
  try {
    validateHeaderValue("User-Agent", userAgent);
  } catch (cause) {
    const message = `invalid User-Agent ${quote(userAgent)}: --contact must be printable ASCII`;
    throw new MementoMapError("MM_USAGE", message, { cause });
  }
}

function notNow(error: MementoMapError, waitMs: number): MementoMapError {
  const { code, position } = error;
  const message = `${error.message}; it requests a wait of ${Math.ceil(waitMs / 60_000)} minutes`;
  return new MementoMapError(code, message, { position, cause: error });
}
