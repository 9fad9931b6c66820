import { COLON, MINUS, PLUS, SLASH, STAR } from "../../bytes/bytes.ts";
import { type Bound, frequencyCount, frequencyIsZero } from "../../ukvs/frequency.ts";
import { columnEnd, skipBlanks } from "../../ukvs/record.ts";
import { columnStart, type RowLayout } from "../../ukvs/row.ts";

const TILDE = 0x7e;

/** What rows of a map add up to. */
export class RowSums {
  rows = 0;
  captures = 0;
  /** Rows that say that nothing is held. */
  voids = 0;
  /** Rows that stand for many pages, and their captures. */
  wildcards = 0;
  wildcardCaptures = 0;
  /** Rows whose captures are a lower bound, and an upper bound; about is both. */
  atLeast = 0;
  atMost = 0;

  static readonly length = 7;

  get bound(): Bound {
    if (this.atLeast > 0) return this.atMost > 0 ? "about" : "atLeast";
    return this.atMost > 0 ? "atMost" : "exact";
  }

  add(other: RowSums, factor: 1 | -1 = 1): this {
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
    this.rows = 0;
    this.captures = 0;
    this.voids = 0;
    this.wildcards = 0;
    this.wildcardCaptures = 0;
    this.atLeast = 0;
    this.atMost = 0;
  }

  copy(): RowSums {
    return new RowSums().add(this);
  }
}

/**
 * Adds rows up, in the order of the map.
 *
 * The row `*`, which states the total once more, adds nothing. Where a key has a row for all times, `:`,
 * that row counts and those for periods do not.
 */
export class RowAdder {
  readonly #layout: RowLayout;
  /** What the rows of the last key added, in maps with times. */
  #key: Uint8Array = new Uint8Array(0);
  #added = new RowSums();
  readonly #row = new RowSums();

  constructor(layout: RowLayout) {
    this.#layout = layout;
  }

  /** Adds the row `bytes[start, end)`, whose key ends at `keyEnd`. */
  add(bytes: Uint8Array, start: number, keyEnd: number, end: number, sums: RowSums): void {
    const isWildcard = bytes[keyEnd - 1] === STAR;
    if (isWildcard && keyEnd - start === 1) return;
    const second = skipBlanks(bytes, keyEnd, end);
    const { datetimeColumn, frequencyColumn } = this.#layout;
    const from = columnStart(bytes, second, end, frequencyColumn - 1);
    if (datetimeColumn === -1) {
      addRow(bytes, from, columnEnd(bytes, from, end), isWildcard, sums);
      return;
    }
    const row = this.#row;
    Object.assign(row, new RowSums());
    addRow(bytes, from, columnEnd(bytes, from, end), isWildcard, row);
    if (!isSame(this.#key, bytes, start, keyEnd)) {
      this.#key = bytes.slice(start, keyEnd);
      this.#added = new RowSums();
    }
    const time = columnStart(bytes, second, end, datetimeColumn - 1);
    if (bytes[time] === COLON && columnEnd(bytes, time, end) === time + 1) {
      sums.add(this.#added, -1);
      sums.rows += this.#added.rows;
      this.#added = new RowSums();
    }
    sums.add(row);
    this.#added.add(row);
  }
}

function addRow(
  bytes: Uint8Array,
  from: number,
  to: number,
  isWildcard: boolean,
  sums: RowSums,
): void {
  const count = frequencyCount(bytes, from, to);
  sums.rows += 1;
  sums.captures += count;
  if (isWildcard) {
    sums.wildcards += 1;
    sums.wildcardCaptures += count;
  }
  if (count === 0 && frequencyIsZero(bytes, from, to)) {
    sums.voids += 1;
    return;
  }
  let at = from;
  while (at < to && bytes[at] >= 0x30 && bytes[at] <= 0x39) at++;
  const bound = at < to ? bytes[at] : 0;
  if (bound === PLUS || bound === TILDE || at === from || (bound === SLASH && at === from)) {
    sums.atLeast += 1;
  }
  if (bound === MINUS || bound === TILDE) sums.atMost += 1;
}

function isSame(key: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (key.length !== end - start) return false;
  for (let i = 0; i < key.length; i++) if (key[i] !== bytes[start + i]) return false;
  return true;
}
