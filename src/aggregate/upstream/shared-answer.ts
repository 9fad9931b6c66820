import type { AnswerListener, StopSignal, UpstreamAnswer, UpstreamRequest } from "../upstream.ts";
import { holdChunk } from "../../bytes/hold-chunk.ts";
import { MementoMapError } from "../../errors.ts";
import type { HttpHeaders } from "../../http/http-client.ts";
import type { AnswerHead, AnswerReceiver, Exchange } from "../../http/exchange.ts";
import { interruption } from "../../interruption.ts";
import { textHash } from "./cache-store.ts";

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
 * Callers do not wait for each other: one that has not begun to read by then gets an error. One that
 * leaves does not disturb the others; when all have left, the request is ended, unless its end is near.
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
    listener: HeadListener,
  ): void {
    if (this.#error !== undefined) {
      listener.onFail(this.#error);
      return;
    }
    if (request.signal?.aborted === true) {
      this.#endIfAbandoned();
      listener.onFail(interruption(request.signal));
      return;
    }
    const caller = new Caller(this, request, origin, listener);
    if (this.#callers.length === 0) this.#callers = [caller];
    else this.#callers.push(caller);
    if (this.#head !== undefined) caller.onHead();
  }

  onHead(head: AnswerHead): void {
    this.#head = head;
    // A caller that does not want the body leaves, and may take others with it.
    const callers = this.#callers.length > 1 ? this.#callers.slice() : this.#callers;
    for (const caller of callers) caller.onHead();
  }

  onChunk(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length;
    if (this.#chunks === NOTHING) this.#chunks = [chunk];
    else if (this.#chunks !== undefined) holdChunk(this.#chunks, chunk);
    let isRead = false;
    // A caller that fails leaves, and may take others with it.
    const callers = this.#callers.length > 1 ? this.#callers.slice() : this.#callers;
    for (const caller of callers) {
      if (caller.onChunk(chunk)) isRead = true;
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
    if (this.#callers.length === 1) this.#callers = NOBODY;
    else this.#callers.splice(at, 1);
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

/** Takes the head of an answer, or an error; and the body, if it is one who wants it as it comes. */
export type HeadListener = Pick<AnswerListener, "onAnswer" | "onFail"> & Partial<AnswerListener>;

/** Takes a body. */
type BodyListener = Pick<AnswerListener, "onChunk" | "onEnd" | "onFail">;

/** One who asked; also the answer as they see it. */
class Caller implements UpstreamAnswer {
  readonly #answer: SharedAnswer;
  readonly #maxBytes: number;
  readonly #origin: UpstreamAnswer["origin"] | undefined;
  readonly #signal: StopSignal | undefined;
  /** Who waits for the head, and who reads the body. */
  #waiting: HeadListener | undefined;
  #reading: BodyListener | undefined;
  #bytes = 0;
  #error: Error | undefined;
  #isGone = false;

  constructor(
    answer: SharedAnswer,
    { maxBytes, signal }: UpstreamRequest,
    origin: UpstreamAnswer["origin"] | undefined,
    listener: HeadListener,
  ) {
    this.#answer = answer;
    this.#maxBytes = maxBytes;
    this.#signal = signal;
    this.#origin = origin;
    this.#waiting = listener;
    signal?.addEventListener("abort", this);
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
    return this.#reading !== undefined;
  }

  read(take: (chunk: Uint8Array) => void): Promise<void> {
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#isGone || this.#reading !== undefined) {
      return Promise.reject(new Error("the body of an answer can be read once"));
    }
    return new Promise((resolve, reject) => {
      this.#readTo({ onChunk: take, onEnd: resolve, onFail: reject });
    });
  }

  #readTo(listener: BodyListener): void {
    this.#reading = listener;
    this.#answer.replayTo(this);
  }

  discard(): void {
    this.#isGone = true;
    this.#forgetSignal();
    this.#answer.leave(this);
  }

  /** The signal is aborted. */
  handleEvent(): void {
    this.#answer.leave(this);
    this.onFail(interruption({ reason: this.#signal?.reason }));
  }

  onHead(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || this.#isGone) return;
    this.#waiting = undefined;
    const isWanted = waiting.onAnswer(this);
    if (!isBodyListener(waiting)) return;
    if (!isWanted) this.discard();
    else if (this.#error === undefined) this.#readTo(waiting);
    else waiting.onFail(this.#error); // it was ended within `onAnswer`
  }

  /** Whether it is reading, and went well. */
  onChunk(chunk: Uint8Array): boolean {
    if (this.#reading === undefined || this.#isGone) return false;
    this.#bytes += chunk.length;
    try {
      if (this.#bytes > this.#maxBytes) throw tooLong(this.url, this.#maxBytes);
      this.#reading.onChunk(chunk);
      return true;
    } catch (error) {
      this.#answer.leave(this);
      this.onFail(error as Error); // passed on as it is, whatever it is
      return false;
    }
  }

  onEnd(): void {
    // Who has not begun to read comes back for what is kept.
    if (this.#reading === undefined || this.#isGone) return;
    this.#isGone = true;
    this.#forgetSignal();
    this.#reading.onEnd();
  }

  onFail(error: Error): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#error = error;
    this.#forgetSignal();
    (this.#reading ?? this.#waiting)?.onFail(error);
  }

  #forgetSignal(): void {
    this.#signal?.removeEventListener("abort", this);
  }
}

function isBodyListener(listener: HeadListener): listener is AnswerListener {
  return listener.onChunk !== undefined;
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

/** Something that is found by the request it answers, as long as it is under way. */
export interface UnderWayEntry {
  readonly request: UpstreamRequest;
  readonly hash: number;
  /** The next of the same bucket. Only for the table. */
  next: UnderWayEntry | undefined;
}

const FIRST_BUCKETS = 1024;

/**
 * Finds what is under way by its request.
 *
 * Not a `Map`: tables that a `Map` has outgrown point to their successors, so that with entries
 * that come and go thousands of times a second the dead ones survive until the next large garbage
 * collection, and half of the time goes there. Here what is taken out points to nothing.
 */
export class UnderWay<Entry extends UnderWayEntry> {
  /** So that nobody can make up addresses that fall into one bucket. */
  readonly #seed = Math.trunc(Math.random() * 0x7fff_ffff);
  #buckets: (Entry | undefined)[] = emptyBuckets(FIRST_BUCKETS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  hashOf({ url }: UpstreamRequest): number {
    return textHash(url, this.#seed);
  }

  find(request: UpstreamRequest, hash: number): Entry | undefined {
    let entry = this.#buckets[hash & (this.#buckets.length - 1)];
    while (entry !== undefined) {
      if (entry.hash === hash && isSame(entry.request, request)) return entry;
      entry = entry.next as Entry | undefined; // only entries of this table are linked
    }
    return undefined;
  }

  add(entry: Entry): void {
    if (this.#size >= this.#buckets.length) this.#grow();
    const at = entry.hash & (this.#buckets.length - 1);
    entry.next = this.#buckets[at];
    this.#buckets[at] = entry;
    this.#size += 1;
  }

  /** Takes an entry out, if it is there. */
  delete(entry: Entry): void {
    const at = entry.hash & (this.#buckets.length - 1);
    let before: UnderWayEntry | undefined;
    let current: UnderWayEntry | undefined = this.#buckets[at];
    while (current !== undefined && current !== entry) {
      before = current;
      current = current.next;
    }
    if (current === undefined) return;
    if (before === undefined) this.#buckets[at] = entry.next as Entry | undefined; // as in find
    else before.next = entry.next;
    entry.next = undefined;
    this.#size -= 1;
  }

  #grow(): void {
    const old = this.#buckets;
    this.#buckets = emptyBuckets(old.length * 2);
    for (const bucket of old) {
      let entry: Entry | undefined = bucket;
      while (entry !== undefined) {
        const next = entry.next as Entry | undefined; // as in find
        const at = entry.hash & (this.#buckets.length - 1);
        entry.next = this.#buckets[at];
        this.#buckets[at] = entry;
        entry = next;
      }
    }
  }
}

function emptyBuckets<Entry>(count: number): (Entry | undefined)[] {
  return Array.from<Entry | undefined>({ length: count }).fill(undefined);
}

/** Whether one answer is right for both. */
function isSame(a: UpstreamRequest, b: UpstreamRequest): boolean {
  return (
    a.url === b.url &&
    a.archive.id === b.archive.id &&
    (a.method ?? "GET") === (b.method ?? "GET") &&
    a.followsRedirects === b.followsRedirects &&
    a.isCacheable === b.isCacheable &&
    a.maxBytes === b.maxBytes &&
    haveSameHeaders(a.headers, b.headers)
  );
}

function haveSameHeaders(a: UpstreamRequest["headers"], b: UpstreamRequest["headers"]): boolean {
  if (a === b) return true;
  const names = Object.keys(a ?? {});
  return (
    names.length === Object.keys(b ?? {}).length &&
    names.every((name) => b !== undefined && a?.[name] === b[name])
  );
}
