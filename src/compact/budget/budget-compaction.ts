import { wholeLines } from "../../bytes/whole-lines.ts";
import { MementoMapError } from "../../errors.ts";
import { formatHeaders, UkvsHeaders } from "../../ukvs/header.ts";
import type { HeadLines } from "../compact-map.ts";
import { headerText, readHeaders } from "../compact-map.ts";
import { Compactor } from "../compactor.ts";
import { MapLines } from "../map-lines.ts";
import type { RowSink } from "../map-lines.ts";
import type { SpillStore } from "../pending-text.ts";
import { ChosenPolicy } from "./chosen-policy.ts";
import { exclusionRows, Exclusions } from "./exclusions.ts";
import type { MissList } from "./miss-list.ts";
import type { Plan } from "./plan.ts";
import { leastRows, planRollUps } from "./plan.ts";
import type { Prior } from "./prior.ts";
import { estimatePrior } from "./prior.ts";
import { RowsWithExclusions } from "./rows-with-exclusions.ts";
import { TreeSurvey } from "./tree-survey.ts";

/** Reads the same map again at every call. */
export type ReadMap = () => AsyncIterable<Uint8Array>;

export interface BudgetCompactionOptions {
  /** Named in errors. */
  readonly source?: string | undefined;
  /** Lookups that missed, to learn from; those that the map holds count as nothing. */
  readonly misses?: MissList | undefined;
  /** Whether to write exclusions (rows with 0) where the misses make them pay; true by default. */
  readonly allowsExclusions?: boolean | undefined;
  /** Takes what is known of nodes and does not fit in memory. */
  readonly spill?: SpillStore | undefined;
}

/**
 * Makes the map of a given size that is expected to answer the fewest lookups wrongly, and loses
 * nothing that is held.
 *
 * Reads the map once to {@link survey} it; {@link plan} needs no reading; {@link write} reads it
 * once for every map written. Holds 144 bytes for every folder and host with two rows or more, at
 * most 72 MiB where there is a spill store, 8 to 40 bytes for every roll-up, and the misses.
 */
export class BudgetCompaction {
  readonly prior: Prior;
  /** Rows of the map. */
  readonly rowsRead: number;
  /** Lines of a map made of it that are headers. */
  readonly headerLines: number;
  readonly #read: ReadMap;
  readonly #source: string;
  readonly #survey: TreeSurvey;
  readonly #misses: MissList | undefined;
  readonly #exclusions: Exclusions | undefined;

  private constructor(
    read: ReadMap,
    survey: TreeSurvey,
    lines: { readonly rows: number; readonly headers: number },
    options: BudgetCompactionOptions,
  ) {
    this.#read = read;
    this.#source = options.source ?? "map";
    this.#survey = survey;
    this.#misses = options.misses;
    this.rowsRead = lines.rows;
    this.headerLines = lines.headers;
    this.prior = estimatePrior(survey);
    // What a wildcard of the map covers is held, and cannot be told from what is not.
    const mayExclude = options.allowsExclusions !== false && !survey.hasWildcards;
    this.#exclusions = mayExclude ? new Exclusions(survey.branches) : undefined;
  }

  /**
   * Reads a map sorted by bytes.
   *
   * @throws MM_NOT_SORTED, MM_BAD_LINE, MM_BAD_FREQUENCY, MM_BAD_HEADER, with the place;
   * MM_BAD_INPUT for a map with more key columns than the SURT
   */
  static async survey(
    read: ReadMap,
    options: BudgetCompactionOptions = {},
  ): Promise<BudgetCompaction> {
    const survey = new TreeSurvey({ misses: options.misses, spill: options.spill });
    const source = options.source ?? "map";
    let lines: MapLines | undefined;
    let headers = 0;
    const begin = (all: UkvsHeaders): RowSink => {
      headers = formatHeaders(all).length;
      return survey;
    };
    for await (const part of readRows(read(), source, begin)) lines = part.lines;
    survey.end();
    return new BudgetCompaction(read, survey, { rows: lines?.rows ?? 0, headers }, options);
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
    return planRollUps(this.#survey, maxRows, this.#exclusions);
  }

  /** Writes the map that a plan describes, headers included. */
  async *write(plan: Plan): AsyncGenerator<Uint8Array, void, undefined> {
    const written: Uint8Array[] = [];
    const rows =
      this.#misses === undefined
        ? []
        : exclusionRows(plan.excluded, this.#survey.branches, this.#misses);
    const compactor = new Compactor(new ChosenPolicy(plan.chosen), (bytes) => {
      written.push(bytes.slice());
    });
    const sink = new RowsWithExclusions(compactor, rows);
    let head: Uint8Array | undefined;
    const begin = (headers: UkvsHeaders): RowSink => {
      head = headerText(headers);
      return rows.length === 0 ? compactor : sink;
    };
    for await (const part of readRows(this.#read(), this.#source, begin)) {
      if (head !== undefined) yield head;
      head = undefined;
      if (part.isRead) yield* written.splice(0);
    }
    sink.end();
    compactor.end();
    yield* written.splice(0);
  }
}

/** Feeds the rows of a map to a sink; gives a turn after each block, and after the headers. */
async function* readRows(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
  begin: (headers: UkvsHeaders) => RowSink,
): AsyncGenerator<{ readonly lines: MapLines; readonly isRead: boolean }, void, undefined> {
  const head: HeadLines = { headers: [], lines: 0 };
  let lines: MapLines | undefined;
  const start = (): MapLines => {
    const headers = new UkvsHeaders(head.headers);
    if (headers.fields.keys.length > 1) {
      throw new MementoMapError(
        "MM_BAD_INPUT",
        `a budget needs a map with the key "surt" alone, not ${JSON.stringify(headers.fields.keys)}`,
        { position: { source } },
      );
    }
    return new MapLines(begin(headers), headers.fields);
  };
  for await (const chunk of wholeLines(chunks, source)) {
    let from = 0;
    if (lines === undefined) {
      from = readHeaders(chunk, head, source);
      if (from === chunk.length) continue;
      lines = start();
      yield { lines, isRead: false };
    }
    lines.read(chunk, from, chunk.length, { source, firstLine: head.lines + 1 });
    yield { lines, isRead: true };
  }
  if (lines === undefined) yield { lines: start(), isRead: true };
}
