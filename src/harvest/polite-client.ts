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
  /** The least time from the end of a request to the start of the next; 1,000 by default. */
  readonly intervalMs?: number | undefined;
  readonly backOff?: BackOff | undefined;
  /** How long an answer may let nothing be heard; 60,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Tells who asks, so that the archive can write to them. */
  readonly userAgent?: string | undefined;
  /** Which requests go through which proxy; default none. */
  readonly proxies?: ProxySettings | undefined;
  /** Whether the server may redirect to private addresses; default false. */
  readonly allowsPrivate?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Removes the lock when the process is told to stop. */
  readonly interrupt?: Interrupt | undefined;
  /** Called with the bytes of each chunk. */
  readonly onRead?: ((bytes: number) => void) | undefined;
  /** Called before each wait for a retry. */
  readonly onRetry?: ((reason: string, waitMs: number) => void) | undefined;
}

const DEFAULT_INTERVAL_MS = 1000;
const DEFAULT_TIMEOUT_MS = 60_000;
/** Longer waits would be none: timers of Node have no more bits. */
const LONGEST_PAUSE_MS = 2 ** 31 - 1;
/** Longer than what a server has to say about an error, or about its pages. */
const START_CHARACTERS = 4096;

/** An answer, as it comes. */
export interface Answer {
  readonly chunks: AsyncIterable<Uint8Array>;
  /**
   * Whether the server says where the answer ends. Where it merely closes the connection, a server
   * that dies looks like one that is done.
   */
  readonly isEndMarked: boolean;
  /** The address that was asked, for messages. */
  readonly source: string;
}

/** Thrown by the user of an answer that lacks its end, to have it requested again. */
export class CutAnswer extends Error {}

/** A request that failed. */
class Failure extends Error {
  readonly error: MementoMapError;
  /** Whether the same request may succeed later. */
  readonly mayPass: boolean;
  /** How long the server asks to wait. */
  readonly waitMs: number | undefined;

  constructor(error: MementoMapError, mayPass: boolean, waitMs?: number) {
    super(error.message);
    this.error = error;
    this.mayPass = mayPass;
    this.waitMs = waitMs;
  }
}

/**
 * Asks one server, one request at a time, not too fast, and again after a while when it is busy.
 *
 * Redirects lead to no private address, unless that is where the server itself is or it is allowed.
 */
export class PoliteClient {
  readonly #options: PoliteOptions;
  readonly #client: NodeClient;
  readonly #headers: Readonly<Record<string, string>>;
  #nextAt = 0;
  /** Requests sent, with those tried again. */
  requests = 0;

  /**
   * @param api the address of the server.
   * @throws MM_USAGE when it is not one, or when the user agent cannot be sent.
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
   * Sends a GET request and gives the answer to `use`. Where the connection breaks, also in the
   * middle of the answer, or the server is busy, the request is sent again and `use` is called
   * again from the start. Some CDX servers answer 404 and "No Captures found": that is nothing, no
   * error.
   *
   * @throws MM_HTTP when the server does not answer or answers with an error, MM_REFUSED when it
   *   redirects to a forbidden address, both naming the address
   */
  async ask<T>(
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
        const { error, mayPass } = failure;
        if (!mayPass || attempt > (retries ?? backOff.retries)) throw error;
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
      // Other codes are about what was done with the answer.
      if (!isMementoMapError(error) || !["MM_HTTP", "MM_REFUSED"].includes(error.code)) throw error;
      const mayPass = error.code === "MM_HTTP" && isPassingFault(error);
      throw new Failure(error.at({ source: url }), mayPass);
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
    // The first lines of a page in HTML say nothing.
    const isPage = looksLikeHtml(reason);
    const said = reason === "" || isPage ? "" : `: ${quote(reason, 200)}`;
    const hint = isPage && !isBusy ? `, with a page in HTML; ${whereTheApiIs(source)}` : "";
    const name = `${status} ${STATUS_CODES[status] ?? ""}`.trim();
    const error = httpFailure(source, `the server answered ${name}${said}${hint}`);
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

/** @throws CutAnswer when the end is missing, MM_BAD_INPUT, MM_LIMIT */
async function* unzipped(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* decompressed(chunks, { source });
  } catch (error) {
    if (!(error instanceof Error) || systemCode(error.cause) !== "Z_BUF_ERROR") throw error;
    throw new CutAnswer("the compressed answer is cut short", { cause: error });
  }
}

/** The beginning of a text, without blanks around it; the rest of it is not read. */
export async function startOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > START_CHARACTERS) break;
  }
  return text.trim();
}

/** Waits; throws the signal's reason when it is aborted. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(Math.min(Math.max(0, ms), LONGEST_PAUSE_MS), undefined, { signal });
  } catch (error) {
    checkSignal(signal);
    throw error;
  }
}

function checkSendable(userAgent: string): void {
  try {
    validateHeaderValue("User-Agent", userAgent);
  } catch (cause) {
    const message = `${quote(userAgent)} cannot be sent as User-Agent: --contact must be printable ASCII`;
    throw new MementoMapError("MM_USAGE", message, { cause });
  }
}

function notNow(error: MementoMapError, waitMs: number): MementoMapError {
  const { code, position } = error;
  const message = `${error.message}, and asks to wait ${Math.ceil(waitMs / 60_000)} minutes`;
  return new MementoMapError(code, message, { position, cause: error });
}
