import { compareBytes, SPACE } from "../bytes/bytes.ts";
import {
  type Bound,
  type Count,
  FrequencySum,
  MAX_FREQUENCY_BYTES,
  parseFrequency,
} from "../ukvs/frequency.ts";
import type { MapRow } from "./map-lines.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** Room for a frequency and the blanks around the columns before it. */
const ROOM = MAX_FREQUENCY_BYTES + 2;

/**
 * The summed frequency of a sub-tree, by the key columns after the SURT: one sum if there are none, else
 * one for each of their values, because `2014` and `2015` must not be mixed.
 */
export class Totals {
  /** The sum without such columns, the only one in most maps. */
  readonly #plain = new FrequencySum();
  #others: Map<string, FrequencySum> | undefined;

  reset(): void {
    if (!this.#plain.isEmpty) this.#plain.reset();
    this.#others = undefined;
  }

  get isEmpty(): boolean {
    return this.#plain.isEmpty && this.#others === undefined;
  }

  /** Adds mementos of rows without key columns after the SURT. */
  addCount(mementos: number): void {
    if (mementos === 0) return;
    // A sum detects an overflow only while adding.
    if (mementos > Number.MAX_SAFE_INTEGER) this.#plain.addInteger(Number.MAX_SAFE_INTEGER);
    this.#plain.addInteger(mementos);
  }

  addRow(row: MapRow): void {
    this.#sumOf(moreKeysOf(row)).addBytes(row.bytes, row.frequencyStart, row.frequencyEnd);
    this.#addParts(row);
  }

  /** Adds a row whose count may overlap other added rows: the sum is then a bound. */
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

  /** The period of a part may be outside that of its row. */
  #addParts({ parts = [] }: MapRow): void {
    for (const { moreKeys, frequency } of parts) this.#sumOf(moreKeys).add(frequency);
  }

  addTotals(other: Totals): void {
    this.#plain.addSum(other.#plain);
    if (other.#others === undefined) return;
    for (const [keys, sum] of other.#others) this.#sumOf(keys).addSum(sum);
  }

  /**
   * Adds the sums of `other` that are missing here: a wildcard counts the rows below it only for its own
   * periods.
   */
  addMissing(other: Totals): void {
    for (const [keys, sum] of other.#sums()) {
      if (!this.#sumOf(keys).isPresent) this.#sumOf(keys).addSum(sum);
    }
  }

  /** The lines of a key with these sums, in byte order. */
  lines(key: Uint8Array, valueColumns: number): Uint8Array[] {
    // The values after the frequency are unknown.
    const ending = encoder.encode(`${" -".repeat(valueColumns - 1)}\n`);
    return this.#sums()
      .filter(([, sum]) => sum.isPresent)
      .map(([moreKeys, sum]) => {
        const line = new Uint8Array(key.length + 3 * moreKeys.length + ROOM + ending.length);
        line.set(key);
        let end = key.length;
        line[end++] = SPACE;
        if (moreKeys !== "") {
          end += encoder.encodeInto(moreKeys, line.subarray(end)).written;
          line[end++] = SPACE;
        }
        end = sum.writeTo(line, end);
        line.set(ending, end);
        return line.subarray(0, end + ending.length);
      })
      .sort(compareBytes);
  }

  #sums(): [string, FrequencySum][] {
    const others = [...(this.#others ?? [])];
    return this.#plain.isEmpty ? others : [["", this.#plain], ...others];
  }

  #sumOf(moreKeys: string): FrequencySum {
    if (moreKeys === "") return this.#plain;
    this.#others ??= new Map<string, FrequencySum>();
    const sum = this.#others.get(moreKeys) ?? new FrequencySum();
    this.#others.set(moreKeys, sum);
    return sum;
  }
}

/** The key columns after the SURT. */
function moreKeysOf({ bytes, keyEnd, tupleEnd }: MapRow): string {
  return keyEnd === tupleEnd ? "" : decoder.decode(bytes.subarray(keyEnd + 1, tupleEnd));
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
