import { headerText, type UkvsHeaders } from "../../../ukvs/header.ts";
import type { SpillStore } from "../../../files/scratch.ts";
import { exclusionRows, Exclusions } from "./exclusions.ts";
import { RowInserter } from "./insert-rows.ts";
import type { BudgetKernels } from "./kernels.ts";
import type { MissList } from "./miss-list.ts";
import type { Plan } from "./plan.ts";
import { leastRows, planRollUps } from "./plan.ts";
import type { Prior } from "./prior.ts";
import { estimatePrior } from "./prior.ts";
import type { Solve } from "./solve.ts";
import type { MapSurvey, ReadMap } from "./survey-map.ts";
import { surveyMap } from "./survey-map.ts";
import { chosenRows } from "./chosen-rows.ts";

export interface BudgetCompactionOptions {
  /** Named in errors. */
  readonly source?: string | undefined;
  /** Lookups that missed, to learn from; those that the map holds count as nothing. */
  readonly misses?: MissList | undefined;
  /** Whether to write exclusions (rows with 0) where the misses make them pay; true by default. */
  readonly allowsExclusions?: boolean | undefined;
  /** Takes what is known of nodes and does not fit in memory. */
  readonly spill?: SpillStore | undefined;
  /** Compiled code for plain rows, where there is any. */
  readonly kernels?: BudgetKernels | undefined;
}

/**
 * Makes the map of a given size that is expected to answer the fewest lookups wrongly, and loses
 * nothing that is held.
 *
 * Reads the map once to {@link survey} it; {@link plan} needs no reading; {@link write} reads it
 * once for every map written. Holds 144 bytes for every folder and host with two rows or more, at
 * most 72 MiB where there is a spill store, 8 to 40 bytes for every roll-up, and the misses. Kernels
 * hold 56 bytes more for each of these nodes, at most 64 MiB, and the misses once more.
 */
export class BudgetCompaction {
  readonly prior: Prior;
  /** Rows of the map. */
  readonly rowsRead: number;
  readonly headers: UkvsHeaders;
  readonly #read: ReadMap;
  readonly #source: string;
  readonly #kernels: BudgetKernels | undefined;
  readonly #survey: MapSurvey["survey"];
  readonly #misses: MissList | undefined;
  readonly #exclusions: Exclusions | undefined;
  #solver: Solve | undefined;

  private constructor(
    read: ReadMap,
    { survey, headers }: MapSurvey,
    options: BudgetCompactionOptions,
  ) {
    this.#read = read;
    this.#source = options.source ?? "map";
    this.#kernels = options.kernels;
    this.#survey = survey;
    this.#misses = options.misses;
    this.rowsRead = survey.fixedRows + survey.heldRows;
    this.headers = headers;
    this.prior = estimatePrior(survey);
    const { branches, hasWildcards } = survey;
    // What a wildcard of the map covers is held, and cannot be told from what is not.
    const mayExclude = options.allowsExclusions !== false && !hasWildcards && branches.count > 0;
    this.#exclusions = mayExclude ? new Exclusions(branches) : undefined;
  }

  /**
   * Reads a map sorted by bytes.
   *
   * @throws MM_NOT_SORTED, MM_BAD_LINE, MM_BAD_FREQUENCY, MM_BAD_HEADER, with the place;
   * MM_BAD_INPUT for a map with more key columns than the SURT; MM_CUT, MM_EMPTY
   */
  static async survey(
    read: ReadMap,
    options: BudgetCompactionOptions = {},
  ): Promise<BudgetCompaction> {
    const { source = "map", misses, spill, kernels } = options;
    const survey = await surveyMap(read, { source, misses, spill, kernels });
    return new BudgetCompaction(read, survey, options);
  }

  /** The rows of the smallest map that can be made. */
  get leastRows(): number {
    return leastRows(this.#survey);
  }

  /**
   * Plans the map of at most `maxRows` rows. Takes no longer than some forty passes over a table of
   * the nodes.
   *
   * @throws MM_USAGE when the map cannot be made so small
   */
  plan(maxRows: number): Plan {
    this.#solver ??= this.#kernels?.solver(this.#survey.table);
    return planRollUps(this.#survey, maxRows, {
      exclusions: this.#exclusions,
      solver: this.#solver,
    });
  }

  /** Writes the map that a plan describes, headers included, without `!size`. */
  async *write(plan: Plan): AsyncGenerator<Uint8Array, void, undefined> {
    yield headerText(this.headers);
    yield* this.rows(plan);
  }

  /** The rows of the map that a plan describes, in blocks of whole ones. */
  async *rows(plan: Plan): AsyncGenerator<Uint8Array, void, undefined> {
    const rows =
      this.#misses === undefined
        ? []
        : exclusionRows(plan.excluded, this.#survey.branches, this.#misses);
    const inserter = new RowInserter(rows);
    const blocks = chosenRows(this.#read, plan.chosen, {
      source: this.#source,
      kernels: this.#kernels,
    });
    for await (const block of blocks) yield inserter.insertInto(block);
    const rest = inserter.rest();
    if (rest.length > 0) yield rest;
  }
}
