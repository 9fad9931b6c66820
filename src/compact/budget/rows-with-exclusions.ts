import { compareRanges } from "../../bytes/compare.ts";
import type { RowSink } from "../map-lines.ts";
import type { RowRange } from "../totals.ts";

/** Feeds rows of exclusions to a compactor, between the rows of a map; those it has stay its own. */
export class RowsWithExclusions implements RowSink {
  readonly #sink: RowSink;
  readonly #rows: readonly Uint8Array[];
  #next = 0;

  /** @param rows in byte order, each with its line end and a frequency of one digit. */
  constructor(sink: RowSink, rows: readonly Uint8Array[]) {
    this.#sink = sink;
    this.#rows = rows;
  }

  sharedBytes(view: DataView, start: number, end: number): number {
    return this.#sink.sharedBytes(view, start, end);
  }

  add(
    bytes: Uint8Array,
    lineStart: number,
    sharedBytes: number,
    keyEnd: number,
    lineEnd: number,
    row: RowRange,
  ): number {
    let shared = sharedBytes;
    for (; this.#next < this.#rows.length; this.#next++) {
      const own = this.#rows[this.#next];
      const order = compareRanges(own, 0, own.length - 3, bytes, lineStart, keyEnd);
      if (order > 0) break;
      if (order === 0) continue;
      this.#addOwn(own);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      shared = this.#sink.sharedBytes(view, lineStart, keyEnd);
    }
    return this.#sink.add(bytes, lineStart, shared, keyEnd, lineEnd, row);
  }

  rejectOrder(order: number, bytes: Uint8Array, start: number, keyEnd: number): never {
    return this.#sink.rejectOrder(order, bytes, start, keyEnd);
  }

  /** Feeds the exclusions behind the last row. */
  end(): void {
    for (; this.#next < this.#rows.length; this.#next++) this.#addOwn(this.#rows[this.#next]);
  }

  #addOwn(row: Uint8Array): void {
    const keyEnd = row.length - 3;
    const view = new DataView(row.buffer, row.byteOffset, row.byteLength);
    this.#sink.add(row, 0, this.#sink.sharedBytes(view, 0, keyEnd), keyEnd, row.length, {
      moreKeysStart: keyEnd,
      moreKeysEnd: keyEnd,
      frequencyStart: keyEnd + 1,
      frequencyEnd: keyEnd + 2,
    });
  }
}
