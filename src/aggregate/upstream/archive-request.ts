import { MementoMapError } from "../../errors.ts";
import type { OriginPools } from "../../http/origin-pools.ts";
import { HttpExchange } from "../../http/http-exchange.ts";
import {
  type FailureReason,
  isArchiveFailing,
  isOverload,
  isPassing,
  isWorthRetrying,
  pauseWithin,
  retryAfterMs,
  type RetryOptions,
} from "../../http/retry.ts";
import type { ArchiveCounters, Dormancy } from "./archive-health.ts";
import {
  type AnswerHead,
  type AnswerReceiver,
  DRAINED_BYTES,
  type Exchange,
  type NetworkRequest,
} from "../../http/exchange.ts";
import type { Limits, Waiter } from "./limits.ts";
import type { UpstreamRequest } from "../upstream.ts";

/** How an endpoint of an archive is asked, and how it is. */
export interface AskedArchive {
  readonly id: string;
  readonly pools: OriginPools;
  readonly maxRedirects: number;
  /** Those of the archive: its endpoints share them. */
  readonly limits: Limits;
  /** That of this endpoint. */
  readonly dormancy: Dormancy;
  readonly counters: ArchiveCounters;
  readonly retry: RetryOptions;
  /** Sent with every request that has none of the same name: names and values by turns. */
  readonly headers: readonly string[];
  /** How long the head of an answer may take, from when the request is sent. */
  readonly headersTimeoutMs: number;
  /** How long all may take: waiting, trying again, and the body. */
  readonly totalTimeoutMs: number;
  /** `Retry-After` is respected for so long at most. */
  readonly longestDormantMs: number;
}

/**
 * An answer that nobody wants any more may still begin within this time. To end a request costs its
 * connection, and clients in a hurry would cost every archive one each.
 */
const LINGER_MS = 1000;
/** A `Retry-After` of more is not meant for us, or a mistake: year 9999 is one that is seen. */
const LONGEST_SENSIBLE_MS = 86_400_000;

const DORMANT = "it failed too often and is dormant for a while";
const LATE_CODES: ReadonlySet<FailureReason> = new Set(["timeout", "queue-timeout"]);

/**
 * One request to an archive: waits for its turn, is sent, sent again if that may help, and given up
 * when it takes too long. What becomes of it is told to the archive's dormancy and counters.
 *
 * `Retry-After` is noted and not waited for: the endpoint is dormant until then, and the caller gets
 * the answer as it is.
 */
export class ArchiveRequest implements AnswerReceiver, Exchange, Waiter {
  readonly #archive: AskedArchive;
  readonly #request: NetworkRequest;
  readonly #receiver: AnswerReceiver;
  #phase: "waiting" | "head" | "draining" | "pausing" | "body" | "unwanted" | "done" = "waiting";
  #isProbe = false;
  #isJudged = false;
  #attempts = 0;
  #drained = 0;
  #pauseMs = 0;
  #deadline = 0;
  /** When it stops to wait for its turn. */
  #queuedUntil = Infinity;
  #sentAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #pause: NodeJS.Timeout | undefined;
  #exchange: Exchange | undefined;

  constructor(
    archive: AskedArchive,
    { url, method = "GET", headers, followsRedirects, maxBytes }: UpstreamRequest,
    receiver: AnswerReceiver,
  ) {
    const sent = headersOf(archive.headers, headers);
    this.#archive = archive;
    this.#request = { url, method, headers: sent, followsRedirects, maxBytes };
    this.#receiver = receiver;
  }

  /** May call the receiver before it returns. */
  begin(): void {
    const { dormancy, headersTimeoutMs, totalTimeoutMs } = this.#archive;
    const admission = dormancy.admit();
    if (admission === "refused") {
      this.#finish("dormant", DORMANT);
      return;
    }
    this.#isProbe = admission === "probe";
    const now = performance.now();
    this.#deadline = now + totalTimeoutMs;
    this.#arm(Math.min(headersTimeoutMs, totalTimeoutMs));
    this.#enter(now);
  }

  resume(): void {
    this.#exchange?.resume();
  }

