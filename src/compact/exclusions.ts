import { COMMA, compareRanges, joinBytes, LF, SLASH, SPACE, STAR } from "../bytes/bytes.ts";
import { keyEnd } from "../ukvs/row.ts";
import type { MissList } from "./misses.ts";

/** A branch of the key tree that holds nothing but was looked up: a candidate for an exclusion. */
export interface Branch {
  /** The branch is the first `textLength` bytes of this miss. */
  readonly miss: number;
  readonly textLength: number;
  /** Missed lookups in the earlier half of the log, and in all of it. */
  readonly early: number;
  readonly misses: number;
  /** Whether it is a host, to be written `com,cnn,*`. */
  readonly isHost: boolean;
}

/** A branch, and the record of its deepest ancestor that has one. */
export interface RecordedBranch extends Branch {
  readonly record: number;
}

/** Branches are pooled by the power of two of their misses. */
const POOLS = 32;

/**
 * Chooses the empty branches that are worth an exclusion row.
 *
 * A branch that was looked up c times is expected to be looked up c · r times again, where r is the ratio
 * of lookups in the later half of the log to those in the earlier half, over branches with similar counts.
 * An exclusion is worth its row if that exceeds the price of a row.
 *
 * Exclusions do not offset the cost of a roll-up: an exclusion for this year's folder does not cover next
 * year's, while the roll-up would stay.
 */
export class Exclusions {
  readonly #branches: readonly RecordedBranch[];
  readonly #expected: Float64Array;
  #next = 0;
  #price = 0;

  /** @param branches in the order of their records. */
  constructor(branches: readonly RecordedBranch[]) {
    this.#branches = branches;
    const ratios = returnRatios(branches);
    this.#expected = Float64Array.from(branches, ({ misses }) => misses * ratios[poolOf(misses)]);
  }

  /** Restarts with a price of a row: from the first record, or after the last one. */
  rewind(price: number, isBackwards: boolean = false): this {
    this.#next = isBackwards ? this.#branches.length : 0;
    this.#price = price;
    return this;
  }

  /** The number of exclusions worth their row at this record; call it in record order. */
  countOf(record: number): number {
    const branches = this.#branches;
    let found = 0;
    while (branches[this.#next]?.record < record) this.#next++;
    for (; branches[this.#next]?.record === record; this.#next++) {
      if (this.#expected[this.#next] > this.#price) found++;
    }
    return found;
  }

  /** The branches worth their row at this record, the last one first; call it in reverse record order. */
  listOf(record: number): number[] {
    const branches = this.#branches;
    const list: number[] = [];
    while (branches[this.#next - 1]?.record > record) this.#next--;
    for (; branches[this.#next - 1]?.record === record; this.#next--) {
      if (this.#expected[this.#next - 1] > this.#price) list.push(this.#next - 1);
    }
    return list;
  }
}

/** The ratio of misses that recur, by pool; an empty pool has the ratio of the one below. */
function returnRatios(branches: readonly Branch[]): Float64Array {
  const early = new Float64Array(POOLS);
  const late = new Float64Array(POOLS);
  for (const branch of branches) {
    if (branch.early === 0) continue;
    const pool = poolOf(branch.early);
    early[pool] += branch.early;
    late[pool] += branch.misses - branch.early;
  }
  const ratios = new Float64Array(POOLS);
  for (let pool = 0; pool < POOLS; pool++) {
    // One miss that did not recur is added, so that small pools are estimated conservatively.
    const isEmpty = early[pool] === 0 && pool > 0;
    ratios[pool] = isEmpty ? ratios[pool - 1] : late[pool] / (early[pool] + 1);
  }
  return ratios;
}

function poolOf(misses: number): number {
  return Math.floor(Math.log2(misses));
}

/** The rows of exclusions, `com,cnn)/a/* 0`, in byte order. */
export function exclusionRows(branches: readonly Branch[], misses: MissList): Uint8Array[] {
  const rows = branches.map(({ miss, textLength, isHost }) => {
    const start = misses.starts[miss];
    const row = new Uint8Array(textLength + 5);
    row.set(misses.bytes.subarray(start, start + textLength));
    row.set([isHost ? COMMA : SLASH, STAR, SPACE, 0x30, LF], textLength);
    return row;
  });
  return rows.sort((a, b) => compareKeys(a, 0, b, 0));
}

/**
 * Inserts rows into the blocks of whole lines of a map, in byte order. Rows whose key is in the map are
 * skipped.
 *
 * @param rows in byte order, each with its line end.
 */
export async function* withRows(
  rows: readonly Uint8Array[],
  blocks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let next = 0;
  for await (const block of blocks) {
    const parts: Uint8Array[] = [];
    let from = 0;
    for (; next < rows.length; next++) {
      const at = placeOf(rows[next], block, from);
      if (at === block.length) break;
      parts.push(block.subarray(from, at));
      if (compareKeys(rows[next], 0, block, at) !== 0) parts.push(rows[next]);
      from = at;
    }
    yield parts.length === 0 ? block : joinBytes([...parts, block.subarray(from)]);
  }
  if (next < rows.length) yield joinBytes(rows.slice(next));
}

/** The offset of the first line from `from` on whose key is not less than that of a row, by binary search. */
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
