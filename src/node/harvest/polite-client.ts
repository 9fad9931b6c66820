import { setTimeout as sleep } from "node:timers/promises";
import { MementoMapError, quote } from "../../errors.ts";
import type { BackOff } from "../../harvest/back-off.ts";
import {
  DEFAULT_BACK_OFF,
  isTemporary,
  LONGEST_ASKED_MS,
  waitBefore,
} from "../../harvest/back-off.ts";

export interface PoliteOptions {
  /** The least time from the end of a request to the start of the next; 1,000 by default. */
  readonly intervalMs?: number | undefined;
  readonly backOff?: BackOff | undefined;
  /** How long an answer may let nothing be heard; 60,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Tells who asks, so that the archive can write to them. */
  readonly userAgent?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told of bytes as they come. */
  readonly onRead?: ((bytes: number) => void) | undefined;
  /** Told before each wait for a request to be tried again. */
  readonly onRetry?: ((reason: string, waitMs: number) => void) | undefined;
}

const DEFAULT_INTERVAL_MS = 1000;
const DEFAULT_TIMEOUT_MS = 60_000;
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
}

/** Thrown by whoever uses an answer that lacks its end, to have it asked for again. */
export class CutAnswer extends Error {}

/**
 * Asks one server, one request at a time, not too fast, and again after a while when it is busy.
 */
export class PoliteClient {
  readonly #options: PoliteOptions;
  #nextAt = 0;
  /** Requests sent, with those tried again. */
  requests = 0;

  constructor(options: PoliteOptions) {
    this.#options = options;
  }

  /**
   * Sends a GET request and gives the answer to `use`. Where the connection breaks, also in the
   * middle of the answer, or the server is busy, the request is sent again and `use` is called
   * again from the start. Some CDX servers answer 404 and "No Captures found": that is nothing, no
   * error.
   *
   * @throws MM_IO when the server does not answer or answers with an error, naming the address
   */
  async ask<T>(url: string, use: (answer: Answer) => Promise<T>): Promise<T> {
    const backOff = this.#options.backOff ?? DEFAULT_BACK_OFF;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#try(url, use);
      if ("value" in outcome) return outcome.value;
      if (!outcome.mayRetry || attempt > backOff.retries) throw outcome.error;
      const waitMs = waitBefore(attempt, backOff, outcome.retryAfter, Date.now());
      if (waitMs > Math.max(LONGEST_ASKED_MS, backOff.longestMs))
        throw notNow(outcome.error, waitMs);
      this.#options.onRetry?.(outcome.error.message, waitMs);
      await pause(waitMs, this.#options.signal);
    }
  }

  async #try<T>(url: string, use: (answer: Answer) => Promise<T>): Promise<Outcome<T>> {
    const { signal, userAgent = "mementomap" } = this.#options;
    await pause(Math.max(0, this.#nextAt - Date.now()), signal);
    const silence = new Silence(this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    this.requests++;
    try {
      const response = await fetch(url, {
        headers: { "user-agent": userAgent, accept: "*/*" },
        signal: signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]),
      });
      const { status, statusText, headers } = response;
      const chunks = silence.watch(response.body ?? [], this.#options.onRead);
      if (!response.ok) {
        const reason = await startOf(chunks);
        if (status === 404 && /no captures found/i.test(reason)) {
          return { value: await use({ chunks: silence.watch([]), isEndMarked: true }) };
        }
        // A page in HTML is for people, and its first lines say nothing.
        const said = reason === "" || reason.startsWith("<") ? "" : `: ${quote(reason, 200)}`;
        return {
          error: failure(url, `the server answered ${status} ${statusText}${said}`),
          mayRetry: isTemporary(status),
          retryAfter: headers.get("retry-after") ?? undefined,
        };
      }
      const isEndMarked = headers.has("content-length") || headers.has("transfer-encoding");
      return { value: await use({ chunks, isEndMarked }) };
    } catch (error) {
      signal?.throwIfAborted();
      if (!isConnectionError(error)) throw error;
      return { error: failure(url, `no answer (${reasonOf(error)})`, error), mayRetry: true };
    } finally {
      silence.end();
      this.#nextAt = Date.now() + (this.#options.intervalMs ?? DEFAULT_INTERVAL_MS);
    }
  }
}

type Outcome<T> =
  | { readonly value: T }
  | {
      readonly error: MementoMapError;
      readonly mayRetry: boolean;
      readonly retryAfter?: string | undefined;
    };

/** Aborts when nothing has been heard for a while. */
class Silence {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(timeoutMs: number) {
    this.#timer = setTimeout(() => {
      this.#controller.abort(new DOMException(`silent for ${timeoutMs} ms`, "TimeoutError"));
    }, timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async *watch(
    chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    onRead?: (bytes: number) => void,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of chunks) {
      this.#timer.refresh();
      onRead?.(chunk.length);
      yield chunk;
    }
  }

  end(): void {
    clearTimeout(this.#timer);
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

/** Waits; throws the signal's reason when it is told to stop. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** What `fetch` throws for connections: a TypeError, an abort, or a DOMException. */
function isConnectionError(error: unknown): boolean {
  return error instanceof TypeError || error instanceof DOMException || error instanceof CutAnswer;
}

function notNow(error: MementoMapError, waitMs: number): MementoMapError {
  const minutes = Math.ceil(waitMs / 60_000);
  return new MementoMapError(error.code, `${error.message}, and asks to wait ${minutes} minutes`, {
    position: error.position,
    cause: error,
  });
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

function failure(url: string, message: string, cause?: unknown): MementoMapError {
  return new MementoMapError("MM_IO", message, { position: { source: url }, cause });
}
