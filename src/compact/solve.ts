import { COMMA, compareRanges, LF, SLASH, SPACE, STAR } from "../bytes/bytes.ts";
import { type BranchList, FIELD, type NodeTable, type VisitPage } from "./budget-survey.ts";
import type { MissList } from "./misses.ts";

/** Branches are pooled by the power of two of their misses. */
const POOLS = 32;

/**
 * Which branches that hold nothing are worth a row that says so.
 *
 * A branch that was asked c times is expected to be asked c · r times again, where r is how often
 * branches with as many misses in the earlier half of the log were asked in the later half, as a
 * ratio. An exclusion is worth its row where that is more than the price of a row.
 *
 * The expectation is not set against the cost of a roll-up: it must pay by itself. What is excluded
 * for this year's folder says nothing of next year's, and the roll-up would stay.
 */
export class Exclusions {
  readonly #branches: BranchList;
  readonly #expected: Float64Array;
  #next = 0;
  #price = 0;

  constructor(branches: BranchList) {
    this.#branches = branches;
    const ratios = returnRatios(branches);
    this.#expected = Float64Array.from({ length: branches.count }, (_, i) => {
      const misses = branches.misses[i];
      return misses * ratios[poolOf(misses)];
    });
  }

  /** Starts from the first record again, at a price of a row. */
  rewind(price: number): this {
    this.#next = 0;
    this.#price = price;
    return this;
  }

  /** The exclusions worth their row at this record; records must be asked for in order. */
  countOf(record: number): number {
    const { count, record: records } = this.#branches;
    let found = 0;
    while (this.#next < count && records[this.#next] < record) this.#next++;
    for (; this.#next < count && records[this.#next] === record; this.#next++) {
      if (this.#expected[this.#next] > this.#price) found++;
    }
    return found;
  }

  /** Adds the branches of a record that are worth their row, the last one first. */
  listOf(record: number, list: number[]): number[] {
    const { count, record: records } = this.#branches;
    let [low, high] = [0, count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (records[middle] <= record) low = middle + 1;
      else high = middle;
    }
    for (let i = low - 1; i >= 0 && records[i] === record; i--) {
      if (this.#expected[i] > this.#price) list.push(i);
    }
    return list;
  }
}

/** How many of the misses of a branch come again, by pool; an empty pool is taken for the one below. */
function returnRatios(branches: BranchList): Float64Array {
  const early = new Float64Array(POOLS);
  const late = new Float64Array(POOLS);
  for (let i = 0; i < branches.count; i++) {
    if (branches.early[i] === 0) continue;
    const pool = poolOf(branches.early[i]);
    early[pool] += branches.early[i];
    late[pool] += branches.misses[i] - branches.early[i];
  }
  const ratios = new Float64Array(POOLS);
  for (let pool = 0; pool < POOLS; pool++) {
    // One miss that did not come again is added, so that a pool of few branches promises less.
    const isEmpty = early[pool] === 0 && pool > 0;
    ratios[pool] = isEmpty ? ratios[pool - 1] : late[pool] / (early[pool] + 1);
  }
  return ratios;
}

function poolOf(misses: number): number {
  return Math.floor(Math.log2(misses));
}

/** The rows of exclusions, `com,cnn)/a/* 0`, in byte order. */
export function exclusionRows(
  excluded: readonly number[],
  branches: BranchList,
  misses: MissList,
): Uint8Array[] {
  const rows = excluded.map((branch) => {
    const start = misses.starts[branches.miss[branch]];
    const length = branches.textLength[branch];
    const row = new Uint8Array(length + 5);
    row.set(misses.bytes.subarray(start, start + length));
    row.set([branches.isHost[branch] === 1 ? COMMA : SLASH, STAR, SPACE, 0x30, LF], length);
    return row;
  });
  return rows.sort((a, b) => compareRanges(a, 0, a.length - 3, b, 0, b.length - 3));
}

/** A map, leaving out rows that stay whatever is rolled up. */
export interface Solution {
  /** Its rows, and those of them that had a price: exclusions have none. */
  readonly rows: number;
  readonly pricedRows: number;
  /** The missed lookups that it is expected to call present. */
  readonly misses: number;
}

/** What a record keeps of a solution. */
export const DECISION = { none: 0, atPrice: 1, below: 2 } as const;
export type Decision = (typeof DECISION)[keyof typeof DECISION];

/** For each slot, sums over the children that were passed. */
interface Sums {
  /** Rows of the cheapest map that have a price, its misses and its exclusions. */
  readonly rows: Float64Array;
  readonly misses: Float64Array;
  readonly voids: Float64Array;
  /** All exclusions worth their row. */
  readonly allVoids: Float64Array;
}

/**
 * Finds the cheapest map at a price of a row, in one pass over the table, children first:
 *
 *     best(v) = min(price + fp(v), price · rows(v) + Σ best(children))
 *
 * A decision that is to be kept goes into the records. `below` also leaves the rows of each sub-tree
 * in `scratch`, and `atPrice` those that it has if it is rolled up.
 *
 * @param exclusions those worth their row, from the first record on.
 */
export function solve(
  table: NodeTable,
  price: number,
  exclusions?: Exclusions,
  decision: Decision = DECISION.none,
): Solution {
  const { slots } = table;
  const sums: Sums = {
    rows: new Float64Array(slots),
    misses: new Float64Array(slots),
    voids: new Float64Array(slots),
    allVoids: new Float64Array(slots),
  };
  const visit: VisitPage = (page, first, count) => {
    solvePage(page, first, count, price, sums, exclusions, decision);
  };
  if (decision === DECISION.none) table.forEachPage(visit);
  else table.changePages(visit);
  const { rows, misses, voids } = sums;
  return { rows: rows[0] + voids[0], pricedRows: rows[0], misses: misses[0] };
}

function solvePage(
  page: Float64Array,
  first: number,
  count: number,
  price: number,
  { rows, misses, voids, allVoids }: Sums,
  exclusions: Exclusions | undefined,
  decision: Decision,
): void {
  const isBelow = decision === DECISION.below;
  const keptRows = isBelow ? FIELD.scratch : FIELD.rolledUpRows;
  for (let at = 0; at < count; at++) {
    const slot = page[at + FIELD.slot];
    const parent = page[at + FIELD.parent];
    const open = page[at + FIELD.rows] + page[at + FIELD.singles] + rows[slot];
    const missesWithin = page[at + FIELD.missesWithin];
    const isRolledUp = missesWithin < price * (open - 1) + misses[slot];
    const worthy = allVoids[slot] + (exclusions?.countOf(first + at) ?? 0);
    const left = isRolledUp ? worthy : voids[slot];
    rows[parent] += isRolledUp ? 1 : open;
    misses[parent] += isRolledUp ? missesWithin : misses[slot];
    allVoids[parent] += worthy;
    voids[parent] += left;
    rows[slot] = misses[slot] = allVoids[slot] = voids[slot] = 0;
    if (decision === DECISION.none) continue;
    const others = page[at + FIELD.decision] & ~decision;
    page[at + FIELD.decision] = isRolledUp ? others | decision : others;
    page[at + keptRows] = isBelow ? left + (isRolledUp ? 1 : open) : 1 + worthy;
  }
}
