import { MementoMapError } from "../../errors.ts";

/** Limits of one host. */
export interface HostLimits {
  /** Maximum requests in flight. */
  readonly concurrency: number;
  /** Requests started per second; Infinity for no limit. */
  readonly rate: number;
}

/** Background requests run after those that a client waits for. */
export type Priority = "client" | "background";

interface Waiting {
  readonly until: number;
  readonly begin: () => void;
  readonly refuse: (error: MementoMapError) => void;
}

/** Maximum queue length of a host. */
const MAX_WAITING = 10_000;
/** How often the queue is checked for expired requests. */
const CHECK_MS = 100;

/**
 * Limits the requests to one host: their number in flight, and their rate, evenly spaced. A request stays queued
 * until its own deadline.
 */
export class Limits {
  #limits: HostLimits;
  readonly #queues: Readonly<Record<Priority, Waiting[]>> = { client: [], background: [] };
  /** Below the limit while the host is overloaded. */
  #concurrency: number;
  #inFlight = 0;
  #nextAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: HostLimits) {
    this.#limits = limits;
    this.#concurrency = limits.concurrency;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return this.#queues.client.length + this.#queues.background.length;
  }

  /** Current limit of requests in flight. */
  get concurrency(): number {
    return Math.max(1, Math.floor(this.#concurrency));
  }

  /** Changes the limits; requests in flight are not affected. */
  change(limits: HostLimits): void {
    if (limits.concurrency !== this.#limits.concurrency) this.#concurrency = limits.concurrency;
    this.#limits = limits;
    this.#advance();
  }

  /**
   * Runs a task when the limits allow it.
   *
   * @param until deadline for the start, by `performance.now()`.
   * @throws MM_HTTP if the task cannot start in time; it is not run then.
   */
  async run<Result>(
    work: () => Promise<Result>,
    until: number,
    priority: Priority = "client",
  ): Promise<Result> {
    if (this.waiting > 0 || !this.#takeSlot()) await this.#waitForSlot(until, priority);
    try {
      return await work();
    } finally {
      this.#inFlight -= 1;
      this.#advance();
    }
  }

  /** After a success: a lowered limit rises by one per as many responses as are in flight. */
  succeeded(): void {
    const { concurrency } = this.#limits;
    this.#concurrency = Math.min(concurrency, this.#concurrency + 1 / this.#concurrency);
  }

  /** The host rejects requests or is overloaded: lowers the limit. */
  overloaded(): void {
    this.#concurrency = Math.max(1, this.#concurrency / 2);
  }

  /** Rejects queued requests. */
  refuseAll(error: MementoMapError): void {
    for (const queue of Object.values(this.#queues)) {
      for (const { refuse } of queue.splice(0)) refuse(error);
    }
    clearTimeout(this.#timer);
  }

  #waitForSlot(until: number, priority: Priority): Promise<void> {
    const waitMs = (this.waiting / this.#limits.rate) * 1000;
    if (this.waiting >= MAX_WAITING || waitMs > until - performance.now()) {
      throw queueError("queue-full", "the request queue of the archive is full");
    }
    return new Promise((begin, refuse) => {
      this.#queues[priority].push({ until, begin, refuse });
      this.#advance();
    });
  }

  #takeSlot(): boolean {
    const now = performance.now();
    if (this.#inFlight >= this.concurrency || now < this.#nextAt) return false;
    this.#nextAt = now + 1000 / this.#limits.rate;
    this.#inFlight += 1;
    return true;
  }

  #advance(): void {
    for (const queue of [this.#queues.client, this.#queues.background]) {
      while (queue.length > 0) {
        const [{ until, begin, refuse }] = queue;
        const isLate = until <= performance.now();
        if (!isLate && !this.#takeSlot()) break;
        queue.shift();
        if (isLate) refuse(queueError("queue-timeout", "it timed out in the request queue"));
        else begin();
      }
    }
    if (this.waiting === 0) return;
    // Requests that wait for the rate or may expire need a timer.
    const { rate } = this.#limits;
    const again = (): void => {
      this.#timer = undefined;
      this.#advance();
    };
    this.#timer ??= setTimeout(
      again,
      rate === Infinity ? CHECK_MS : Math.min(CHECK_MS, 1000 / rate),
    );
  }
}

function queueError(reason: "queue-full" | "queue-timeout", message: string): MementoMapError {
  return new MementoMapError("MM_HTTP", message, { reason });
}
