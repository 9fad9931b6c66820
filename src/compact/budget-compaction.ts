import { compareRanges, joinBytes, LF, SPACE } from "../bytes/bytes.ts";
import { MementoMapError } from "../errors.ts";
import type { SpillStore } from "../files/scratch.ts";
import { checkSize, headerText, type UkvsHeaders } from "../ukvs/header.ts";
import { compactBy, type RowBlock, rowBlocks } from "./compact-map.ts";
import { MapLines } from "./map-lines.ts";
import { TreeOrder } from "./tree-order.ts";
import { ChosenNodes } from "./weight-policy.ts";
import type { Survey } from "./budget-survey.ts";
import type { MissList } from "./misses.ts";
import { estimatePrior, type HostDemand, hostDemand, type Prior } from "./prior.ts";
import { leastRows, type MapOutlook, outlooks, type Plan, planRollUps } from "./roll-up-plan.ts";
import { exclusionRows, Exclusions } from "./solve.ts";
import { TreeSurvey } from "./tree-survey.ts";

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
  readonly headers: UkvsHeaders;
  readonly #read: ReadMap;
  readonly #source: string;
  readonly #survey: Survey;
  readonly #misses: MissList | undefined;
  readonly #exclusions: Exclusions | undefined;
  #hostDemand: HostDemand | undefined;
  #sizes: readonly MapOutlook[] | undefined;

  private constructor(
    read: ReadMap,
    survey: Survey,
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
    const { source = "map", misses, spill } = options;
    const survey = new TreeSurvey({ misses, spill });
    let ordered: TreeOrder | undefined;
    let lines: MapLines | undefined;
    let map: RowBlock | undefined;
    for await (const block of rowBlocks(read(), source)) {
      map ??= block;
      const { fields } = map.headers;
      if (fields.keys.length > 1) {
        throw new MementoMapError(
          "MM_BAD_INPUT",
          `a budget needs a map with the key "surt" alone, not ${JSON.stringify(fields.keys)}`,
          { position: { source } },
        );
      }
      if (fields.queries === true) ordered ??= new TreeOrder(survey, fields);
      lines ??= new MapLines(ordered ?? survey, fields);
      lines.read(block.bytes, { source, firstLine: block.firstLine });
    }
    if (map === undefined || lines === undefined) throw new Error("a map has at least one block");
    ordered?.end();
    survey.end();
    checkSize(map.size, { records: lines.rows }, source);
    return new BudgetCompaction(read, survey, map.headers, options);
  }

  /** The rows of the smallest map that can be made. */
  get leastRows(): number {
    return leastRows(this.#survey);
  }

  /**
   * Plans the map of at most `maxRows` rows. Takes no longer than some forty passes over a table of
   * the nodes.
   *
   * @param allowsExclusions false where it turned out that there must be none.
   * @throws MM_BUDGET when the map cannot be made so small
   */
  plan(maxRows: number, allowsExclusions = true): Plan {
    return planRollUps(this.#survey, maxRows, {
      exclusions: allowsExclusions ? this.#exclusions : undefined,
    });
  }

  /** What is expected of the hosts that are held. */
  get hostDemand(): HostDemand {
    return (this.#hostDemand ??= hostDemand(this.#survey, this.prior));
  }

  /** Rows and expected wrong answers of maps of all sizes, the smallest first; without exclusions. */
  sizes(): readonly MapOutlook[] {
    return (this.#sizes ??= outlooks(this.#survey, this.hostDemand.misses));
  }

  /** Writes the map that a plan describes, headers included, without `!size`. */
  async *write(plan: Plan): AsyncGenerator<Uint8Array, void, undefined> {
    yield headerText(this.headers);
    yield* this.rows(plan);
  }

  /** The keys of the rows with 0 that a plan adds, in byte order. */
  exclusionKeys({ excluded }: Plan): string[] {
    if (this.#misses === undefined) return [];
    const rows = exclusionRows(excluded, this.#survey.branches, this.#misses);
    return rows.map((row) => new TextDecoder().decode(row.subarray(0, keyEnd(row, 0))));
  }

  /** The rows of the map that a plan describes, in blocks of whole ones. */
  rows(plan: Plan): AsyncGenerator<Uint8Array, void, undefined> {
    const compacted = compactBy(new ChosenNodes(plan.chosen), this.#read(), {
      source: this.#source,
      onHead: () => Promise.resolve(),
    });
    return this.withExclusions(plan, compacted);
  }

  /** Adds the rows with 0 of a plan to what is left of the map when all that it chooses is rolled up. */
  async *withExclusions(
    { excluded }: Plan,
    blocks: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const rows =
      this.#misses === undefined
        ? []
        : exclusionRows(excluded, this.#survey.branches, this.#misses);
    const inserter = new RowInserter(rows);
    for await (const block of blocks) yield inserter.insertInto(block);
    const rest = inserter.rest();
    if (rest.length > 0) yield rest;
  }
}

/** Reads the same map again at every call. */
export type ReadMap = () => AsyncIterable<Uint8Array>;

/**
 * Puts rows into a map, in byte order, as its blocks go by. A row whose key the map has is left out.
 *
 * Holds the rows, and no block. Looks for the place of each row by halving, so that what lies
 * between is only copied.
 */
class RowInserter {
  readonly #rows: readonly Uint8Array[];
  #next = 0;

  /** @param rows in byte order, each with its line end. */
  constructor(rows: readonly Uint8Array[]) {
    this.#rows = rows;
  }

  /** A block of whole lines, with the rows that belong before or between them. */
  insertInto(block: Uint8Array): Uint8Array {
    const parts: Uint8Array[] = [];
    let from = 0;
    for (; this.#next < this.#rows.length; this.#next++) {
      const row = this.#rows[this.#next];
      const at = placeOf(row, block, from);
      if (at === block.length) break;
      parts.push(block.subarray(from, at));
      if (compareKeys(row, 0, block, at) !== 0) parts.push(row);
      from = at;
    }
    if (parts.length === 0) return block;
    return joinBytes([...parts, block.subarray(from)]);
  }

  /** The rows that come behind all blocks. */
  rest(): Uint8Array {
    const rest = this.#rows.slice(this.#next);
    this.#next = this.#rows.length;
    return joinBytes(rest);
  }
}

/** Where the first line at or behind `from` begins whose key is not before that of a row. */
function placeOf(row: Uint8Array, block: Uint8Array, from: number): number {
  let [low, high] = [from, block.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const lineStart = Math.max(low, block.lastIndexOf(LF, middle - 1) + 1);
    if (compareKeys(block, lineStart, row, 0) < 0) low = block.indexOf(LF, lineStart) + 1;
    else high = lineStart;
  }
  return low;
}

function compareKeys(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number): number {
  return compareRanges(a, aStart, keyEnd(a, aStart), b, bStart, keyEnd(b, bStart));
}

function keyEnd(bytes: Uint8Array, start: number): number {
  let end = start;
  while (bytes[end] > SPACE) end++;
  return end;
}
