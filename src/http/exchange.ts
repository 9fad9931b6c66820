import type { Dispatcher } from "undici";
import { holdChunk } from "../bytes/hold-chunk.ts";
import { MementoMapError } from "../errors.ts";
import { interruption } from "../interruption.ts";
import { type Connections, splitAddress } from "./connections.ts";
import type { HttpHeaders, ResponseHead } from "./http-client.ts";
import { networkFailure } from "./network-failure.ts";
import { type Proxy, proxyAnswered } from "./proxy.ts";

/** Limit on interim responses (status 1xx). */
const MAX_INTERIM = 20;
/** Reading from the socket pauses when this much of a body is buffered. */
const BUFFER_BYTES = 64 * 1024;

/** A single request: redirects are not followed, and the body is not decompressed. */
export interface ExchangeRequest {
  readonly url: string;
  readonly method: "GET" | "HEAD";
  readonly headers: Readonly<Record<string, string>>;
  /** Time limit for the response headers. */
  readonly headersTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

type AnswerHead = Pick<ResponseHead, "status" | "headers">;

type Controller = Dispatcher.DispatchController;

/**
 * A request and its streamed response. Buffers at most 64 KiB of unread body and one chunk.
 *
 * A request sent on a reused connection that the server had just closed is retried once.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #connections: Connections;
  readonly #request: ExchangeRequest;
  #settle: { resolve(head: AnswerHead): void; reject(error: Error): void } | undefined;
  #controller: Controller | undefined;
  #proxy: Proxy | undefined;
  #interim = 0;
  #status: number | undefined;
  #isRetried = false;
  #timer: NodeJS.Timeout | undefined;
  #isIdleTimer = false;
  #chunks: Uint8Array[] = [];
  #bufferedBytes = 0;
  #isDone = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(connections: Connections, request: ExchangeRequest) {
    this.#connections = connections;
    this.#request = request;
  }

  /** @throws MM_HTTP, MM_REFUSED, MM_BAD_URI when there is no response; MM_INTERRUPTED */
  begin(): Promise<AnswerHead> {
    const { headersTimeoutMs, signal } = this.#request;
    signal?.addEventListener("abort", this.#onAbort);
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#send();
      // Set after the timers of the connection, whose errors are more specific.
      if (!this.#isDone) this.failAfter(headersTimeoutMs, "no response within");
    });
  }

