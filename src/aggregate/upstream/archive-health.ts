import { FAILURE_REASONS, type FailureReason } from "../../http/retry.ts";

interface DormancyOptions {
  /** Failures in a row after which an archive is dormant; Infinity for never. */
  readonly tolerance: number;
  /** How long it is dormant first; doubled each time a probe fails. */
  readonly dormantMs: number;
  readonly longestMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called for what this process found out. */
  readonly onChange?: (() => void) | undefined;
  /** Takes what other processes that ask the archive should know; they `apply` it. */
  readonly share?: ((news: DormancyNews) => void) | undefined;
}

/** What a process found out about an archive, with all that it knows since. */
export interface DormancyNews {
  readonly event: "failed" | "succeeded" | "woke" | "asleep";
  readonly failures: number;
  readonly lastFailure: string | undefined;
  /** Milliseconds since 1970 by the system's clock. */
  readonly until: number | undefined;
  readonly rounds: number;
}

/** Others do not ask for this long while a process probes: it may die before it tells the result. */
const FOREIGN_PROBE_MS = 60_000;

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
    this.#share("asleep", this.#options.now() + FOREIGN_PROBE_MS);
    return "probe";
  }

  /** Only a probe wakes it: others may have been sent before the trouble began. */
  succeeded(isProbe: boolean): void {
    const hadFailed = this.#failures > 0;
    this.#failures = 0;
    if (this.#until !== undefined && isProbe) {
      this.#wake();
      this.#options.onChange?.();
      this.#share("woke");
    } else if (hadFailed) {
      this.#share("succeeded");
    }
  }

  failed(reason: string, isProbe: boolean): void {
    this.#failures += 1;
    this.#lastFailure = reason;
    // Requests that were under way when it was given up do not count again.
    const isNews = isProbe || this.#until === undefined;
    if (!isNews) return;
    const { dormantMs, longestMs, now, tolerance } = this.#options;
    if (!isProbe && this.#failures < tolerance) {
      if (tolerance !== Infinity) this.#share("failed");
      return;
    }
    const forMs = Math.min(dormantMs * 2 ** this.#rounds, longestMs);
    this.#rounds += 1;
    this.#sleep(now() + forMs);
  }

  /** Nothing was learned from a probe: the next request is one. */
  endProbe(): void {
    if (!this.#isProbing) return;
    this.#isProbing = false;
    this.#options.onChange?.();
    this.#share("asleep");
  }

  /** The archive asked for a pause, by `Retry-After`. */
  sleepFor(ms: number): void {
    const untilMs = this.#options.now() + ms;
    if (this.#until === undefined || this.#until < untilMs) this.#sleep(untilMs);
  }

  /** Goes by what another process found out, also if it began before this one. */
  apply({ event, failures, lastFailure, until, rounds }: DormancyNews): void {
    this.#lastFailure = lastFailure ?? this.#lastFailure;
    if (event === "failed") {
      // Failures of the same moment count, wherever they happen.
      this.#failures = Math.max(this.#failures + 1, failures);
      return;
    }
    this.#failures = failures;
    if (event === "woke") {
      this.#wake();
    } else if (event === "asleep" && until !== undefined) {
      const { now, longestMs } = this.#options;
      // By the clock of this process; that of the system may have been set.
      this.#until = now() + Math.min(until - Date.now(), Math.max(longestMs, FOREIGN_PROBE_MS));
      this.#rounds = rounds;
    }
  }

  #wake(): void {
    this.#until = undefined;
    this.#isProbing = false;
    this.#rounds = 0;
  }

  #sleep(untilMs: number): void {
    this.#until = untilMs;
    this.#isProbing = false;
    this.#options.onChange?.();
    this.#share("asleep");
  }

  #share(event: DormancyNews["event"], untilMs: number | undefined = this.#until): void {
    const { share, now } = this.#options;
    if (share === undefined) return;
    const until = untilMs === undefined ? undefined : Date.now() + untilMs - now();
    const lastFailure = this.#lastFailure;
    share({ event, failures: this.#failures, lastFailure, until, rounds: this.#rounds });
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
