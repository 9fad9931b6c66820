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
  /** Whether this process has time for more requests than are under way; default that it has. */
  readonly hasTime?: (() => boolean) | undefined;
  /** Who hands out turns, where several processes share them one by one; default nobody. */
  readonly turns?: TurnTaker | undefined;
  /** Milliseconds that only go up. */
  readonly now: () => number;
}

/** Hands out turns to several processes; calls `grant` for each that was wanted. */
interface TurnTaker {
  /** `want`: one more turn; `done`: one has ended; `unused`: one is given back. */
  tell(what: "want" | "done" | "unused"): void;
}

/** A queue is not given up for less than this, if `longestWaitMs` is not shorter. */
const LEAST_WAIT_MS = 1000;
/** Nobody notices a wait that is shorter than this. */
const SHORT_WAIT_MS = 100;

/**
 * How much one archive is asked at once and in a second. First come, first served.
 *
 * A rate is kept by an even distance between requests, so that no second ever has more. Nobody waits
 * in vain: a request that would not have its turn in time is refused at once.
 */
export class Limits {
  #options: LimitsOptions;
  readonly #limit: AdaptiveLimit;
  readonly #waiting = new FifoQueue<Waiter>();
  #underWay = 0;
  #nextAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #isAdvancing = false;
  #isClosed = false;
  /** Turns that were handed out to this process, and are not under way. */
  #granted = 0;
  /** Turns that requests have which are under way. */
  #used = 0;

  constructor(options: LimitsOptions) {
    this.#options = options;
    this.#limit = new AdaptiveLimit(options);
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
    const waited = this.#options.turns === undefined ? this.#waiting.size : 0;
    this.#options = options;
    for (let count = 0; count < waited; count++) options.turns?.tell("want");
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
    this.#options.turns?.tell("want");
    this.#advance();
    return "waiting";
  }

