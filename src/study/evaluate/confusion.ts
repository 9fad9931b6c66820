/** How a set of answers compares with what is held. */
export interface AnswerCounts {
  readonly lookups: number;
  readonly truePositives: number;
  readonly falsePositives: number;
  readonly trueNegatives: number;
  readonly falseNegatives: number;
  /** The share of right answers; null when nothing was asked. */
  readonly accuracy: number | null;
}

/** Counts answers by what is held and what was said. */
export class Confusion {
  #truePositives = 0;
  #falsePositives = 0;
  #trueNegatives = 0;
  #falseNegatives = 0;

  /** @param count how often it was asked */
  add(isHeld: boolean, saysPresent: boolean, count: number): void {
    if (isHeld) {
      if (saysPresent) this.#truePositives += count;
      else this.#falseNegatives += count;
    } else if (saysPresent) this.#falsePositives += count;
    else this.#trueNegatives += count;
  }

  counts(): AnswerCounts {
    const right = this.#truePositives + this.#trueNegatives;
    const lookups = right + this.#falsePositives + this.#falseNegatives;
    return {
      lookups,
      truePositives: this.#truePositives,
      falsePositives: this.#falsePositives,
      trueNegatives: this.#trueNegatives,
      falseNegatives: this.#falseNegatives,
      accuracy: lookups === 0 ? null : right / lookups,
    };
  }
}
