import { compareRanges, copyRange } from "../../bytes/bytes.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import { readUkvs, type RecordBatch, type UkvsReader } from "../../ukvs/reader.ts";
import { RowAdder, RowSums } from "../explore/row-sums.ts";
import { type RowLayout, rowLayout } from "../../ukvs/row.ts";

/** A sorted map as a stream, with the name that messages call it. */
export interface ComparedChunks {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * The keys of a sorted map one after the other, each with what its rows add up to. Holds a batch of rows.
 *
 * The key is `bytes[start, end)`; it and `sums` are valid until the next key.
 */
export class KeyGroups {
  bytes: Uint8Array = new Uint8Array(0);
  start = 0;
  end = 0;
  readonly sums = new RowSums();
  isDone = false;
  readonly headers: UkvsHeaders;
  readonly #reader: UkvsReader;
  readonly #layout: RowLayout;
  readonly #batches: AsyncGenerator<RecordBatch, void, undefined>;
  #adder: RowAdder;
  #batch: RecordBatch | undefined;
  #at = 0;
  /** A copy of a key whose rows may go on in the next batch. */
  #copy: Uint8Array = new Uint8Array(1024);

  private constructor(reader: UkvsReader, name: string) {
    this.#reader = reader;
    this.headers = reader.headers;
    this.#layout = rowLayout(reader.headers.fields, name);
    this.#adder = new RowAdder(this.#layout);
    this.#batches = reader.batches();
  }

  /** @throws MM_BAD_INPUT when it is not a map, and what reading throws. */
  static async open(
    { name, chunks }: ComparedChunks,
    options: { readonly signal?: AbortSignal | undefined },
  ): Promise<KeyGroups> {
    const reader = await readUkvs(chunks, { source: name, signal: options.signal });
    try {
      return new KeyGroups(reader, name);
    } catch (error) {
      await reader.close();
      throw error;
    }
  }

  /** Whether the rows of the key say that nothing is held. */
  get isVoid(): boolean {
    const { voids, captures, atLeast } = this.sums;
    return voids > 0 && captures === 0 && atLeast === 0;
  }

  /** Goes to the next key; a promise only where rows must be read. */
  next(): Promise<void> | undefined {
    const batch = this.#batch;
    // The rows of the last key of a batch may go on in the next one.
    if (batch === undefined || this.#at >= batch.count - 1) return this.#nextSlowly();
    this.#begin(batch);
    while (this.#at < batch.count && this.#isSame(batch)) {
      if (this.#at === batch.count - 1) return this.#goOn(batch);
      this.#add(batch);
    }
    return undefined;
  }

  close(): Promise<void> {
    return this.#reader.close();
  }

  async #nextSlowly(): Promise<void> {
    if (this.#batch === undefined || this.#at >= this.#batch.count) await this.#read();
    const batch = this.#batch;
    if (batch === undefined) {
      this.isDone = true;
      return;
    }
    this.#begin(batch);
    await this.#goOn(batch);
  }

  /** Adds the rows of the current key, also those of the following batches. */
  async #goOn(first: RecordBatch): Promise<void> {
    this.#keepCopy();
    for (let batch: RecordBatch | undefined = first; batch !== undefined; batch = this.#batch) {
      while (this.#at < batch.count && this.#isSame(batch)) this.#add(batch);
      if (this.#at < batch.count) return;
      await this.#read();
    }
  }

  async #read(): Promise<void> {
    const next = await this.#batches.next();
    this.#batch = next.done === true ? undefined : next.value;
    this.#at = 0;
  }

  #begin(batch: RecordBatch): void {
    this.bytes = batch.bytes;
    this.start = batch.keyStarts[this.#at];
    this.end = batch.keyEnds[this.#at];
    this.sums.clear();
    if (this.#layout.datetimeColumn !== -1) this.#adder = new RowAdder(this.#layout);
  }

  #isSame(batch: RecordBatch): boolean {
    const [start, end] = [batch.keyStarts[this.#at], batch.keyEnds[this.#at]];
    if (batch.bytes === this.bytes && start === this.start) return true;
    return compareRanges(batch.bytes, start, end, this.bytes, this.start, this.end) === 0;
  }

  #add(batch: RecordBatch): void {
    const { bytes, keyStarts, keyEnds, restEnds } = batch;
    const at = this.#at;
    this.#adder.add(bytes, keyStarts[at], keyEnds[at], restEnds[at], this.sums);
    this.#at = at + 1;
  }

  #keepCopy(): void {
    const length = this.end - this.start;
    if (length > this.#copy.length) this.#copy = new Uint8Array(2 * length);
    copyRange(this.bytes, this.start, this.end, this.#copy, 0);
    this.bytes = this.#copy;
    this.start = 0;
    this.end = length;
  }
}

/** Which of some maps have the lowest key, as bits; 0 when all are done. */
export function lowestKeys(groups: readonly KeyGroups[]): number {
  let found = 0;
  let lowest: KeyGroups | undefined;
  for (let index = 0; index < groups.length; index++) {
    const group = groups[index];
    if (group.isDone) continue;
    const order =
      lowest === undefined
        ? -1
        : compareRanges(
            group.bytes,
            group.start,
            group.end,
            lowest.bytes,
            lowest.start,
            lowest.end,
          );
    if (order > 0) continue;
    if (order < 0) {
      found = 0;
      lowest = group;
    }
    found |= 1 << index;
  }
  return found;
}
