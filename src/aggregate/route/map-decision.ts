import type { MemoryIndex } from "../../map/lookup/memory-index.ts";
import type { Archive } from "./archive.ts";
import type { Decision, RouteReason } from "./decision.ts";
import type { HitRate } from "./hit-rates.ts";

/**
 * A decision in the making: the router changes its mind as it learns more.
 *
 * Key and frequency stay in the bytes of the map until somebody wants to see them.
 */
export class MapDecision implements Decision {
  readonly archive: Archive;
  isAsked = false;
  reason: RouteReason;
  likelihood = 0;
  /** What archives are ranked by: the likelihood, and for a moment asked for, nearness in time. */
  usefulness = 0;
  /** How many mementos the archive will have, on average. */
  mementos = 0;
  #rate: HitRate | undefined;
  #index: MemoryIndex | undefined;
  #row = -1;

  /** Not to ask an archive, at first. */
  constructor(archive: Archive, reason: RouteReason) {
    this.archive = archive;
    this.reason = reason;
  }

  get key(): string | undefined {
    return this.#index?.answerRow(this.#row).key;
  }

  get frequency(): string | undefined {
    return this.#index?.answerRow(this.#row).frequency;
  }

  /** Names the row that decided. */
  decidedBy(index: MemoryIndex, row: number): void {
    this.#index = index;
    this.#row = row;
  }

  /** Asks the archive, which is so likely to have it as far as others than its answers tell. */
  ask(reason: RouteReason, estimate: number, rate?: HitRate): this {
    this.isAsked = true;
    this.reason = reason;
    this.likelihood = rate === undefined ? estimate : rate.likelihood(estimate);
    this.usefulness = this.likelihood;
    this.#rate = rate;
    return this;
  }

  skip(reason: RouteReason): void {
    this.isAsked = false;
    this.reason = reason;
  }

  /** The archive was asked, and had mementos or had none. */
  learn(isHit: boolean): void {
    this.#rate?.note(isHit);
  }

  toJSON(): Decision {
    const { archive, isAsked, reason, likelihood, key, frequency } = this;
    return { archive, isAsked, reason, likelihood, key, frequency };
  }
}

/** Those asked first; the most useful first; where that is the same, as in the list of archives. */
export function compareDecisions(a: MapDecision, b: MapDecision): number {
  if (a.isAsked !== b.isAsked) return a.isAsked ? -1 : 1;
  return b.usefulness - a.usefulness || b.mementos - a.mementos;
}
