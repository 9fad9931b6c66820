import { hashRange } from "../../bytes/hash.ts";

/** A value with its counters, in the order of the columns it was counted in. */
export interface CountedValue {
  readonly value: string;
  readonly counts: readonly number[];
}

/** What {@link ValueCounts} holds, in a form that can be sent to another thread. */
export interface ValueCountsData {
  readonly values: readonly CountedValue[];
  /** Counts of values that came when the table was full. */
  readonly rest: readonly number[];
}

/** A table this large holds every MIME type of any archive that is not random bytes. */
const MAX_VALUES = 1 << 15;
const SLOTS = 1 << 16;
/** Longer values count as their beginning. */
const MAX_VALUE_BYTES = 200;

/**
 * Counts distinct short values, such as MIME types, in a few columns each.
 *
 * Exact for up to 32,768 distinct values; what comes beyond is counted together. No string is made
 * while counting.
 */
export class ValueCounts {
  readonly #columns: number;
  readonly #slots = new Uint16Array(SLOTS);
  readonly #values: Uint8Array[] = [];
  readonly #counts: Float64Array[] = [];
  readonly #rest: Float64Array;
  #last = -1;

  constructor(columns: number) {
    this.#columns = columns;
    this.#rest = new Float64Array(columns);
  }

  add(bytes: Uint8Array, start: number, end: number, column: number, count: number): void {
    const valueEnd = Math.min(end, start + MAX_VALUE_BYTES);
    if (this.#last !== -1 && this.#equals(this.#last, bytes, start, valueEnd)) {
      this.#counts[this.#last][column] += count;
      return;
    }
    const id = this.#find(bytes, start, valueEnd);
    const counts = id === -1 ? this.#rest : this.#counts[id];
    counts[column] += count;
    if (id !== -1) this.#last = id;
  }

  #find(bytes: Uint8Array, start: number, end: number): number {
    let slot = hashRange(bytes, start, end) & (SLOTS - 1);
    for (; this.#slots[slot] !== 0; slot = (slot + 1) & (SLOTS - 1)) {
      const id = this.#slots[slot] - 1;
      if (this.#equals(id, bytes, start, end)) return id;
    }
    if (this.#values.length === MAX_VALUES) return -1;
    this.#values.push(new Uint8Array(bytes.subarray(start, end)));
    this.#counts.push(new Float64Array(this.#columns));
    this.#slots[slot] = this.#values.length;
    return this.#values.length - 1;
  }

  #equals(id: number, bytes: Uint8Array, start: number, end: number): boolean {
    const value = this.#values[id];
    if (value.length !== end - start) return false;
    for (let i = 0; i < value.length; i++) if (value[i] !== bytes[start + i]) return false;
    return true;
  }

  /** All values, in no particular order. */
  data(): ValueCountsData {
    const decoder = new TextDecoder();
    return {
      values: this.#values.map((value, id) => ({
        value: decoder.decode(value),
        counts: Array.from(this.#counts[id]),
      })),
      rest: Array.from(this.#rest),
    };
  }
}

/** Adds up what several threads counted; the value counted most in all columns comes first. */
export function joinValueCounts(parts: readonly ValueCountsData[]): ValueCountsData {
  const counts = new Map<string, number[]>();
  let rest: number[] = [];
  for (const part of parts) {
    for (const { value, counts: own } of part.values) {
      counts.set(value, sumOf(counts.get(value) ?? [], own));
    }
    rest = sumOf(rest, part.rest);
  }
  const values = [...counts].map(([value, own]) => ({ value, counts: own }));
  values.sort((a, b) => total(b.counts) - total(a.counts) || (a.value < b.value ? -1 : 1));
  return { values, rest };
}

/** The sum of all columns. */
export function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function sumOf(a: readonly number[], b: readonly number[]): number[] {
  return b.map((count, i) => count + (a[i] ?? 0));
}
