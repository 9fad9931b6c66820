import { MementoMapError } from "../errors.ts";
import type { SpillStore } from "../files/scratch.ts";
import { headerText, UkvsHeaders } from "../ukvs/header.ts";
import { compactBy, feedRows } from "./compact-map.ts";
import type { RowSink } from "./map-lines.ts";
import { TreeOrder } from "./tree-order.ts";
import { ChosenNodes } from "./weight-policy.ts";
import type { MissList } from "./misses.ts";
import { estimatePrior, missesOfHosts, type Prior } from "./prior.ts";
import { leastRows, type MapOutlook, outlooks, type Plan, planRollUps } from "./roll-up-plan.ts";
import { exclusionRows, Exclusions, withRows } from "./exclusions.ts";
import { TreeSurvey } from "./tree-survey.ts";

export interface BudgetCompactionOptions {
  /** Named in errors. */
  readonly source?: string | undefined;
  /** Missed lookups to learn from; lookups that the map holds are ignored. */
  readonly misses?: MissList | undefined;
  /** Whether to write exclusions (rows with 0) if the misses justify them; true by default. */
  readonly allowsExclusions?: boolean | undefined;
  /** Stores node records that do not fit in memory. */
  readonly spill?: SpillStore | undefined;
}

/**
 * Compacts a map to a given size with the fewest expected false positives and no false negatives.
 *
 * Reads the map once to {@link survey} it; {@link plan} needs no reading; {@link write} reads it
 * once for every map written. Holds 144 bytes for every folder and host with two rows or more, at
 * most 72 MiB where there is a spill store, 8 to 40 bytes for every roll-up, and the misses.
 */
export class BudgetCompaction {
  readonly prior: Prior;
  /** Rows of the map. */
  readonly rowsRead: number;
  readonly headers: UkvsHeaders;
  readonly #read: ReadMap;
  readonly #source: string;
  readonly #survey: TreeSurvey;
  readonly #misses: MissList | undefined;
  readonly #exclusions: Exclusions | undefined;

  private constructor(
    read: ReadMap,
    survey: TreeSurvey,
    headers: UkvsHeaders,
    options: BudgetCompactionOptions,
  ) {
    this.#read = read;
    this.#source = options.source ?? "map";
    this.#survey = survey;
    this.#misses = options.misses;
    this.rowsRead = survey.fixedRows + survey.heldRows;
    this.headers = headers;
    this.prior = estimatePrior(survey);
    const { branches, hasWildcards } = survey;
    // Below a wildcard of the map, held and unheld URIs cannot be distinguished.
    const mayExclude = options.allowsExclusions !== false && !hasWildcards && branches.length > 0;
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
    const { source = "map", misses, spill } = options;
    const survey = new TreeSurvey(misses, spill);
    let ordered: TreeOrder | undefined;
    let headers = new UkvsHeaders();
    const begin = (ofMap: UkvsHeaders): RowSink => {
      headers = ofMap;
      const { fields } = headers;
      if (fields.keys.length > 1) {
        throw new MementoMapError(
          "MM_BAD_INPUT",
          `a budget needs a map with the key "surt" alone, not ${JSON.stringify(fields.keys)}`,
          { position: { source } },
        );
      }
      return fields.queries === true ? (ordered = new TreeOrder(survey, fields)) : survey;
    };
    for await (const _ of feedRows(read(), source, begin));
    ordered?.end();
    survey.end();
    return new BudgetCompaction(read, survey, headers, options);
  }

  /** The rows of the smallest map that can be made. */
  get leastRows(): number {
    return leastRows(this.#survey);
  }

  /**
   * Plans a map of at most `maxRows` rows, in at most about forty passes over the table of nodes.
   *
   * @param allowsExclusions false to plan without exclusions.
   * @throws MM_BUDGET if the map cannot be made this small
   */
  plan(maxRows: number, allowsExclusions = true): Plan {
    return planRollUps(this.#survey, maxRows, allowsExclusions ? this.#exclusions : undefined);
  }

  /** The expected number of missed lookups of held hosts. */
  get missesOfHosts(): number {
    return missesOfHosts(this.#survey, this.prior);
  }

  /** Rows and expected wrong answers of maps of all sizes, the smallest first; without exclusions. */
  sizes(): readonly MapOutlook[] {
    return outlooks(this.#survey, this.missesOfHosts);
  }

  /** Writes the planned map, headers included, without `!size`. */
  async *write(plan: Plan): AsyncGenerator<Uint8Array, void, undefined> {
    yield headerText(this.headers);
    yield* this.rows(plan);
  }

  /** The rows of the planned map, in blocks of whole rows. */
  rows({ chosen, excluded }: Plan): AsyncGenerator<Uint8Array, void, undefined> {
    const blocks = compactBy(new ChosenNodes(chosen), this.#read(), { source: this.#source });
    const misses = this.#misses;
    const branches = excluded.map((branch) => this.#survey.branches[branch]);
    return withRows(misses === undefined ? [] : exclusionRows(branches, misses), blocks);
  }
}

/** Reads the same map from the start at every call. */
export type ReadMap = () => AsyncIterable<Uint8Array>;
