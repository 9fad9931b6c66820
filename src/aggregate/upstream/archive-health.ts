import { FAILURE_REASONS, type FailureReason } from "../../http/retry.ts";

interface DormancyOptions {
  /** Failures in a row after which an archive is dormant; Infinity for never. */
  readonly tolerance: number;
  /** How long it is dormant first; doubled each time a probe fails. */
  readonly dormantMs: number;
  readonly longestMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly onChange?: (() => void) | undefined;
}

/**
 * A circuit breaker: no requests go to an archive that fails again and again, except for single probes
 * that find out whether it is back.
 */
export class Dormancy {
  readonly #options: DormancyOptions;
  #failures = 0;
  #lastFailure: string | undefined;
  #until: number | undefined;
  #isProbing = false;
  /** How often it was dormant in a row. */
  #rounds = 0;

  constructor(options: DormancyOptions) {
    this.#options = options;
  }

  get health(): "awake" | "dormant" | "probing" {
    if (this.#until === undefined) return "awake";
    return this.#isProbing ? "probing" : "dormant";
  }

  get consecutiveFailures(): number {
    return this.#failures;
  }

  get lastFailure(): string | undefined {
    return this.#lastFailure;
  }

  get until(): number | undefined {
    return this.#until;
  }

  /** Whether {@link admit} would refuse a request. */
  get isRefusing(): boolean {
    return this.#until !== undefined && (this.#isProbing || this.#options.now() < this.#until);
  }

  /** Whether a request may be sent. After `probe`, say how it went, or `endProbe`. */
  admit(): "awake" | "probe" | "refused" {
    if (this.#until === undefined) return "awake";
    if (this.isRefusing) return "refused";
    this.#isProbing = true;
    this.#options.onChange?.();
    return "probe";
  }

  /** Only a probe wakes it: others may have been sent before the trouble began. */
  succeeded(isProbe: boolean): void {
    this.#failures = 0;
    if (this.#until === undefined || !isProbe) return;
    this.#until = undefined;
    this.#isProbing = false;
    this.#rounds = 0;
    this.#options.onChange?.();
  }

  failed(reason: string, isProbe: boolean): void {
    this.#failures += 1;
    this.#lastFailure = reason;
    // Requests that were under way when it was given up do not count again.
    const isNews = isProbe || this.#until === undefined;
    if (!isNews || (!isProbe && this.#failures < this.#options.tolerance)) return;
    const { dormantMs, longestMs, now } = this.#options;
    this.#sleep(now() + Math.min(dormantMs * 2 ** this.#rounds, longestMs));
    this.#rounds += 1;
  }

  /** Nothing was learned from a probe: the next request is one. */
  endProbe(): void {
    if (!this.#isProbing) return;
    this.#isProbing = false;
    this.#options.onChange?.();
  }

  /** The archive asked for a pause, by `Retry-After`. */
  sleepFor(ms: number): void {
    const untilMs = this.#options.now() + ms;
    if (this.#until === undefined || this.#until < untilMs) this.#sleep(untilMs);
  }

  #sleep(untilMs: number): void {
    this.#until = untilMs;
    this.#isProbing = false;
    this.#options.onChange?.();
  }
}

/** What was asked of an archive and what came of it, since the start. */
export class ArchiveCounters {
  /** Sent over the network, with those sent again. */
  requests = 0;
  /** Answered from the cache. */
  cacheHits = 0;
  /** Found unchanged by the archive. */
  revalidations = 0;
  /** Answered by a request that was under way. */
  coalesced = 0;
  /** Sent again. */
  retries = 0;
  /** Old answers that were given because there was no new one. */
  staleAnswers = 0;
  /** Bytes of bodies, decompressed. */
  bytes = 0;
  /** Answers of status 429 and 5xx. */
  failingAnswers = 0;
  /** By reason; those the upstream does not give stay 0. */
  readonly failures: Record<FailureReason, number> = noFailures();
}

function noFailures(): Record<FailureReason, number> {
  // One entry for each, so that none is missing.
  return Object.fromEntries(FAILURE_REASONS.map((reason) => [reason, 0])) as Record<
    FailureReason,
    number
  >;
}
