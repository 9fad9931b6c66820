import { type MeasuredRecall, recallOf } from "./recall-policy.ts";

/** Kept hits, the estimate of lost ones, its square and the largest part of it; decisions, requests. */
export const RECALL_WIDTH = 6;
const WIDTH = RECALL_WIDTH;
/** The lookups after which what was measured counts half. */
const HALF_LIFE = 16_384;
/** Old ones are made to count less every so many lookups. */
const STEP = 256;

/**
 * What is spared and what is kept of hits, archive by archive, lately. What is lost follows from explored
 * answers, as for all together.
 */
export class ArchiveRecalls {
  readonly state: Float64Array;
  #lookups = 0;

  constructor(archives: number) {
    this.state = new Float64Array(archives * WIDTH);
  }

  /** A lookup begins, or so many. */
  begin(lookups = 1): void {
    const steps = Math.floor(this.#lookups / STEP);
    this.#lookups += lookups;
    const passed = Math.floor(this.#lookups / STEP) - steps;
    if (passed === 0) return;
    const kept = 2 ** ((-STEP * passed) / HALF_LIFE);
    for (let at = 0; at < this.state.length; at++) this.state[at] *= kept;
  }

  /** It was decided so often about an archive, and it was asked so often. */
  decided(archive: number, possible: number, made: number): void {
    const at = archive * WIDTH;
    this.state[at + 4] += possible;
    this.state[at + 5] += made;
  }

  /** The share of requests to an archive that were spared lately; undefined before the first. */
  sparedOf(archive: number): number | undefined {
    const at = archive * WIDTH;
    const possible = this.state[at + 4];
    return possible === 0 ? undefined : 1 - this.state[at + 5] / possible;
  }

  /** So many hits of an archive were kept. */
  keep(archive: number, hits: number): void {
    this.state[archive * WIDTH] += hits;
  }

  /** An archive had mementos that was asked with that likelihood. */
  note(archive: number, propensity: number): void {
    if (propensity >= 1) {
      this.keep(archive, 1);
      return;
    }
    const { state } = this;
    const at = archive * WIDTH;
    const weight = 1 / propensity;
    state[at + 1] += weight;
    state[at + 2] += weight * weight;
    state[at + 3] = Math.max(state[at + 3], weight);
  }

  /**
   * What was kept of the hits of an archive lately; undefined before the first.
   *
   * @param weight how many spared hits one stands for that is explored, though none may have been.
   */
  of(archive: number, weight: number): MeasuredRecall | undefined {
    const at = archive * WIDTH;
    const [kept, lost, squares, most] = this.state.subarray(at, at + WIDTH);
    return recallOf(kept, lost, squares, Math.max(most, weight));
  }

  /** Takes what another measured; `numbers` are the archives as this one counts them, or -1. */
  restore(state: Float64Array, numbers: readonly number[]): void {
    for (const [old, number] of numbers.entries()) {
      if (number < 0) continue;
      this.state.set(state.subarray(old * WIDTH, (old + 1) * WIDTH), number * WIDTH);
    }
  }
}
