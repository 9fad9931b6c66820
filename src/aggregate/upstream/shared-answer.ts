import type { StopSignal } from "../stop-signal.ts";
import type { UpstreamAnswer, UpstreamRequest } from "../upstream.ts";
import { MementoMapError } from "../../errors.ts";
import type { HttpHeaders } from "../../http/http-client.ts";
import type { AnswerHead, AnswerReceiver, Exchange } from "./exchange.ts";
import type { UnderWay, UnderWayEntry } from "./under-way.ts";
import { interruption } from "../../interruption.ts";

/** So much is taken of a body before anybody reads it. */
const UNREAD_BYTES = 64 * 1024;
/** So much is kept for those who ask for the same while it comes. */
const KEPT_BYTES = 1024 * 1024;

// What most answers begin with; never written to.
const NOBODY: Caller[] = [];
const NOTHING: Uint8Array[] = [];

/**
 * One answer for all who asked the same while it was under way.
 *
 * Holds up to 1 MiB of the body, for those who come late; a longer body cannot be joined any more.
 * Nobody waits for others: whoever has not begun to read by then gets an error. Who leaves does not
 * disturb the others; when all have left, the request is ended, unless its end is near.
 */
export class SharedAnswer implements AnswerReceiver, UnderWayEntry {
  readonly request: UpstreamRequest;
  readonly hash: number;
  next: UnderWayEntry | undefined;
  readonly #table: UnderWay<SharedAnswer>;
  #callers: Caller[] = NOBODY;
  /** Where the answer comes from, for those who do not join later. */
  origin: UpstreamAnswer["origin"] = "network";
  #exchange: Exchange | undefined;
  #head: AnswerHead | undefined;
  /** The body from its start; undefined when it was too long to keep. */
  #chunks: Uint8Array[] | undefined = NOTHING;
  #bytes = 0;
  #isPaused = false;
  #isEnded = false;
  #error: Error | undefined;

  /** @param table Where the answer is found as long as it can be joined. */
  constructor(request: UpstreamRequest, hash: number, table: UnderWay<SharedAnswer>) {
    this.request = request;
    this.hash = hash;
    this.#table = table;
    table.add(this);
  }

  /** Whether all who asked have left. */
  get isAbandoned(): boolean {
    return this.#callers.length === 0;
  }

  /** The request behind the answer, once there is one. */
  attach(exchange: Exchange): void {
    this.#exchange = exchange;
  }