  /** One more turn was handed out. */
  grant(): void {
    this.#granted += 1;
    this.#advance();
    if (this.#waiting.size === 0) this.#giveBack();
  }

  /** One that entered is done. */
  leave(): void {
    this.#underWay -= 1;
    if (this.#used > 0) {
      this.#used -= 1;
      this.#options.turns?.tell("done");
    }
    if (this.#waiting.size > 0) this.#advance();
    else this.#giveBack();
  }

  /** The archive answered one that is under way: it may be able to take more. */
  answered(latencyMs: number): void {
    this.#limit.answered(latencyMs, this.#isShort());
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

  /**
   * Whether more should be under way. Not for a short queue while this process is busy all the time:
   * more connections would only make it busier.
   */
  #isShort(): boolean {
    if (this.#waiting.size === 0 && this.#underWay < this.concurrency) return false;
    return this.#wouldWaitMs() > SHORT_WAIT_MS || this.#options.hasTime?.() !== false;
  }

  /** How long one more would wait, as far as can be told. */
  #wouldWaitMs(): number {
    return (this.#waiting.size / this.concurrency) * (this.#limit.latencyMs ?? 0);
  }

  /** Whether one more would wait too long. */
  #isFull(): boolean {
    const { maxWaiting, rate, longestWaitMs } = this.#options;
    const waiting = this.#waiting.size;
    if (waiting >= maxWaiting) return true;
    if (rate !== undefined && (waiting * 1000) / rate > longestWaitMs) return true;
    return this.#wouldWaitMs() > this.longestWaitMs;
  }

  #giveBack(): void {
    for (; this.#granted > 0; this.#granted--) this.#options.turns?.tell("unused");
  }

  #takeTurn(): boolean {
    const { rate, now, turns } = this.#options;
    if (!this.#isClosed) {
      if (this.#underWay >= this.concurrency) return false;
      if (turns !== undefined) {
        if (this.#granted === 0) return false;
        this.#granted -= 1;
        this.#used += 1;
      } else if (rate !== undefined) {
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
    if (this.#options.turns !== undefined) return;
    if (this.#timer !== undefined || this.#underWay >= this.concurrency) return;
    const delay = Math.max(1, Math.ceil(this.#nextAt - this.#options.now()));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#advance();
    }, delay);
  }
}

/** Where every archive begins: some firewalls object to 20 connections. */
const FIRST = 16;
/** An archive that is overloaded is asked this much at once all the same. */
const LEAST = 4;
/** How much the newest answer counts in the latency. */
const WEIGHT = 0.1;
/** Answers to requests of the same moment count as one sign of overload; at least for this time. */
const LEAST_PAUSE_MS = 100;

/**
 * How many requests an archive can take at once, found out by asking: additive increase,
 * multiplicative decrease, as TCP does it.
 *
 * It begins with 16 and grows by one with each answer while requests wait, which doubles it in the
 * time an answer takes. When the archive says that this is too much, or does not answer, it is
 * halved, and from there grows by one in the time an answer takes. Latency alone does not lower it:
 * what is measured here includes how busy this process is.
 */
class AdaptiveLimit {
  /** The ceiling. */
  most: number;
  readonly #now: () => number;
  readonly #least: number;
  #limit: number;
  /** Below, the limit doubles; above, it grows by one. */
  #threshold = Infinity;
  #latencyMs: number | undefined;
  #loweredAt = -Infinity;

  constructor({ concurrency, now, share = 1 }: LimitsOptions) {
    this.most = concurrency;
    this.#now = now;
    this.#limit = Math.max(1, FIRST * share);
    this.#least = Math.max(1, LEAST * share);
  }

  get current(): number {
    return Math.min(this.most, Math.floor(this.#limit));
  }

  /** How long answers take, the last ones counting most; undefined before the first. */
  get latencyMs(): number | undefined {
    return this.#latencyMs;
  }

  /** @param isShort whether more should be under way than the limit allows. */
  answered(latencyMs: number, isShort: boolean): void {
    const before = this.#latencyMs ?? latencyMs;
    this.#latencyMs = before + (latencyMs - before) * WEIGHT;
    if (!isShort || this.#limit >= this.most) return;
    this.#limit += this.#limit < this.#threshold ? 1 : 1 / this.#limit;
  }

  /** @param underWay a failure while little was asked is none of too much. */
  overloaded(underWay: number): void {
    if (underWay * 2 < this.current) return;
    const now = this.#now();
    const pauseMs = Math.max(LEAST_PAUSE_MS, this.#latencyMs ?? 0);
    if (now - this.#loweredAt < pauseMs) return;
    this.#loweredAt = now;
    this.#limit = Math.max(this.#least, Math.min(this.current, underWay) / 2);
    this.#threshold = this.#limit;
  }
}

/**
 * First in, first out; any item can be taken out.
 *
 * An array, for the same reason that `UnderWay` is not a `Map`.
 */
export class FifoQueue<Item> {
  #items: (Item | undefined)[] = [];
  #first = 0;
  #size = 0;
  /** Places in front that were given up. */
  #trimmed = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns the place of the item, for `deleteAt`. */
  push(item: Item): number {
    this.#size += 1;
    return this.#trimmed + this.#items.push(item) - 1;
  }

  shift(): Item | undefined {
    while (this.#first < this.#items.length) {
      const item = this.#items[this.#first];
      this.#items[this.#first] = undefined;
      this.#first += 1;
      if (item === undefined) continue;
      this.#size -= 1;
      this.#trim();
      return item;
    }
    return undefined;
  }

  /** Looks from the front, where those are that have waited too long. */
  delete(item: Item): void {
    const at = this.#items.indexOf(item, this.#first);
    if (at !== -1) this.deleteAt(this.#trimmed + at);
  }

  /** Takes an item out in constant time; nothing happens if it is no longer there. */
  deleteAt(place: number): void {
    const at = place - this.#trimmed;
    if (this.#items[at] === undefined) return;
    this.#items[at] = undefined;
    this.#size -= 1;
    while (this.#first < this.#items.length && this.#items[this.#first] === undefined) {
      this.#first += 1;
    }
    this.#trim();
  }

  /** Gives up the places in front, now and then. */
  #trim(): void {
    if (this.#first < 1024 || this.#first * 2 < this.#items.length) return;
    this.#items = this.#items.slice(this.#first);
    this.#trimmed += this.#first;
    this.#first = 0;
  }
}
