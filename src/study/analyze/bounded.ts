import { hashRange } from "../../bytes/bytes.ts";

/** Something ranked: more is better; of equals, the name that sorts first. */
export interface Ranked {
  readonly name: string;
  readonly rank: number;
}

/**
 * Keeps the `size` best of any number of entries, in memory for that many.
 *
 * The result does not depend on the order in which entries are offered.
 */
export class TopList<T extends Ranked> {
  readonly #size: number;
  /** At most twice the size; the best of them are sorted out when there is no room for more. */
  readonly #kept: T[] = [];
  #least: T | undefined;

  constructor(size: number) {
    this.#size = size;
  }

  /** Whether an entry of this rank could still get in: ask before making one. */
  accepts(rank: number): boolean {
    return this.#size > 0 && (this.#least === undefined || rank >= this.#least.rank);
  }

  offer(entry: T): void {
    if (this.#size === 0 || (this.#least !== undefined && isBetter(this.#least, entry))) return;
    if (this.#kept.push(entry) >= 2 * this.#size) this.best();
  }

  best(): T[] {
    this.#kept.sort((a, b) => (isBetter(a, b) ? -1 : 1));
    this.#kept.length = Math.min(this.#kept.length, this.#size);
    if (this.#kept.length === this.#size) this.#least = this.#kept.at(-1);
    return [...this.#kept];
  }
}

function isBetter(a: Ranked, b: Ranked): boolean {
  return a.rank === b.rank ? a.name < b.name : a.rank > b.rank;
}

/** A value with its counters, in the order of the columns it was counted in. */
interface CountedValue {
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

export function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function sumOf(a: readonly number[], b: readonly number[]): number[] {
  return b.map((count, i) => count + (a[i] ?? 0));
}

/** A text that was drawn, and the hash that drew it. */
export interface SampledText {
  readonly hash: number;
  readonly text: string;
}

/**
 * Draws `size` texts of any number, each distinct one with the same chance.
 *
 * Keeps those with the smallest hashes, so the sample does not depend on the order of texts or on
 * how they were shared out to threads.
 */
export class HashSample {
  readonly #size: number;
  readonly #kept: SampledText[] = [];
  readonly #decoder = new TextDecoder();
  #limit = Number.POSITIVE_INFINITY;

  constructor(size: number) {
    this.#size = size;
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    const hash = hashRange(bytes, start, end);
    if (!this.accepts(hash)) return;
    this.draw({ hash, text: this.#decoder.decode(bytes.subarray(start, end)) });
  }

  /** Whether a text of this hash could still get in: ask before making one. */
  accepts(hash: number): boolean {
    return hash <= this.#limit;
  }

  join(others: readonly SampledText[]): void {
    for (const other of others) this.draw(other);
  }

  draw(drawn: SampledText): void {
    if (this.#kept.some(({ hash, text }) => hash === drawn.hash && text === drawn.text)) return;
    this.#kept.push(drawn);
    this.#kept.sort((a, b) => a.hash - b.hash || (a.text < b.text ? -1 : 1));
    if (this.#kept.length > this.#size) this.#kept.pop();
    if (this.#kept.length === this.#size) this.#limit = this.#kept.at(-1)?.hash ?? 0;
  }

  data(): readonly SampledText[] {
    return this.#kept;
  }

  texts(): string[] {
    return this.#kept.map(({ text }) => text);
  }
}
