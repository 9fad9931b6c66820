import type { Archive } from "./archive.ts";

export interface HitRatesOptions {
  /** The share of requests an archive answers with mementos, before anything is known of it; default 0.0544. */
  readonly prior?: number | undefined;
  /** As many requests as the prior counts for; default 20. */
  readonly priorWeight?: number | undefined;
  /** Requests after which the older ones begin to count for less; default 10,000. */
  readonly memory?: number | undefined;
}

/** The share of hits in three years of MemGator's requests to 14 archives (the paper's table of its log). */
const DEFAULT_PRIOR = 0.0544;

/** How often an archive had what it was asked for. */
export class HitRate {
  #asked: number;
  #hits: number;
  readonly #memory: number;

  constructor(prior: number, priorWeight: number, memory: number) {
    this.#asked = priorWeight;
    this.#hits = prior * priorWeight;
    this.#memory = memory + priorWeight;
  }

  /** How likely the next request finds something, as far as is known. */
  get value(): number {
    return this.#hits / this.#asked;
  }

  note(isHit: boolean): void {
    this.#asked += 1;
    if (isHit) this.#hits += 1;
    if (this.#asked <= this.#memory) return;
    // What an archive holds changes: let old requests count for less.
    this.#asked /= 2;
    this.#hits /= 2;
  }
}

/**
 * How often each archive had what it was asked for; what is known about archives without a map.
 *
 * Starts from the probability in the list of archives, and comes to go by what was answered. A few
 * numbers an archive.
 */
export class HitRates {
  readonly #options: HitRatesOptions;
  readonly #rates = new Map<string, HitRate>();

  constructor(options: HitRatesOptions = {}) {
    this.#options = options;
  }

  of({ id, probability }: Archive): HitRate {
    const known = this.#rates.get(id);
    if (known !== undefined) return known;
    const { prior = DEFAULT_PRIOR, priorWeight = 20, memory = 10_000 } = this.#options;
    const rate = new HitRate(probability ?? prior, priorWeight, memory);
    this.#rates.set(id, rate);
    return rate;
  }
}
