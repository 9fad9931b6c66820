/** How often something is done as answers come. */
export interface GrowthTimerOptions {
  /** How many answers are known now. */
  readonly answers: () => number;
  /** Gives whether it was done: what failed is done again at the end. */
  readonly work: () => Promise<boolean>;
  /** How often to look, and so how often it is done at most. */
  readonly everyMs: number;
  /** Done at least as often, if there are new answers at all. */
  readonly mostMs: number;
}

/** The share of answers that is new when work is due. */
const GROWN = 0.1;

/**
 * Does something whenever a tenth more answers are known than the last time: often in the beginning,
 * when each answer says much, and seldom later. The timer does not keep the process alive.
 */
export class GrowthTimer {
  readonly #options: GrowthTimerOptions;
  readonly #timer: NodeJS.Timeout;
  #answers: number;
  #hasFailed = false;
  #doneAt = Date.now();
  #working: Promise<void> | undefined;

  /** @param isDue whether the work is to be done once in any case; default false. */
  constructor(options: GrowthTimerOptions, isDue = false) {
    this.#options = options;
    this.#answers = isDue ? -1 : options.answers();
    this.#timer = setInterval(() => void this.#look(), options.everyMs).unref();
  }

  /** Does it now, unless it was done and nothing is new; after what is under way. */
  async flush(): Promise<void> {
    await this.#working;
    const answers = this.#options.answers();
    if (answers === this.#answers && !this.#hasFailed) return;
    this.#answers = answers;
    this.#doneAt = Date.now();
    this.#working = this.#work();
    await this.#working;
  }

  async #work(): Promise<void> {
    try {
      this.#hasFailed = !(await this.#options.work());
    } finally {
      this.#working = undefined;
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#working !== undefined) return;
    const isLate = Date.now() - this.#doneAt >= this.#options.mostMs;
    const isMore = this.#options.answers() >= this.#answers * (1 + GROWN);
    if (isMore || isLate) await this.flush();
  }
}
