import type { EndpointState } from "./state.ts";

export interface BreakerOptions {
  /** Consecutive failures that open the circuit; Infinity for never. */
  readonly tolerance: number;
  /** Longest pause: a minute at first, doubled each time. */
  readonly longestMs: number;
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Whether the endpoint answers for a URI. Must not reject. */
  readonly confirm: (uri: string) => Promise<boolean>;
  /** Called when the circuit opens or closes. Must not throw. */
  readonly onChange: (state: EndpointState) => void;
}

const DORMANT_MS = 60_000;
/** Shortest pause after 429, whatever `Retry-After` says. */
const MIN_PAUSE_MS = 60_000;
/** An endpoint that succeeded this recently is not checked again. */
const RECENT_MS = 60_000;

/**
 * A circuit breaker. Opens when an endpoint fails repeatedly, unless a URI that worked before still works. After a
 * pause, one request probes whether the endpoint is back.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #failures = 0;
  #lastFailure: string | undefined;
  #openUntil: number | undefined;
  /** Consecutive openings. */
  #rounds = 0;
  #isProbing = false;
  #isConfirming = false;
  /** A URI that the archive answered for, and when this last worked. */
  #lastGood: string | undefined;
  #goodAt = -Infinity;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  get state(): EndpointState {
    const until = this.#openUntil;
    const leftMs = (until ?? 0) - this.#options.now();
    return {
      health: until === undefined ? "awake" : this.#isProbing ? "probing" : "dormant",
      consecutiveFailures: this.#failures,
      dormantUntil: until === undefined ? undefined : leftMs + Date.now(),
      lastFailure: this.#lastFailure,
    };
  }

  /** Whether requests are blocked. */
  get isOpen(): boolean {
    const until = this.#openUntil;
    return until !== undefined && (this.#isProbing || this.#options.now() < until);
  }

  /** Call before sending a request; returns whether it is the first one after a pause, which is a probe. */
  begin(): boolean {
    this.#isProbing = this.#openUntil !== undefined;
    if (this.#isProbing) this.#options.onChange(this.state);
    return this.#isProbing;
  }

  /** @param uri the original, if the archive has mementos of it. */
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
    this.#options.onChange(this.state);
  }

  async failed(reason: string): Promise<void> {
    const wasProbing = this.#isProbing;
    this.#failures += 1;
    this.#lastFailure = reason;
    if (this.#openUntil !== undefined) {
      if (wasProbing) this.#open();
      return;
    }
    if (this.#failures < this.#options.tolerance || this.#isConfirming) return;
    if (await this.#confirm()) this.#failures = 0;
    else if (this.#openUntil === undefined && this.#failures > 0) this.#open();
  }

  /** Whether the endpoint works: it succeeded within a minute, or answers for a URI that worked before. */
  async isUp(): Promise<boolean> {
    return this.#options.now() - this.#goodAt < RECENT_MS || this.#confirm();
  }

  async #confirm(): Promise<boolean> {
    if (this.#lastGood === undefined) return false;
    this.#isConfirming = true;
    const isUp = await this.#options.confirm(this.#lastGood);
    this.#isConfirming = false;
    if (isUp) this.#goodAt = this.#options.now();
    return isUp;
  }

  /** Ends a probe without a result. */
  endProbe(): void {
    this.#isProbing = false;
  }

  /** The host answered 429: clients that continue are blocked for longer. */
  pause(reason: string, askedMs: number | undefined): void {
    this.#lastFailure = reason;
    this.#failures += 1;
    this.#openFor(Math.max(MIN_PAUSE_MS, askedMs ?? 0));
  }

  #open(): void {
    this.#openFor(DORMANT_MS * 2 ** this.#rounds);
    this.#rounds += 1;
  }

  #openFor(ms: number): void {
    const { now, longestMs, onChange } = this.#options;
    this.#isProbing = false;
    this.#openUntil = Math.max(this.#openUntil ?? 0, now() + Math.min(ms, longestMs));
    onChange(this.state);
  }
}
