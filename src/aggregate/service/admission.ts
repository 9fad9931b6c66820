import { FREE, SATURATED } from "../upstream/event-loop.ts";
import { FifoQueue } from "../upstream/limits.ts";

/** The limit is not lowered below this, if the ceiling is not lower. */
const LEAST = 16;

interface AdmissionOptions {
  /** Requests under way at once, at most. */
  readonly most: number;
  /** Requests that may wait. */
  readonly mostWaiting: number;
  /** The share of its time that the event loop was busy lately; undefined when it is too early to tell. */
  readonly utilization?: (() => number | undefined) | undefined;
}

/**
 * Limits the requests under way; the others wait in the order they came, up to a bound.
 *
 * Ten thousand clients at once then take turns, where they would otherwise share out the archives'
 * connections among them and all be late. While the event loop is busy all the time, the limit is
 * lowered to what keeps it busy: the loop accepts one new connection in each of its turns, and with
 * hundreds of requests under way a turn takes a tenth of a second, so that new clients would wait
 * for seconds behind those that are connected.
 */
export class Admission {
  readonly #most: number;
  readonly #least: number;
  readonly #utilization: () => number | undefined;
  #limit: number;
  readonly #mostWaiting: number;
  readonly #queue = new FifoQueue<() => void>();
  underWay = 0;

  constructor(options: AdmissionOptions) {
    this.#most = options.most;
    this.#least = Math.min(LEAST, options.most);
    this.#limit = options.most;
    this.#utilization = options.utilization ?? (() => undefined);
    this.#mostWaiting = options.mostWaiting;
  }

  /** How many wait for their turn. */
  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Starts work now or in its turn. Each that was started calls {@link leave} once when it is over.
   *
   * @returns how to give up, for work that has to wait; `full` when the queue is.
   */
  enter(start: () => void): "started" | "full" | (() => void) {
    if (this.underWay < this.#limit && this.waiting === 0) {
      this.underWay += 1;
      start();
      return "started";
    }
    if (this.waiting >= this.#mostWaiting) return "full";
    const place = this.#queue.push(start);
    return () => this.#queue.deleteAt(place);
  }

  leave(): void {
    this.underWay -= 1;
    this.#adapt();
    while (this.underWay < this.#limit) {
      const start = this.#queue.shift();
      if (start === undefined) return;
      this.underWay += 1;
      start();
    }
  }

  #adapt(): void {
    const utilization = this.#utilization();
    if (utilization === undefined) return;
    if (utilization > SATURATED) {
      this.#limit = Math.max(this.#least, Math.min(this.#limit, this.underWay + 1) * 0.9);
    } else if (utilization < FREE && this.#limit < this.#most) {
      this.#limit = Math.min(this.#most, this.#limit * 1.25);
    }
  }
}
