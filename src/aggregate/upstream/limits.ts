import { AdaptiveLimit } from "./adaptive-limit.ts";
import { WaitingLine } from "./waiting-line.ts";

/** Waits for its turn. */
export interface Waiter {
  /** Its turn has come: it is under way, and has to `leave`. */
  onTurn(): void;
}

export interface LimitsOptions {
  /** Requests under way at once, at most; fewer at first, and when the archive is overloaded. */
  readonly concurrency: number;
  /** Requests begun in a second; undefined for any number. */
  readonly rate: number | undefined;
  /** The share of the archive that this process has, where several ask it; default 1. */
  readonly share?: number | undefined;
  /** Requests that may wait. */
  readonly maxWaiting: number;
  /** How long a request may wait, at most. */
  readonly longestWaitMs: number;
  /** Milliseconds that only go up. */
  readonly now: () => number;
}

/** A queue is not given up for less than this, if `longestWaitMs` is not shorter. */
const LEAST_WAIT_MS = 1000;

/**
 * How much one archive is asked at once and in a second. First come, first served.
 *
 * A rate is kept by an even distance between requests, so that no second ever has more. Nobody waits
 * in vain: a request that would not have its turn in time is refused at once.
 */
export class Limits {
  #options: LimitsOptions;
  readonly #limit: AdaptiveLimit;
  readonly #waiting = new WaitingLine<Waiter>();
  #underWay = 0;
  #nextAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #isAdvancing = false;
  #isClosed = false;

  constructor(options: LimitsOptions) {
    this.#options = options;
    this.#limit = new AdaptiveLimit(options.concurrency, options.now, options.share);
  }

  get underWay(): number {
    return this.#underWay;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** How many requests may be under way now. */
  get concurrency(): number {
    return this.#limit.current;
  }

  /** How long a request may wait now: as long as an answer takes, within bounds. */
  get longestWaitMs(): number {
    const most = this.#options.longestWaitMs;
    return Math.min(most, Math.max(LEAST_WAIT_MS, this.#limit.latencyMs ?? most));
  }

  /** Goes by other limits from now on; what is under way stays. */
  change(options: LimitsOptions): void {
    this.#options = options;
    this.#limit.most = options.concurrency;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#advance();
  }

  /** `entered`: it may begin, and has to `leave`; `waiting`: `onTurn` will be called; `full`: no. */
  enter(waiter: Waiter): "entered" | "waiting" | "full" {
    if (this.#waiting.size === 0 && this.#takeTurn()) return "entered";
    if (this.#isFull()) return "full";
    this.#waiting.push(waiter);
    this.#advance();
    return "waiting";
  }

  /** One that entered is done. */
  leave(): void {
    this.#underWay -= 1;
    if (this.#waiting.size > 0) this.#advance();
  }

  /** The archive answered one that is under way: it may be able to take more. */
  answered(latencyMs: number): void {
    this.#limit.answered(latencyMs, this.#waiting.size > 0 || this.#underWay >= this.concurrency);
  }

  /** The archive said that it is asked too much, or did not answer. */
  overloaded(): void {
    this.#limit.overloaded(this.#underWay);
  }

  /** One that waits does not want to any more. */
  forget(waiter: Waiter): void {
    this.#waiting.delete(waiter);
  }

  /** Lets all begin that wait, and all that come: nothing can be sent any more. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#advance();
  }

  /** Whether one more would wait too long, as far as can be told. */
  #isFull(): boolean {
    const { maxWaiting, rate, longestWaitMs } = this.#options;
    const waiting = this.#waiting.size;
    if (waiting >= maxWaiting) return true;
    if (rate !== undefined && (waiting * 1000) / rate > longestWaitMs) return true;
    const { latencyMs } = this.#limit;
    return latencyMs !== undefined && (waiting / this.concurrency) * latencyMs > this.longestWaitMs;
  }

  #takeTurn(): boolean {
    const { rate, now } = this.#options;
    if (!this.#isClosed) {
      if (this.#underWay >= this.concurrency) return false;
      if (rate !== undefined) {
        const time = now();
        if (time < this.#nextAt) return false;
        this.#nextAt = time + 1000 / rate;
      }
    }
    this.#underWay += 1;
    return true;
  }

  /** Lets all begin that may. Turns can end at once and call `leave`: the loop sees to those too. */
  #advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    while (this.#waiting.size > 0 && this.#takeTurn()) this.#waiting.shift()?.onTurn();
    this.#isAdvancing = false;
    if (this.#waiting.size > 0) this.#wakeLater();
  }

  /** Where only time holds requests back, nothing else would call for them. */
  #wakeLater(): void {
    if (this.#timer !== undefined || this.#underWay >= this.concurrency) return;
    const delay = Math.max(1, Math.ceil(this.#nextAt - this.#options.now()));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#advance();
    }, delay);
  }
}
