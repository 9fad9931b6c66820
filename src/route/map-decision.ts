import type { MemoryIndex } from "../lookup/memory-index.ts";
import type { Archive } from "./archive.ts";
import type { Decision, RouteReason } from "./decision.ts";

/**
 * A decision in the making: the router changes its mind as it learns more.
 *
 * Key and frequency stay in the bytes of the map until somebody wants to see them.
 */
export class MapDecision implements Decision {
  readonly archive: Archive;
  isAsked: boolean;
  reason: RouteReason;
  likelihood: number;
  /** What archives are ranked by: the likelihood, and for a moment asked for, nearness in time. */
  usefulness: number;
  /** How many mementos the archive will have, on average. */
  mementos = 0;
  #index: MemoryIndex | undefined;
  #row = -1;

  constructor(archive: Archive, reason: RouteReason, likelihood?: number) {
    this.archive = archive;
    this.reason = reason;
    this.isAsked = likelihood !== undefined;
    this.likelihood = likelihood ?? 0;
    this.usefulness = this.likelihood;
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

  ask(reason: RouteReason, likelihood: number): void {
    this.isAsked = true;
    this.reason = reason;
    this.likelihood = likelihood;
    this.usefulness = likelihood;
  }

  skip(reason: RouteReason): void {
    this.isAsked = false;
    this.reason = reason;
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
