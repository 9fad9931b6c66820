/**
 * Lets so many requests in at a time; the others wait in the order they came, up to a bound.
 *
 * Ten thousand clients at once then take turns, where they would otherwise share out the archives'
 * connections among them and all be late.
 */
export class Admission {
  readonly #most: number;
  readonly #mostWaiting: number;
  /** In order; entries that gave up stay as `undefined` until their turn. */
  #waiting: (Waiter | undefined)[] = [];
  /** The first of `#waiting` that has not had its turn. */
  #next = 0;
  #givenUp = 0;
  underWay = 0;

  constructor(options: { readonly most: number; readonly mostWaiting: number }) {
    this.#most = options.most;
    this.#mostWaiting = options.mostWaiting;
  }

  /** How many wait for their turn. */
  get waiting(): number {
    return this.#waiting.length - this.#next - this.#givenUp;
  }

  /**
   * Starts work now or in its turn. Each that was started calls {@link leave} once when it is over.
   *
   * @returns how to give up, for work that has to wait; `full` when there is no room to wait in.
   */
  enter(start: () => void): "started" | "full" | (() => void) {
    if (this.underWay < this.#most) {
      this.underWay += 1;
      start();
      return "started";
    }
    if (this.waiting >= this.#mostWaiting) return "full";
    const waiter: Waiter = { start };
    this.#waiting.push(waiter);
    return () => {
      if (waiter.start === undefined) return;
      waiter.start = undefined;
      this.#givenUp += 1;
    };
  }

  leave(): void {
    this.underWay -= 1;
    while (this.underWay < this.#most && this.#next < this.#waiting.length) {
      const waiter = this.#waiting[this.#next];
      this.#waiting[this.#next] = undefined;
      this.#next += 1;
      const start = waiter?.start;
      if (waiter === undefined || start === undefined) {
        this.#givenUp -= 1;
        continue;
      }
      waiter.start = undefined;
      this.underWay += 1;
      start();
    }
    if (this.#next === this.#waiting.length) {
      this.#waiting = [];
      this.#next = 0;
    } else if (this.#next > 1024 && this.#next * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
  }
}

interface Waiter {
  start: (() => void) | undefined;
}
