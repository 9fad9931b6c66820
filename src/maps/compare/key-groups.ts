import { compareRanges, copyRange } from "../../bytes/bytes.ts";
import type { SignalOption } from "../../interruption.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import { readUkvs, type UkvsReader } from "../../ukvs/reader.ts";
import { RowAdder, RowSums } from "../explore/row-sums.ts";
import { rowLayout } from "../../ukvs/row.ts";
import type { NamedChunks } from "../diff-maps.ts";
import { RowCursor } from "../row-cursor.ts";

/** The keys of a sorted map one after the other, each with what its rows add up to. */
export class KeyGroups {
  /** The key is `bytes[0, end)`; it and `sums` are valid until the next key. */
  bytes: Uint8Array = new Uint8Array(1024);
  end = 0;
  readonly sums = new RowSums();
  isDone = false;
  readonly headers: UkvsHeaders;
  readonly #rows: RowCursor;
  readonly #adder: RowAdder;

  private constructor(reader: UkvsReader, name: string) {
    this.headers = reader.headers;
    this.#adder = new RowAdder(rowLayout(reader.headers.fields, name));
    this.#rows = new RowCursor(reader.batches());
  }

  /**
   * Opens a map, before its first key.
   *
   * @throws MM_BAD_INPUT when it is not a map, and what reading throws.
   */
  static async open({ name, chunks }: NamedChunks, { signal }: SignalOption): Promise<KeyGroups> {
    const reader = await readUkvs(chunks, { source: name, signal });
    try {
      const groups = new KeyGroups(reader, name);
      await groups.#rows.advance();
      return groups;
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
    const { isDone, bytes, start, keyEnd } = this.#rows;
    this.isDone = isDone;
    if (isDone) return undefined;
    this.end = keyEnd - start;
    if (this.end > this.bytes.length) this.bytes = new Uint8Array(2 * this.end);
    copyRange(bytes, start, keyEnd, this.bytes, 0);
    this.sums.clear();
    return this.#addRows();
  }

  /** Adds the rows of the key, also those of the following batches. */
  #addRows(): Promise<void> | undefined {
    const rows = this.#rows;
    while (rows.compareKeyTo(this.bytes, 0, this.end) === 0) {
      this.#adder.add(rows.bytes, rows, this.sums);
      const waiting = rows.advance();
      if (waiting !== undefined) return waiting.then(() => this.#addRows());
    }
    return undefined;
  }

  close(): Promise<void> {
    return this.#rows.close();
  }
}

/** Which of some maps have the lowest key, as bits; 0 when all are done. */
export function lowestKeys(groups: readonly KeyGroups[]): number {
  let found = 0;
  let lowest: KeyGroups | undefined;
  for (const [index, group] of groups.entries()) {
    if (group.isDone) continue;
    const order =
      lowest === undefined
        ? -1
        : compareRanges(group.bytes, 0, group.end, lowest.bytes, 0, lowest.end);
    if (order > 0) continue;
    if (order < 0) {
      found = 0;
      lowest = group;
    }
    found |= 1 << index;
  }
  return found;
}
