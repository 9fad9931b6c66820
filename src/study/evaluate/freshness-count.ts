import type { Predictor } from "./predictor.ts";

/** Captures and new originals of a time, and how many of them a map calls present. */
export interface LaterCounts {
  readonly captures: number;
  readonly capturesPresent: number;
  /** Originals that had no capture up to the date, by the time of their first one. */
  readonly newOriginals: number;
  readonly newOriginalsPresent: number;
}

/** What a map that was made as of a date says of what was captured after it. */
export interface AsOfFreshness extends LaterCounts {
  /** 4 to 14 digits; the map knows captures up to and including it. */
  readonly date: string;
  /** Distinct originals captured after the date, new or not. */
  readonly originals: number;
  readonly originalsPresent: number;
  /** By month, or by year where there are more than three: `2015-07` or `2015`. */
  readonly periods: readonly (LaterCounts & { readonly period: string })[];
}

/** The captures of an original in a month after the date. */
export interface MonthCaptures {
  /** `2015-07`; or `2015` where the month is not known. */
  readonly month: string;
  readonly captures: number;
}

const MOST_MONTHS = 36;

/**
 * Counts how much of what was captured after a date predictors call present.
 *
 * Holds a few numbers for each predictor and month.
 */
export class FreshnessCount {
  readonly #predictors: readonly Predictor[];
  readonly #months = new Map<string, Tally>();
  readonly #originals: Tally;

  constructor(predictors: readonly Predictor[]) {
    this.#predictors = predictors;
    this.#originals = new Tally(predictors.length);
  }

  /**
   * Takes an original that was captured after the date.
   *
   * @param isNew whether it had no capture before
   * @param months in order of time
   */
  add(key: Uint8Array, isNew: boolean, months: readonly MonthCaptures[]): void {
    const says = this.#predictors.map((predictor) => predictor.says(key));
    this.#originals.add(says, 1, isNew ? 1 : 0);
    for (const [i, { month, captures }] of months.entries()) {
      const tally = this.#months.get(month) ?? new Tally(says.length);
      this.#months.set(month, tally);
      tally.add(says, captures, isNew && i === 0 ? 1 : 0);
    }
  }

  /** What was counted for one of the predictors. */
  result(predictor: number, date: string): AsOfFreshness {
    const months = [...this.#months].sort(([a], [b]) => (a < b ? -1 : 1));
    const all = new Tally(this.#predictors.length);
    const periods = new Map<string, Tally>();
    for (const [month, tally] of months) {
      all.join(tally);
      const name = months.length > MOST_MONTHS ? month.slice(0, 4) : month;
      const period = periods.get(name) ?? new Tally(this.#predictors.length);
      periods.set(name, period);
      period.join(tally);
    }
    const { captures: originals, capturesPresent } = this.#originals.of(predictor);
    return {
      date,
      ...all.of(predictor),
      originals,
      originalsPresent: capturesPresent,
      periods: [...periods].map(([period, tally]) => ({ period, ...tally.of(predictor) })),
    };
  }
}

/** Counts of one time, for all predictors. */
class Tally {
  #captures = 0;
  #newOriginals = 0;
  readonly #capturesPresent: Float64Array;
  readonly #newPresent: Float64Array;

  constructor(predictors: number) {
    this.#capturesPresent = new Float64Array(predictors);
    this.#newPresent = new Float64Array(predictors);
  }

  add(says: readonly boolean[], captures: number, newOriginals: number): void {
    this.#captures += captures;
    this.#newOriginals += newOriginals;
    for (const [i, isPresent] of says.entries()) {
      if (!isPresent) continue;
      this.#capturesPresent[i] += captures;
      this.#newPresent[i] += newOriginals;
    }
  }

  join(other: Tally): void {
    this.#captures += other.#captures;
    this.#newOriginals += other.#newOriginals;
    for (let i = 0; i < this.#newPresent.length; i++) {
      this.#capturesPresent[i] += other.#capturesPresent[i];
      this.#newPresent[i] += other.#newPresent[i];
    }
  }

  of(predictor: number): LaterCounts {
    return {
      captures: this.#captures,
      capturesPresent: this.#capturesPresent[predictor],
      newOriginals: this.#newOriginals,
      newOriginalsPresent: this.#newPresent[predictor],
    };
  }
}
