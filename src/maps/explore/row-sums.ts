import { COLON, compareRanges, isDigit, MINUS, PLUS, STAR } from "../../bytes/bytes.ts";
import { type Bound, frequencyCount, frequencyIsZero } from "../../ukvs/frequency.ts";
import { columnEnd, skipBlanks } from "../../ukvs/record.ts";
import { columnStart, type Row, type RowLayout } from "../../ukvs/row.ts";

const TILDE = 0x7e;

const NUMBERS = [
  "rows",
  "captures",
  "voids",
  "wildcards",
  "wildcardCaptures",
  "atLeast",
  "atMost",
] as const;

/** Totals of rows of a map. */
export class RowSums {
  rows = 0;
  captures = 0;
  /** Rows that state that nothing is held. */
  voids = 0;
  /** Rows that cover many pages, and their captures. */
  wildcards = 0;
  wildcardCaptures = 0;
  /** Rows whose captures are a lower bound, and an upper bound; `about` counts as both. */
  atLeast = 0;
  atMost = 0;

  /** The length of `numbers`. */
  static readonly length = NUMBERS.length;

  /** The sums stored as `numbers` from `at` on. */
  static at(numbers: readonly number[], at: number): RowSums {
    const sums = new RowSums();
    for (const [i, name] of NUMBERS.entries()) sums[name] = numbers[at + i];
    return sums;
  }

  get numbers(): number[] {
    return NUMBERS.map((name) => this[name]);
  }

  get bound(): Bound {
    if (this.atLeast > 0) return this.atMost > 0 ? "about" : "atLeast";
    return this.atMost > 0 ? "atMost" : "exact";
  }

  add(other: RowSums, factor: 1 | -1 = 1): this {
    // A loop over the names makes compare 50 % slower.
    this.rows += factor * other.rows;
    this.captures += factor * other.captures;
    this.voids += factor * other.voids;
    this.wildcards += factor * other.wildcards;
    this.wildcardCaptures += factor * other.wildcardCaptures;
    this.atLeast += factor * other.atLeast;
    this.atMost += factor * other.atMost;
    return this;
  }

  clear(): void {
    this.add(this, -1);
  }
}

/** The position of a row in its bytes. */
type RowPlaces = Pick<Row, "start" | "keyEnd" | "restStart" | "end">;

/**
 * Adds rows up, in the order of the map.
 *
 * The row `*` repeats the total and adds nothing. If a key has a row for all time, `:`, only that row
 * counts, not those for periods.
 */
export class RowAdder {
  readonly #datetimeColumn: number;
  /** The sums that the rows of the last key added, in maps with times. */
  #key: Uint8Array = new Uint8Array(0);
  #added = new RowSums();

  constructor({ datetimeColumn }: RowLayout) {
    this.#datetimeColumn = datetimeColumn;
  }

  add(bytes: Uint8Array, row: RowPlaces, sums: RowSums): void {
    const { start, keyEnd } = row;
    if (isTotal(bytes, row)) return;
    if (this.#datetimeColumn === -1) {
      addRow(bytes, row, sums);
      return;
    }
    if (compareRanges(this.#key, 0, this.#key.length, bytes, start, keyEnd) !== 0) {
      this.#key = bytes.slice(start, keyEnd);
      this.#added = new RowSums();
    }
    if (this.#isOfAllTime(bytes, row)) {
      const { rows } = this.#added;
      sums.add(this.#added, -1);
      sums.rows += rows;
      this.#added = new RowSums();
    }
    const own = new RowSums();
    addRow(bytes, row, own);
    sums.add(own);
    this.#added.add(own);
  }

  #isOfAllTime(bytes: Uint8Array, { keyEnd, end }: RowPlaces): boolean {
    const second = skipBlanks(bytes, keyEnd, end);
    const time = columnStart(bytes, second, end, this.#datetimeColumn - 1);
    return bytes[time] === COLON && columnEnd(bytes, time, end) === time + 1;
  }
}

/** Whether this is the row `*`, which states the totals of the archive. */
export function isTotal(bytes: Uint8Array, { start, keyEnd }: RowPlaces): boolean {
  return keyEnd - start === 1 && bytes[start] === STAR;
}

function addRow(bytes: Uint8Array, row: RowPlaces, sums: RowSums): void {
  const from = row.restStart;
  const to = columnEnd(bytes, from, row.end);
  const count = frequencyCount(bytes, from, to);
  sums.rows += 1;
  sums.captures += count;
  if (bytes[row.keyEnd - 1] === STAR) {
    sums.wildcards += 1;
    sums.wildcardCaptures += count;
  }
  if (count === 0 && frequencyIsZero(bytes, from, to)) {
    sums.voids += 1;
    return;
  }
  let at = from;
  while (at < to && isDigit(bytes[at])) at++;
  const bound = at < to ? bytes[at] : 0;
  // A missing count means that some are held.
  if (bound === PLUS || bound === TILDE || at === from) sums.atLeast += 1;
  if (bound === MINUS || bound === TILDE) sums.atMost += 1;
}
