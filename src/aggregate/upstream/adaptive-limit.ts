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
export class AdaptiveLimit {
  /** The ceiling. */
  most: number;
  readonly #now: () => number;
  readonly #least: number;
  #limit: number;
  /** Below, the limit doubles; above, it grows by one. */
  #threshold = Infinity;
  #latencyMs: number | undefined;
  #loweredAt = -Infinity;

  /** @param share of what the archive can take, where several processes ask it; default all. */
  constructor(most: number, now: () => number, share: number = 1) {
    this.most = most;
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

  /** @param isUsed whether all that the limit allows was under way. */
  answered(latencyMs: number, isUsed: boolean): void {
    const before = this.#latencyMs ?? latencyMs;
    this.#latencyMs = before + (latencyMs - before) * WEIGHT;
    if (!isUsed || this.#limit >= this.most) return;
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