  /** One more who wants the answer. */
  join(
    request: UpstreamRequest,
    origin: UpstreamAnswer["origin"] | undefined,
  ): Promise<UpstreamAnswer> {
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (request.signal?.aborted === true) {
      this.#endIfAbandoned();
      return Promise.reject(interruption(request.signal));
    }
    const caller = new Caller(this, request, origin);
    if (this.#callers.length === 0) this.#callers = [caller];
    else this.#callers.push(caller);
    return this.#head === undefined ? caller.waitForHead() : Promise.resolve(caller);
  }

  onHead(head: AnswerHead): void {
    this.#head = head;
    for (const caller of this.#callers) caller.onHead();
  }

  onChunk(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length;
    if (this.#chunks === NOTHING) this.#chunks = [chunk];
    else this.#chunks?.push(chunk);
    let isRead = false;
    // Backwards: a caller that fails leaves.
    for (let at = this.#callers.length - 1; at >= 0; at--) {
      if (this.#callers[at].onChunk(chunk)) isRead = true;
    }
    if (this.#callers.length === 0) return this.#drain();
    if (!isRead) {
      this.#isPaused = this.#bytes > UNREAD_BYTES;
      return !this.#isPaused;
    }
    if (this.#chunks !== undefined && this.#bytes > KEPT_BYTES) this.#keepNoMore();
    return true;
  }

  onEnd(): void {
    this.#isEnded = true;
    this.#table.delete(this);
    const callers = this.#callers;
    this.#callers = NOBODY;
    for (const caller of callers) caller.onEnd();
  }

  onFail(error: Error): void {
    this.#error = error;
    this.#chunks = undefined;
    this.#table.delete(this);
    const callers = this.#callers;
    this.#callers = NOBODY;
    for (const caller of callers) caller.onFail(error);
  }

  /** The head, which is there when anybody has the answer. */
  get head(): AnswerHead {
    if (this.#head === undefined) throw new Error("the answer has no head yet");
    return this.#head;
  }

  /** Gives a caller what came so far, and lets the rest come. */
  replayTo(caller: Caller): void {
    if (this.#chunks === undefined) {
      this.leave(caller);
      caller.onFail(this.#error ?? tooLate(this.head.url));
      return;
    }
    for (const chunk of this.#chunks) {
      if (!caller.onChunk(chunk)) return;
    }
    if (this.#isEnded) {
      caller.onEnd();
    } else if (this.#isPaused) {
      this.#isPaused = false;
      this.#exchange?.resume();
    }
  }

  leave(caller: Caller): void {
    const at = this.#callers.indexOf(caller);
    if (at === -1) return;
    this.#callers.splice(at, 1);
    this.#endIfAbandoned();
  }

  #endIfAbandoned(): void {
    if (this.#callers.length > 0 || this.#isEnded || this.#error !== undefined) return;
    // Who comes now must not find an answer that is about to be dropped.
    this.#table.delete(this);
    this.#chunks = undefined;
    if (this.#head === undefined) this.#exchange?.abort();
    else if (this.#drain() && this.#isPaused) this.#exchange?.resume();
  }

  /** Nobody wants the rest: a little is read to keep the connection. Always true. */
  #drain(): boolean {
    if (this.#bytes > UNREAD_BYTES) this.#exchange?.abort();
    return true;
  }

  #keepNoMore(): void {
    this.#chunks = undefined;
    this.#table.delete(this);
    for (const caller of this.#callers.slice()) {
      if (caller.isReading) continue;
      this.leave(caller);
      caller.onFail(tooLate(this.head.url));
    }
  }
}

/** One who asked; also the answer as they see it. */
class Caller implements UpstreamAnswer {
  readonly #answer: SharedAnswer;
  readonly #maxBytes: number;
  readonly #origin: UpstreamAnswer["origin"] | undefined;
  readonly #signal: StopSignal | undefined;
  #onAbort: (() => void) | undefined;
  #bytes = 0;
  #error: Error | undefined;
  #isGone = false;
  #take: ((chunk: Uint8Array) => void) | undefined;
  #resolveHead: ((answer: UpstreamAnswer) => void) | undefined;
  #resolveBody: (() => void) | undefined;
  #reject: ((error: Error) => void) | undefined;

  constructor(
    answer: SharedAnswer,
    { maxBytes, signal }: UpstreamRequest,
    origin: UpstreamAnswer["origin"] | undefined,
  ) {
    this.#answer = answer;
    this.#maxBytes = maxBytes;
    this.#signal = signal;
    this.#origin = origin;
    if (signal === undefined) return;
    this.#onAbort = () => {
      this.#answer.leave(this);
      this.onFail(interruption(signal));
    };
    signal.addEventListener("abort", this.#onAbort);
  }

  get status(): number {
    return this.#answer.head.status;
  }

  get url(): string {
    return this.#answer.head.url;
  }

  get headers(): HttpHeaders {
    return this.#answer.head.headers;
  }

  get origin(): UpstreamAnswer["origin"] {
    return this.#origin ?? this.#answer.origin;
  }

  get isReading(): boolean {
    return this.#take !== undefined;
  }

  waitForHead(): Promise<UpstreamAnswer> {
    return new Promise((resolve, reject) => {
      this.#resolveHead = resolve;
      this.#reject = reject;
    });
  }

  read(take: (chunk: Uint8Array) => void): Promise<void> {
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#isGone || this.#take !== undefined) {
      return Promise.reject(new Error("the body of an answer can be read once"));
    }
    return new Promise((resolve, reject) => {
      this.#take = take;
      this.#resolveBody = resolve;
      this.#reject = reject;
      this.#answer.replayTo(this);
    });
  }

  discard(): void {
    this.#isGone = true;
    this.#forgetSignal();
    this.#answer.leave(this);
  }

  onHead(): void {
    this.#resolveHead?.(this);
    this.#resolveHead = undefined;
  }

  /** Whether it is reading, and went well. */
  onChunk(chunk: Uint8Array): boolean {
    if (this.#take === undefined) return false;
    this.#bytes += chunk.length;
    try {
      if (this.#bytes > this.#maxBytes) throw tooLong(this.url, this.#maxBytes);
      this.#take(chunk);
      return true;
    } catch (error) {
      this.#answer.leave(this);
      this.onFail(error as Error); // passed on as it is, whatever it is
      return false;
    }
  }

  onEnd(): void {
    // Who has not begun to read comes back for what is kept.
    if (this.#take === undefined) return;
    this.#forgetSignal();
    this.#resolveBody?.();
  }

  onFail(error: Error): void {
    this.#isGone = true;
    this.#error = error;
    this.#forgetSignal();
    this.#reject?.(error);
  }

  #forgetSignal(): void {
    if (this.#onAbort === undefined) return;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#onAbort = undefined;
  }
}

function tooLong(url: string, maxBytes: number): MementoMapError {
  return new MementoMapError("MM_LIMIT", `the body is longer than ${maxBytes} bytes`, {
    position: { source: url },
  });
}

function tooLate(url: string): MementoMapError {
  return new MementoMapError("MM_LIMIT", "the body was not read before others had read 1 MiB", {
    position: { source: url },
  });
}
