import type { WriteText } from "../pending-text.ts";
import type { MissList } from "./misses.ts";
import { nodeName, type NodeTable, type Survey } from "./budget-survey.ts";
import type { SolveAll } from "./solve.ts";
import { CHOSEN, type RollUpPolicy, type WeightPolicy } from "../weight-policy.ts";

/**
 * Takes the rows of a map, if they are plain and in order, faster than others do.
 *
 * Where it gives up (false), the work must be done again from the start by what takes any rows.
 */
export interface PlainRows {
  /** Rows taken so far. */
  readonly rows: number;
  /** Takes whole lines. */
  take(lines: Uint8Array): boolean;
  finish(): boolean;
}

/** Compiled code for all that takes long; each is undefined where there is none. */
export interface BudgetKernels {
  /** `survey` may be called when `finish` was. */
  survey(
    table: NodeTable,
    misses: MissList | undefined,
  ): (PlainRows & { survey(): Survey }) | undefined;
  /** Finds the cheapest maps at some prices, as `solve` does without exclusions. */
  solver(table: NodeTable): SolveAll | undefined;
  compact(
    policy: WeightPolicy | ChosenPolicy,
    write: WriteText,
  ): (PlainRows & { readonly rollUps: number }) | undefined;
}

/** Names of nodes; see `nodeName`. */
export type NodeNames = readonly number[] | Float64Array;

/** Rolls up the nodes that a plan has chosen, and no others. */
export class ChosenPolicy implements RollUpPolicy {
  readonly maxHostDepth: number = Number.POSITIVE_INFINITY;
  readonly maxPathDepth: number = Number.POSITIVE_INFINITY;
  readonly chosen: NodeNames;
  #names: ReadonlySet<number> | undefined;

  constructor(chosen: NodeNames) {
    this.chosen = chosen;
  }

  hostCutoff(_depth: number, key: Uint8Array, end: number): number {
    return this.#cutoff(key, end);
  }

  pathCutoff(_depth: number, key: Uint8Array, end: number): number {
    return this.#cutoff(key, end);
  }

  #cutoff(key: Uint8Array, end: number): number {
    this.#names ??= new Set(this.chosen);
    return this.#names.has(nodeName(key, end)) ? CHOSEN : Number.POSITIVE_INFINITY;
  }
}
