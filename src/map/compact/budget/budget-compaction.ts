import { TreeSurvey } from "./tree-survey.ts";
import { checkSize, headerText, type MapSize, UkvsHeaders } from "../../../ukvs/header.ts";
import type { SpillStore } from "../../../files/scratch.ts";
import { exclusionRows, Exclusions, type Solve } from "./solve.ts";
import { type BudgetKernels, ChosenPolicy } from "./kernels.ts";
import type { MissList } from "./misses.ts";
import { leastRows, type Plan, planRollUps } from "./plan.ts";
import { estimatePrior, type Prior } from "./prior.ts";
import { MapLines } from "../map-lines.ts";
import { NodeTable, type Survey } from "./survey.ts";
import { hasPlainFields, type RowBlock, rowBlocks } from "../compact-map.ts";
import { Compactor } from "../compactor.ts";
import { compareRanges, joinBytes, LF, SPACE } from "../../../bytes/bytes.ts";

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

/** Reads the same map again at every call. */
export type ReadMap = () => AsyncIterable<Uint8Array>;

export interface SurveyMapOptions {
  /** Named in errors. */
  readonly source: string;
  readonly misses?: MissList | undefined;
  readonly spill?: SpillStore | undefined;
  readonly kernels?: BudgetKernels | undefined;
}

export interface MapSurvey {
  readonly survey: Survey;
  readonly headers: UkvsHeaders;
}

/**
 * Surveys a map sorted by bytes. Reads it once, or from the start again if a kernel gives up.
 *
 * @throws MM_NOT_SORTED, MM_BAD_LINE, MM_BAD_FREQUENCY, MM_BAD_HEADER, with the place;
 * MM_BAD_INPUT for a map with more key columns than the SURT; MM_PAGE, MM_CUT, MM_EMPTY
 */
export async function surveyMap(read: ReadMap, options: SurveyMapOptions): Promise<MapSurvey> {
  const found = (await surveyPlainRows(read, options)) ?? (await surveyAnyRows(read, options));
  checkSize(found.size, { records: found.rows }, options.source);
  return found;
}

/** A survey, the number of rows read for it, and what the map states to hold. */
interface CountedSurvey extends MapSurvey {
  readonly rows: number;
  readonly size: MapSize | undefined;
}

async function surveyPlainRows(
  read: ReadMap,
  { source, misses, spill, kernels }: SurveyMapOptions,
): Promise<CountedSurvey | undefined> {
  const kernel = kernels?.survey(new NodeTable(spill), misses);
  if (kernel === undefined) return undefined;
  let headers = new UkvsHeaders();
  let size: MapSize | undefined;
  for await (const block of rowBlocks(read(), source)) {
    if (block.isFirst) {
      if (!hasPlainFields(block.headers.fields)) return undefined;
      ({ headers, size } = block);
    }
    if (!kernel.take(block.bytes)) return undefined;
  }
  if (!kernel.finish()) return undefined;
  return { survey: kernel.survey(), headers, size, rows: kernel.rows };
}

async function surveyAnyRows(
  read: ReadMap,
  { source, misses, spill }: SurveyMapOptions,
): Promise<CountedSurvey> {
  const survey = new TreeSurvey({ misses, spill });
  let lines: MapLines | undefined;
  let headers = new UkvsHeaders();
  let size: MapSize | undefined;
  for await (const block of rowBlocks(read(), source)) {
    if (lines === undefined) {
      ({ headers, size } = block);
      lines = new MapLines(survey, headers.fields);
    }
    const place = { source, firstLine: block.headLines + 1 };
    lines.read(block.bytes, place);
  }
  survey.end();
  return { survey, headers, size, rows: lines?.rows ?? 0 };
}

const ALL = Number.POSITIVE_INFINITY;

export interface ChosenRowsOptions {
  /** Named in errors. */
  readonly source: string;
  readonly kernels?: BudgetKernels | undefined;
}

/**
 * Rolls up chosen nodes: gives the rows of the smaller map, in blocks of whole ones.
 *
 * Reads the map once, or from the start again if a kernel gives up. Holds what is not decided yet:
 * the pages of a host that may or may not have chosen sub-domains.
 *
 * @throws as surveyMap
 */
export async function* chosenRows(
  read: ReadMap,
  chosen: readonly number[],
  options: ChosenRowsOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { source, kernels } = options;
  const policy = new ChosenPolicy(chosen);
  let given = yield* plainRows(rowBlocks(read(), source), policy, kernels);
  if (given === ALL) return;
  // The bytes are the same: skip what was written already.
  for await (const block of anyRows(rowBlocks(read(), source), policy, source)) {
    if (given < block.length) yield block.subarray(given);
    given = Math.max(0, given - block.length);
  }
}

/** By a kernel; returns how many bytes it gave before it gave up, or ALL. */
async function* plainRows(
  blocks: AsyncIterable<RowBlock>,
  policy: ChosenPolicy,
  kernels: BudgetKernels | undefined,
): AsyncGenerator<Uint8Array, number, undefined> {
  const written: Uint8Array[] = [];
  let given = 0;
  const kernel = kernels?.compact(policy, (bytes) => {
    given += bytes.length;
    written.push(bytes.slice());
  });
  if (kernel === undefined) return given;
  for await (const { headers, bytes, isFirst } of blocks) {
    if (isFirst && !hasPlainFields(headers.fields)) return given;
    const isTaken = kernel.take(bytes);
    yield* written.splice(0);
    if (!isTaken) return given;
  }
  const isDone = kernel.finish();
  yield* written.splice(0);
  return isDone ? ALL : given;
}

async function* anyRows(
  blocks: AsyncIterable<RowBlock>,
  policy: ChosenPolicy,
  source: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const written: Uint8Array[] = [];
  let compactor: Compactor | undefined;
  let lines: MapLines | undefined;
  for await (const { headers, headLines, bytes } of blocks) {
    const { fields } = headers;
    compactor ??= new Compactor(policy, (rows) => void written.push(rows.slice()), { fields });
    lines ??= new MapLines(compactor, fields);
    lines.read(bytes, { source, firstLine: headLines + 1 });
    yield* written.splice(0);
  }
  compactor?.end();
  yield* written.splice(0);
}

/**
 * Puts rows into a map, in byte order, as its blocks go by. A row whose key the map has is left out.
 *
 * Holds the rows, and no block. Looks for the place of each row by halving, so that what lies
 * between is only copied.
 */
export class RowInserter {
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
