import { type MeasuredRecall, recallOf } from "./recall-policy.ts";

/** Kept hits, the estimate of lost ones, its square and the largest part of it. */
export const RECALL_WIDTH = 4;
const WIDTH = RECALL_WIDTH;
/** The lookups after which what was measured counts half. */
const HALF_LIFE = 16_384;
/** Old ones are made to count less every so many lookups. */
const STEP = 256;

/** The share of hits that is kept, archive by archive: by explored answers, as for all together. */
export class ArchiveRecalls {
  readonly state: Float64Array;
  #lookups = 0;

  constructor(archives: number) {
    this.state = new Float64Array(archives * WIDTH);
  }

  /** A lookup begins. */
  begin(): void {
    this.#lookups++;
    if (this.#lookups % STEP !== 0) return;
    const kept = 2 ** (-STEP / HALF_LIFE);
    for (let at = 0; at < this.state.length; at++) this.state[at] *= kept;
  }

  /** An archive had mementos that was asked with that likelihood. */
  note(archive: number, propensity: number): void {
    const { state } = this;
    const at = archive * WIDTH;
    if (propensity >= 1) {
      state[at]++;
      return;
    }
    const weight = 1 / propensity;
    state[at + 1] += weight;
    state[at + 2] += weight * weight;
    state[at + 3] = Math.max(state[at + 3], weight);
  }

  /** What was kept of the hits of an archive lately; undefined before the first. */
  of(archive: number): MeasuredRecall | undefined {
    const at = archive * WIDTH;
    const [kept, lost, squares, most] = this.state.subarray(at, at + WIDTH);
    return recallOf(kept, lost, squares, most);
  }

  /** Hits of an archive lately, with an estimate of those that were lost. */
  hitsOf(archive: number): number {
    return this.state[archive * WIDTH] + this.state[archive * WIDTH + 1];
  }

  /** Takes what another measured; `numbers` are the archives as this one counts them, or -1. */
  restore(state: Float64Array, numbers: readonly number[]): void {
    for (const [old, number] of numbers.entries()) {
      if (number < 0) continue;
      this.state.set(state.subarray(old * WIDTH, (old + 1) * WIDTH), number * WIDTH);
    }
  }
}
