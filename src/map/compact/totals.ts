import { copyRange, LF, SPACE } from "../../bytes/bytes.ts";
import {
  type Bound,
  type Count,
  type Frequency,
  FrequencySum,
  MAX_FREQUENCY_BYTES,
  parseFrequency,
} from "../../ukvs/frequency.ts";
import type { PendingText } from "./pending-text.ts";

/** Where the parts of a row are in the bytes it was read from. */
export interface RowRange {
  /** Key columns behind the SURT, with the blanks between them; empty where there are none. */
  readonly moreKeysStart: number;
  readonly moreKeysEnd: number;
  readonly frequencyStart: number;
  readonly frequencyEnd: number;
  /** What its JSON block holds of times of their own, where rows have a datetime. */
  readonly parts?: readonly RowPart[] | undefined;
}

/** What a row holds of a time: the key columns behind the SURT for that time, and how much. */
export interface RowPart {
  readonly moreKeys: string;
  readonly frequency: Frequency;
}

/**
 * The summed frequency of a sub-tree.
 *
 * One sum in a map keyed by SURT alone; where there are more key columns, one for each of their
 * values, because `2014` and `2015` must not be mixed.
 */
export interface Totals {
  reset(): void;
  addRow(bytes: Uint8Array, row: RowRange): void;
  /** Adds a row whose count may include others that are added too: its count is a bound then. */
  addOverlappingRow(bytes: Uint8Array, row: RowRange): void;
  addTotals(other: Totals): void;
  /** Adds the sums that others have and these do not. */
  addMissing(other: Totals): void;
  /** Appends the row or rows of `key` to the output. */
  appendRows(key: Uint8Array, keyLength: number, output: PendingText): void;
}

/** Totals of a map with one key column. */
export class SingleTotal implements Totals {
  readonly sum = new FrequencySum();
  readonly #otherValues: string;

  constructor(valueColumns: number = 1) {
    this.#otherValues = noValues(valueColumns);
  }

  reset(): void {
    this.sum.reset();
  }

  addRow(bytes: Uint8Array, row: RowRange): void {
    this.sum.addBytes(bytes, row.frequencyStart, row.frequencyEnd);
  }

  addOverlappingRow(bytes: Uint8Array, row: RowRange): void {
    addOverlapping(this.sum, bytes, row);
  }

  addTotals(other: SingleTotal): void {
    this.sum.addSum(other.sum);
  }

  addMissing(): void {
    // There is one sum, and it is there.
  }

  appendRows(key: Uint8Array, keyLength: number, output: PendingText): void {
    appendRow(key, keyLength, "", this.sum, this.#otherValues, output);
  }
}

/** Totals of a map with more key columns, such as a datetime. */
export class KeyedTotals implements Totals {
  readonly sums = new Map<string, FrequencySum>();
  readonly #decoder = new TextDecoder("latin1");
  readonly #otherValues: string;

  constructor(valueColumns: number = 1) {
    this.#otherValues = noValues(valueColumns);
  }

  reset(): void {
    this.sums.clear();
  }

  addRow(bytes: Uint8Array, row: RowRange): void {
    this.#sumOf(this.#moreKeys(bytes, row)).addBytes(bytes, row.frequencyStart, row.frequencyEnd);
    this.#addParts(row);
  }

  addOverlappingRow(bytes: Uint8Array, row: RowRange): void {
    addOverlapping(this.#sumOf(this.#moreKeys(bytes, row)), bytes, row);
    this.#addParts(row);
  }

  /** A part may be of a time outside that of its row. */
  #addParts({ parts = [] }: RowRange): void {
    for (const { moreKeys, frequency } of parts) this.#sumOf(moreKeys).add(frequency);
  }

  addTotals(other: KeyedTotals): void {
    for (const [keys, sum] of other.sums) this.#sumOf(keys).addSum(sum);
  }

  /** A wildcard counts what is below it at its own times; of other times it says nothing. */
  addMissing(other: KeyedTotals): void {
    for (const [keys, sum] of other.sums) {
      if (this.sums.get(keys)?.isPresent !== true) this.#sumOf(keys).addSum(sum);
    }
  }

  appendRows(key: Uint8Array, keyLength: number, output: PendingText): void {
    // One code unit a byte, so this is byte order.
    const keys = [...this.sums.keys()].sort((a, b) => (a < b ? -1 : 1));
    for (const moreKeys of keys) {
      const sum = this.#sumOf(moreKeys);
      if (sum.isPresent) appendRow(key, keyLength, moreKeys, sum, this.#otherValues, output);
    }
  }

  #moreKeys(bytes: Uint8Array, row: RowRange): string {
    const text = this.#decoder.decode(bytes.subarray(row.moreKeysStart, row.moreKeysEnd));
    return text.replaceAll(/[ \t]+/g, " ");
  }

  #sumOf(moreKeys: string): FrequencySum {
    let sum = this.sums.get(moreKeys);
    if (sum === undefined) {
      sum = new FrequencySum();
      this.sums.set(moreKeys, sum);
    }
    return sum;
  }
}

function appendRow(
  key: Uint8Array,
  keyLength: number,
  moreKeys: string,
  sum: FrequencySum,
  otherValues: string,
  output: PendingText,
): void {
  const length = keyLength + moreKeys.length + MAX_FREQUENCY_BYTES + otherValues.length + 3;
  const start = output.reserve(length);
  const { buffer } = output;
  let at = copyRange(key, 0, keyLength, buffer, start);
  buffer[at++] = SPACE;
  if (moreKeys !== "") {
    for (let i = 0; i < moreKeys.length; i++) buffer[at++] = moreKeys.charCodeAt(i);
    buffer[at++] = SPACE;
  }
  at = sum.writeTo(buffer, at);
  for (let i = 0; i < otherValues.length; i++) buffer[at++] = otherValues.charCodeAt(i);
  buffer[at++] = LF;
  output.commit(at);
}

/** The value columns behind the frequency: nothing is known of them for a sum. */
function noValues(valueColumns: number): string {
  return " -".repeat(valueColumns - 1);
}

const OVERLAPPING: Readonly<Record<Bound, Bound>> = {
  exact: "atMost",
  atMost: "atMost",
  atLeast: "about",
  about: "about",
};

function addOverlapping(sum: FrequencySum, bytes: Uint8Array, row: RowRange): void {
  const text = new TextDecoder().decode(bytes.subarray(row.frequencyStart, row.frequencyEnd));
  const { mementos, originals } = parseFrequency(text);
  sum.add({
    ...(mementos === undefined ? {} : { mementos: overlapping(mementos) }),
    ...(originals === undefined ? {} : { originals: overlapping(originals) }),
  });
}

function overlapping(count: Count): Count {
  return { value: count.value, bound: OVERLAPPING[count.bound] };
}
