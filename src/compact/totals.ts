import { LF, SPACE } from "../bytes/ascii.ts";
import { copyRange } from "../bytes/copy.ts";
import { parseFrequency } from "../ukvs/frequency.ts";
import type { Bound, Count } from "../ukvs/frequency.ts";
import { FrequencySum, MAX_FREQUENCY_BYTES } from "../ukvs/frequency-sum.ts";
import type { PendingText } from "./pending-text.ts";

/** Where the parts of a row are in the bytes it was read from. */
export interface RowRange {
  /** Key columns behind the SURT, with the blanks between them; empty where there are none. */
  readonly moreKeysStart: number;
  readonly moreKeysEnd: number;
  readonly frequencyStart: number;
  readonly frequencyEnd: number;
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
  /** Appends the row or rows of `key` to the output. */
  appendRows(key: Uint8Array, keyLength: number, output: PendingText): void;
}

/** Totals of a map with one key column. */
export class SingleTotal implements Totals {
  readonly sum = new FrequencySum();

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

  appendRows(key: Uint8Array, keyLength: number, output: PendingText): void {
    appendRow(key, keyLength, "", this.sum, output);
  }
}

/** Totals of a map with more key columns, such as a datetime. */
export class KeyedTotals implements Totals {
  readonly sums = new Map<string, FrequencySum>();
  readonly #decoder = new TextDecoder("latin1");

  reset(): void {
    this.sums.clear();
  }

  addRow(bytes: Uint8Array, row: RowRange): void {
    this.#sumOf(this.#moreKeys(bytes, row)).addBytes(bytes, row.frequencyStart, row.frequencyEnd);
  }

  addOverlappingRow(bytes: Uint8Array, row: RowRange): void {
    addOverlapping(this.#sumOf(this.#moreKeys(bytes, row)), bytes, row);
  }

  addTotals(other: KeyedTotals): void {
    for (const [keys, sum] of other.sums) this.#sumOf(keys).addSum(sum);
  }

  appendRows(key: Uint8Array, keyLength: number, output: PendingText): void {
    // One code unit a byte, so this is byte order.
    const keys = [...this.sums.keys()].sort((a, b) => (a < b ? -1 : 1));
    for (const moreKeys of keys) {
      const sum = this.#sumOf(moreKeys);
      if (sum.isPresent) appendRow(key, keyLength, moreKeys, sum, output);
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
  output: PendingText,
): void {
  const start = output.reserve(keyLength + moreKeys.length + MAX_FREQUENCY_BYTES + 3);
  const { buffer } = output;
  let at = copyRange(key, 0, keyLength, buffer, start);
  buffer[at++] = SPACE;
  if (moreKeys !== "") {
    for (let i = 0; i < moreKeys.length; i++) buffer[at++] = moreKeys.charCodeAt(i);
    buffer[at++] = SPACE;
  }
  at = sum.writeTo(buffer, at);
  buffer[at++] = LF;
  output.commit(at);
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
