import { WaitingLine } from "./waiting-line.ts";

/** Waits for its turn. */
export interface Waiter {
  /** Its turn has come: it is under way, and has to `leave`. */
  onTurn(): void;
}

export interface LimitsOptions {
  /** Requests under way at once. */
  readonly concurrency: number;
  /** Requests begun in a second; undefined for any number. */
  readonly rate: number | undefined;
  /** Requests that may wait. */
  readonly maxWaiting: number;
  /** Milliseconds that only go up. */
  readonly now: () => number;
}

/**
 * How much one archive is asked at once and in a second. First come, first served.
 *
 * A rate is kept by an even distance between requests, so that no second ever has more.
 */
export class Limits {
  #options: LimitsOptions;
  readonly #waiting = new WaitingLine<Waiter>();
  #underWay = 0;
  #nextAt = 0;
  #heldUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #isAdvancing = false;
  #isClosed = false;

  constructor(options: LimitsOptions) {
    this.#options = options;
  }

  get underWay(): number {
    return this.#underWay;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Goes by other limits from now on; what is under way stays. */
  change(options: LimitsOptions): void {
    this.#options = options;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#advance();
  }

  /** `entered`: it may begin, and has to `leave`; `waiting`: `onTurn` will be called; `full`: no. */
  enter(waiter: Waiter): "entered" | "waiting" | "full" {
    if (this.#waiting.size === 0 && this.#takeTurn()) return "entered";
    if (this.#waiting.size >= this.#options.maxWaiting) return "full";
    this.#waiting.push(waiter);
    this.#advance();
    return "waiting";
  }

  /** One that entered is done. */
  leave(): void {
    this.#underWay -= 1;
    if (this.#waiting.size > 0) this.#advance();
  }

  /** Lets nothing begin for a while: the archive asked for it. */
  hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, this.#options.now() + ms);
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

  #takeTurn(): boolean {
    const { concurrency, rate, now } = this.#options;
    if (this.#underWay >= concurrency && !this.#isClosed) return false;
    if ((rate !== undefined || this.#heldUntil > 0) && !this.#isClosed) {
      const time = now();
      if (time < this.#nextAt || time < this.#heldUntil) return false;
      this.#heldUntil = 0;
      if (rate !== undefined) this.#nextAt = time + 1000 / rate;
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
    if (this.#timer !== undefined || this.#underWay >= this.#options.concurrency) return;
    const at = Math.max(this.#nextAt, this.#heldUntil);
    const delay = Math.max(1, Math.ceil(at - this.#options.now()));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#advance();
    }, delay);
  }
}
