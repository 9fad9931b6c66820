import { compareBytes } from "../../bytes/bytes.ts";
import {
  type Bound,
  type Count,
  formatFrequency,
  FrequencySum,
  parseFrequency,
} from "../../ukvs/frequency.ts";
import type { MapRow } from "./map-lines.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * The summed frequency of a sub-tree, by the key columns behind the SURT: one sum where there are
 * none, or else one for each of their values, because `2014` and `2015` must not be mixed.
 */
export class Totals {
  /** The sum without such columns, which is the only one in most maps; then the others. */
  #plain: FrequencySum | undefined;
  #others: Map<string, FrequencySum> | undefined;

  addRow(row: MapRow): void {
    this.#sumOf(moreKeysOf(row)).addBytes(row.bytes, row.frequencyStart, row.frequencyEnd);
    this.#addParts(row);
  }

  /** Adds a row whose count may include others that are added too: its count is a bound then. */
  addOverlappingRow(row: MapRow): void {
    const { bytes, frequencyStart, frequencyEnd } = row;
    const { mementos, originals } = parseFrequency(
      decoder.decode(bytes.subarray(frequencyStart, frequencyEnd)),
    );
    this.#sumOf(moreKeysOf(row)).add({
      ...(mementos === undefined ? {} : { mementos: overlapping(mementos) }),
      ...(originals === undefined ? {} : { originals: overlapping(originals) }),
    });
    this.#addParts(row);
  }

  /** A part may be of a time outside that of its row. */
  #addParts({ parts = [] }: MapRow): void {
    for (const { moreKeys, frequency } of parts) this.#sumOf(moreKeys).add(frequency);
  }

  addTotals(other: Totals): void {
    for (const [keys, sum] of other.#sums()) this.#sumOf(keys).addSum(sum);
  }

  /**
   * Adds the sums that others have and these do not: a wildcard counts what is below it at its own
   * times; of other times it says nothing.
   */
  addMissing(other: Totals): void {
    for (const [keys, sum] of other.#sums()) {
      if (!this.#sumOf(keys).isPresent) this.#sumOf(keys).addSum(sum);
    }
  }

  /** The lines of a key with these sums, in byte order. */
  lines(key: string, valueColumns: number): Uint8Array[] {
    // Nothing is known of the values behind the frequency.
    const otherValues = " -".repeat(valueColumns - 1);
    return this.#sums()
      .filter(([, sum]) => sum.isPresent)
      .map(([moreKeys, sum]) => {
        const keys = moreKeys === "" ? key : `${key} ${moreKeys}`;
        return encoder.encode(`${keys} ${formatFrequency(sum.toFrequency())}${otherValues}\n`);
      })
      .sort(compareBytes);
  }

  #sums(): [string, FrequencySum][] {
    if (this.#others !== undefined) return [...this.#others];
    return this.#plain === undefined ? [] : [["", this.#plain]];
  }

  #sumOf(moreKeys: string): FrequencySum {
    if (moreKeys === "") return (this.#plain ??= new FrequencySum());
    this.#others ??= new Map<string, FrequencySum>();
    const sum = this.#others.get(moreKeys) ?? new FrequencySum();
    this.#others.set(moreKeys, sum);
    return sum;
  }
}

function moreKeysOf({ bytes, moreKeysStart, moreKeysEnd }: MapRow): string {
  if (moreKeysStart === moreKeysEnd) return "";
  return decoder.decode(bytes.subarray(moreKeysStart, moreKeysEnd));
}

const OVERLAPPING: Readonly<Record<Bound, Bound>> = {
  exact: "atMost",
  atMost: "atMost",
  atLeast: "about",
  about: "about",
};

function overlapping(count: Count): Count {
  return { value: count.value, bound: OVERLAPPING[count.bound] };
}