  abort(): void {
    if (this.#phase === "done" || this.#phase === "unwanted") return;
    const { counters, dormancy } = this.#archive;
    counters.failures.aborted += 1;
    // Nobody wants all of it, but there was an answer.
    if (this.#phase === "body" && !this.#isJudged) dormancy.succeeded(this.#isProbe);
    if (this.#phase === "head") this.#linger();
    else this.#letGo();
  }

  onTurn(): void {
    try {
      this.#takeTurn();
    } catch (error) {
      this.#endWith(error);
    }
  }

  #takeTurn(): void {
    // It may have been given up while this one waited.
    if (!this.#isProbe && this.#archive.dormancy.health !== "awake") {
      this.#phase = "done";
      clearTimeout(this.#timer);
      this.#archive.limits.leave();
      this.#finish("dormant", DORMANT);
      return;
    }
    const now = performance.now();
    this.#queuedUntil = Infinity;
    this.#arm(Math.min(this.#archive.headersTimeoutMs, this.#deadline - now));
    this.#send(now);
  }

  onHead(head: AnswerHead): void {
    if (this.#phase === "unwanted") return;
    const { counters, dormancy, limits } = this.#archive;
    const now = performance.now();
    if (isArchiveFailing(head.status)) {
      counters.failingAnswers += 1;
      this.#isJudged = true;
      if (isOverload(head.status)) limits.overloaded();
      dormancy.failed(`it answered with status ${head.status}`, this.#isProbe);
      const askedMs = retryAfterMs(head.headers.get("retry-after"), Date.now()) ?? 0;
      if (askedMs > 0 && askedMs <= LONGEST_SENSIBLE_MS) {
        dormancy.sleepFor(Math.min(askedMs, this.#archive.longestDormantMs));
      } else if (isWorthRetrying(head.status) && this.#mayRetry(now)) {
        this.#phase = "draining";
        this.#drained = 0;
        return;
      }
    } else {
      limits.answered(now - this.#sentAt);
    }
    this.#phase = "body";
    this.#receiver.onHead(head);
  }

  onChunk(chunk: Uint8Array): boolean {
    if (this.#phase === "draining") {
      this.#drained += chunk.length;
      if (this.#drained <= DRAINED_BYTES) return true;
      this.#exchange?.abort();
      this.#sendLater();
      return true;
    }
    this.#archive.counters.bytes += chunk.length;
    if (this.#phase === "unwanted") {
      this.#drained += chunk.length;
      if (this.#drained > DRAINED_BYTES) this.#letGo();
      return true;
    }
    return this.#receiver.onChunk(chunk);
  }

  /** What came to its end may be what nobody waits for: then it is done with here. */
  #isNoAnswer(): boolean {
    if (this.#phase === "draining") this.#sendLater();
    else if (this.#phase === "unwanted") this.#leaveQuietly();
    else return false;
    return true;
  }

  onEnd(): void {
    if (this.#isNoAnswer()) return;
    const { limits, dormancy } = this.#archive;
    this.#phase = "done";
    clearTimeout(this.#timer);
    if (!this.#isJudged) dormancy.succeeded(this.#isProbe);
    limits.leave();
    this.#receiver.onEnd();
  }

  onFail(error: Error, reason: FailureReason): void {
    const { counters, limits } = this.#archive;
    if (this.#isNoAnswer()) return;
    counters.failures[reason] += 1;
    if (!this.#isJudged) this.#judge(error, reason);
    if (this.#phase === "head" && isPassing(reason) && this.#mayRetry(performance.now())) {
      this.#sendLater();
      return;
    }
    this.#phase = "done";
    clearTimeout(this.#timer);
    limits.leave();
    this.#receiver.onFail(error, reason);
  }

  /** What a failure says about the endpoint. */
  #judge(error: Error, reason: FailureReason): void {
    const { dormancy, limits } = this.#archive;
    this.#isJudged = true;
    if (IS_ANSWER.has(reason)) {
      dormancy.succeeded(this.#isProbe);
    } else if (!IS_OURS.has(reason)) {
      if (isPassing(reason)) limits.overloaded();
      dormancy.failed(error.message, this.#isProbe);
    } else if (this.#isProbe) {
      dormancy.endProbe();
    }
  }

  #enter(now: number): void {
    if (this.#attempts > 0 && this.#archive.dormancy.health !== "awake") {
      this.#letGo();
      this.#finish("dormant", DORMANT);
      return;
    }
    const { limits } = this.#archive;
    const outcome = limits.enter(this);
    if (outcome === "entered") {
      this.#send(now);
    } else if (outcome === "waiting") {
      // It may have had its turn within `enter`.
      if (this.#phase === "pausing") this.#phase = "waiting";
      if (this.#phase !== "waiting") return;
      const waitMs = Math.min(limits.longestWaitMs, (this.#deadline - now) / 2);
      this.#queuedUntil = now + waitMs;
      this.#arm(waitMs);
    } else {
      this.#letGo();
      this.#finish("queue-full", "too many requests wait for it already");
    }
  }

  #send(now: number): void {
    this.#phase = "head";
    this.#sentAt = now;
    this.#attempts += 1;
    this.#isJudged = false;
    this.#archive.counters.requests += 1;
    const { pools, maxRedirects } = this.#archive;
    const exchange = new HttpExchange(pools, this.#request, this, maxRedirects);
    exchange.begin();
    // Unless it failed at once, and is done or will be sent again.
    if (this.#phase === "head") this.#exchange = exchange;
  }

  /** Whether another try may help, is allowed and ends in time; sets how long to pause before it. */
  #mayRetry(now: number): boolean {
    const { retry, dormancy } = this.#archive;
    if (this.#isProbe || this.#attempts > retry.retries) return false;
    if (dormancy.health !== "awake") return false;
    const limits = { askedMs: undefined, mostMs: this.#deadline - now };
    const pauseMs = pauseWithin(this.#attempts, retry.firstMs, limits);
    if (pauseMs === undefined) return false;
    this.#pauseMs = pauseMs;
    return true;
  }

  #sendLater(): void {
    this.#phase = "pausing";
    this.#exchange = undefined;
    this.#archive.counters.retries += 1;
    this.#archive.limits.leave();
    this.#pause = setTimeout(() => {
      try {
        this.#enter(performance.now());
      } catch (error) {
        this.#endWith(error);
      }
    }, this.#pauseMs);
  }

  #arm(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(onTimer, Math.ceil(ms), this);
  }

  /** One timer for all: it looks what is late, and goes on if nothing is. */
  onTimer(): void {
    try {
      this.#lookWhatIsLate();
    } catch (error) {
      this.#endWith(error);
    }
  }

  #lookWhatIsLate(): void {
    const { headersTimeoutMs, totalTimeoutMs } = this.#archive;
    if (this.#phase === "unwanted") {
      this.#letGo();
      return;
    }
    const now = performance.now() + 1; // timers may be early by less than that
    const headAt = this.#phase === "head" ? this.#sentAt + headersTimeoutMs : Infinity;
    const queueAt = this.#phase === "waiting" ? this.#queuedUntil : Infinity;
    if (now >= this.#deadline) {
      this.#failLate(`there was no whole answer within ${totalTimeoutMs / 1000} s`);
    } else if (now >= headAt) {
      this.#failLate(`there was no answer within ${headersTimeoutMs / 1000} s`);
    } else if (now >= queueAt) {
      this.#letGo();
      this.#finish("queue-timeout", "it is asked so much that this request had no turn in time");
    } else {
      this.#arm(Math.min(headAt, queueAt, this.#deadline) - now);
    }
  }

  #failLate(message: string): void {
    const { dormancy, limits } = this.#archive;
    const wasSent = this.#phase === "head" || this.#phase === "body";
    if (wasSent && !this.#isJudged) {
      if (this.#phase === "head") limits.overloaded();
      dormancy.failed(message, this.#isProbe);
    }
    this.#letGo();
    this.#finish("timeout", message);
  }

  /** Lets the answer come, if it comes soon, for the sake of the connection. */
  #linger(): void {
    // Another request may find out how the archive is: this one may end before it has.
    if (this.#isProbe && !this.#isJudged) this.#archive.dormancy.endProbe();
    this.#isProbe = false;
    this.#phase = "unwanted";
    this.#drained = 0;
    this.#arm(LINGER_MS);
  }

  #leaveQuietly(): void {
    this.#phase = "done";
    clearTimeout(this.#timer);
    this.#archive.limits.leave();
  }

  /** Ends what is under way, whatever that is. */
  #letGo(): void {
    const phase = this.#phase;
    this.#phase = "done";
    clearTimeout(this.#timer);
    clearTimeout(this.#pause);
    if (this.#isProbe && !this.#isJudged) this.#archive.dormancy.endProbe();
    if (phase === "waiting") {
      this.#archive.limits.forget(this);
    } else if (phase !== "pausing" && phase !== "done") {
      this.#exchange?.abort();
      this.#archive.limits.leave();
    }
  }

  #finish(reason: FailureReason, message: string, cause?: unknown): void {
    this.#phase = "done";
    this.#archive.counters.failures[reason] += 1;
    const isLate = LATE_CODES.has(reason);
    const source = isLate ? this.#request.url : this.#archive.id;
    const details = { position: { source }, reason, cause };
    const code = isLate || reason === "internal" ? "MM_HTTP" : "MM_REFUSED";
    this.#receiver.onFail(new MementoMapError(code, message, details), reason);
  }

  /** Ends this request because of an error that nobody foresaw; timers must not throw. */
  #endWith(error: unknown): void {
    try {
      this.#letGo();
      this.#finish("internal", error instanceof Error ? error.message : String(error), error);
    } catch {
      // The deadline of the caller ends it.
    }
  }
}

/** An answer that is too long, or leads where nobody may go, is an answer. */
const IS_ANSWER: ReadonlySet<FailureReason> = new Set([
  "body-limit",
  "redirect",
  "private-address",
]);
/** Says nothing about the archive. */
const IS_OURS: ReadonlySet<FailureReason> = new Set(["local", "internal", "bad-request", "closed"]);

function onTimer(request: ArchiveRequest): void {
  request.onTimer();
}

function headersOf(
  common: readonly string[],
  own: Readonly<Record<string, string>> | undefined,
): readonly string[] {
  if (own === undefined) return common;
  const headers: string[] = [];
  for (let at = 0; at < common.length; at += 2) {
    if (!Object.hasOwn(own, common[at])) headers.push(common[at], common[at + 1]);
  }
  for (const [name, value] of Object.entries(own)) headers.push(name, value);
  return headers;
}
