export interface DormancyOptions {
  /** Failures in a row after which an archive is left alone; Infinity for never. */
  readonly tolerance: number;
  /** How long it is left alone first; doubled each time it has not come back. */
  readonly dormantMs: number;
  readonly longestMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly onChange?: (() => void) | undefined;
}

/**
 * Leaves an archive alone that fails again and again, and finds out now and then whether it is
 * back, by one request at a time: a circuit breaker.
 */
export class Dormancy {
  readonly #options: DormancyOptions;
  #failures = 0;
  #lastFailure: string | undefined;
  #until: number | undefined;
  #isProbing = false;
  /** How often it was left alone in a row. */
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

  /** Whether a request may be sent. After `probe`, say how it went, or `endProbe`. */
  admit(): "awake" | "probe" | "refused" {
    if (this.#until === undefined) return "awake";
    if (this.#isProbing || this.#options.now() < this.#until) return "refused";
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

  /** The archive asked not to be asked for so long. */
  leaveAlone(ms: number): void {
    const untilMs = this.#options.now() + ms;
    if (this.#until === undefined || this.#until < untilMs) this.#sleep(untilMs);
  }

  #sleep(untilMs: number): void {
    this.#until = untilMs;
    this.#isProbing = false;
    this.#options.onChange?.();
  }
}
