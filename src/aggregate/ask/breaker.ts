import { MementoMapError } from "../../errors.ts";

export interface BreakerOptions {
  /** Failures in a row after which an endpoint is left out; Infinity for never. */
  readonly tolerance: number;
  /** For how long at first; doubled each time. */
  readonly dormantMs: number;
  readonly longestMs: number;
  /** Milliseconds that only go up. */
  readonly now: () => number;
  /** Called when it opens or closes. Must not throw. */
  readonly onChange: () => void;
}

/** Who asks for more is not left out for longer. */
const LONGEST_PAUSE_MS = 900_000;
const LEAST_PAUSE_MS = 60_000;

/**
 * A circuit breaker: leaves an endpoint out that fails again and again. Some odd URIs do not open it: one that worked
 * is asked first. After a while one request finds out whether the endpoint is back.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #failures = 0;
  #lastFailure: string | undefined;
  #openUntil: number | undefined;
  /** How often it was opened in a row. */
  #rounds = 0;
  #isProbing = false;
  #isConfirming = false;
  /** A URI that the archive answered for. */
  #lastGood: string | undefined;
  /** When that was, or was confirmed. */
  #goodAt = -Infinity;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  get health(): "awake" | "dormant" | "probing" {
    if (this.#openUntil === undefined) return "awake";
    return this.#isProbing ? "probing" : "dormant";
  }

  get consecutiveFailures(): number {
    return this.#failures;
  }

  get lastFailure(): string | undefined {
    return this.#lastFailure;
  }

  get openUntil(): number | undefined {
    return this.#openUntil;
  }

  /** Whether {@link check} would refuse a request. */
  get isOpen(): boolean {
    const until = this.#openUntil;
    return until !== undefined && (this.#isProbing || this.#options.now() < until);
  }

  /**
   * Call it before a request. True for the first one after a pause, which is a probe.
   *
   * @throws MM_REFUSED while it is open.
   */
  check(): boolean {
    if (this.isOpen) {
      const message = "the archive failed too often, and is left out for a while";
      throw new MementoMapError("MM_REFUSED", message, { reason: "dormant" });
    }
    this.#isProbing = this.#openUntil !== undefined;
    if (this.#isProbing) this.#options.onChange();
    return this.#isProbing;
  }

  /** @param uri what it answered for, where it had mementos. */
  succeeded(uri?: string): void {
    this.#failures = 0;
    if (uri !== undefined) {
      this.#lastGood = uri;
      this.#goodAt = this.#options.now();
    }
    if (this.#openUntil === undefined) return;
    this.#openUntil = undefined;
    this.#isProbing = false;
    this.#rounds = 0;
    this.#options.onChange();
  }

  /**
   * The endpoint failed.
   *
   * @param asks whether it answers for another URI; must not reject.
   */
  async failed(reason: string, asks: (uri: string) => Promise<boolean>): Promise<void> {
    const wasProbing = this.#isProbing;
    this.#failures += 1;
    this.#lastFailure = reason;
    if (this.#openUntil !== undefined) {
      if (wasProbing) this.#open();
      return;
    }
    if (this.#failures < this.#options.tolerance || this.#isConfirming) return;
    if (await this.confirm(asks)) this.#failures = 0;
    else if (this.#openUntil === undefined && this.#failures > 0) this.#open();
  }

  /** Whether the endpoint works now: it answers for a URI that it has answered for. */
  async confirm(asks: (uri: string) => Promise<boolean>): Promise<boolean> {
    if (this.#lastGood === undefined) return false;
    this.#isConfirming = true;
    const isUp = await asks(this.#lastGood);
    this.#isConfirming = false;
    if (isUp) this.#goodAt = this.#options.now();
    return isUp;
  }

  /** Whether it was seen to work within a minute. */
  get wasGoodLately(): boolean {
    return this.#options.now() - this.#goodAt < 60_000;
  }

  /** Nothing was learnt from a probe. */
  endProbe(): void {
    this.#isProbing = false;
  }

  /** The host says that it is asked too much: who goes on is blocked for longer. */
  pause(reason: string, askedMs: number | undefined): void {
    this.#lastFailure = reason;
    this.#failures += 1;
    const ms = Math.min(Math.max(LEAST_PAUSE_MS, askedMs ?? 0), LONGEST_PAUSE_MS);
    this.#openFor(Math.min(ms, this.#options.longestMs));
  }

  #open(): void {
    const { dormantMs, longestMs } = this.#options;
    const ms = Math.min(dormantMs * 2 ** this.#rounds, longestMs);
    this.#rounds += 1;
    this.#openFor(ms);
  }

  #openFor(ms: number): void {
    this.#isProbing = false;
    this.#openUntil = Math.max(this.#openUntil ?? 0, this.#options.now() + ms);
    this.#options.onChange();
  }
}