  /** Sets the timeout, replacing the previous one. With `isIdle`, each chunk restarts it. */
  failAfter(leftMs: number, what: string, isIdle: boolean = false, namedMs: number = leftMs): void {
    clearTimeout(this.#timer);
    if (this.#isDone) return;
    this.#isIdleTimer = isIdle;
    const message = `${what} ${Math.max(0, Math.round(namedMs / 10) / 100)} s`;
    const position = { source: this.#request.url };
    const fail = (): void =>
      this.end(new MementoMapError("MM_HTTP", message, { position, reason: "timeout" }));
    // Rounded, because Node keeps a timer list for each distinct duration.
    const ms = leftMs > 5000 ? Math.ceil(leftMs / 1000) * 1000 : leftMs;
    this.#timer = setTimeout(fail, Math.max(0, ms));
  }

  /**
   * The next chunk of the body; undefined at its end.
   *
   * @throws MM_HTTP when the body is incomplete.
   */
  async next(): Promise<Uint8Array | undefined> {
    while (this.#chunks.length === 0) {
      if (this.#error !== undefined) throw this.#error;
      if (this.#isDone) return undefined;
      if (this.#isIdleTimer) this.#timer?.refresh();
      const more = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      // May deliver buffered data synchronously.
      this.#controller?.resume();
      await more;
    }
    const chunk = this.#chunks.shift();
    this.#bufferedBytes -= chunk?.length ?? 0;
    return chunk;
  }

  async *body(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (let chunk = await this.next(); chunk !== undefined; chunk = await this.next()) {
        yield chunk;
      }
    } finally {
      this.end();
    }
  }

  /** Aborts the exchange unless it is complete; further reads then fail. */
  end(error: Error = cutOff(this.#request.url)): void {
    if (this.#isDone) return;
    this.#finish(error);
    this.#controller?.abort(error);
  }

  readonly #onAbort = (): void => {
    const { signal } = this.#request;
    if (signal !== undefined) this.end(interruption(signal));
  };

  #finish(error?: Error): void {
    this.#isDone = true;
    this.#error = error;
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
    if (error !== undefined) this.#settle?.reject(error);
    this.#wake?.();
  }

  #send(): void {
    const { url, method, headers } = this.#request;
    try {
      const { origin, path } = splitAddress(url);
      this.#proxy = this.#connections.send({ origin, path, method, headers }, this).proxy;
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.end(networkFailure(error, this.#request.url));
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#isDone) controller.abort(cutOff(this.#request.url));
  }

  onResponseStart(_controller: Controller, status: number, fields: Fields): void {
    if (this.#isDone) return;
    if (status < 200) {
      this.#interim += 1;
      const many = `more than ${MAX_INTERIM} interim responses (1xx)`;
      if (this.#interim > MAX_INTERIM) this.#fail(badHttp(this.#request.url, many));
    } else if (status === 407 && this.#proxy !== undefined) {
      this.#fail(proxyAnswered(this.#proxy, status));
    } else {
      this.#status = status;
      this.#settle?.resolve({ status, headers: new AnswerHeaders(fields) });
    }
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#isDone) return;
    if (this.#isIdleTimer) this.#timer?.refresh();
    holdChunk(this.#chunks, chunk);
    this.#bufferedBytes += chunk.length;
    this.#wake?.();
    if (this.#bufferedBytes >= BUFFER_BYTES) controller.pause();
  }

  onResponseEnd(): void {
    if (!this.#isDone) this.#finish();
  }

  onResponseError(_controller: Controller, error: Error): void {
    if (this.#isDone) return;
    if (this.#status === 304 && isLengthMismatch(error)) {
      this.#finish();
    } else if (this.#status === undefined && isLengthMismatch(error)) {
      this.#fail(badHttp(this.#request.url, "the response has several Content-Length values"));
    } else if (this.#status === undefined && !this.#isRetried && wasConnectionUsed(error)) {
      this.#isRetried = true;
      this.#send();
    } else {
      this.#fail(error);
    }
  }
}

function cutOff(source: string): MementoMapError {
  const message = "the connection was closed before the response was complete";
  return new MementoMapError("MM_HTTP", message, { position: { source } });
}

/** Whether the failed connection had been used before: servers close idle connections. */
function wasConnectionUsed(error: Error): boolean {
  const { socket } = error as { readonly socket?: { readonly bytesRead?: number } };
  return (socket?.bytesRead ?? 0) > 0;
}

/** A 304 response may carry the length of a body it does not send (RFC 9110, 8.6), which undici rejects. */
function isLengthMismatch(error: Error): boolean {
  return "code" in error && error.code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH";
}

function badHttp(source: string, message: string): MementoMapError {
  return new MementoMapError("MM_HTTP", message, { position: { source }, reason: "bad-http" });
}

type Fields = Readonly<Record<string, string | string[] | undefined>>;

/** Fields with a single value; the first of several is used. */
const SINGLE: ReadonlySet<string> = new Set(
  "age content-length content-type etag expires last-modified location retry-after".split(" "),
);

/** Response headers. Repeated fields are joined by commas, except `SINGLE` ones. */
class AnswerHeaders implements HttpHeaders {
  readonly #fields: Fields;

  constructor(fields: Fields) {
    this.#fields = fields;
  }

  get(name: string): string | undefined {
    const value = this.#fields[name];
    if (!Array.isArray(value)) return value;
    return SINGLE.has(name) ? value[0] : value.join(", ");
  }
}
