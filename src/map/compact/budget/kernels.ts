import type { WriteText } from "../pending-text.ts";
import type { ChosenPolicy } from "./chosen-policy.ts";
import type { MissList } from "./miss-list.ts";
import type { NodeTable } from "./node-table.ts";
import type { Solve } from "./solve.ts";
import type { Survey } from "./survey.ts";

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
  /** Finds the cheapest map at a price, as `solve` does without exclusions. */
  solver(table: NodeTable): Solve | undefined;
  compact(policy: ChosenPolicy, write: WriteText): PlainRows | undefined;
}
