import type { CurrentKey } from "../../ukvs/key-tree.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import { readUkvs, type UkvsReader } from "../../ukvs/reader.ts";
import { rowLayout } from "../../ukvs/row.ts";
import type { NamedChunks } from "../diff-maps.ts";
import { RowAdder, RowSums } from "../explore/row-sums.ts";
import { RowCursor } from "../row-cursor.ts";

/** The rows of a sorted map, with totals per key. */
export class KeyRows {
  readonly headers: UkvsHeaders;
  readonly rows: RowCursor;
  /** Totals of the key taken last. */
  readonly sums = new RowSums();
  readonly #adder: RowAdder;

  private constructor(reader: UkvsReader, name: string) {
    this.headers = reader.headers;
    this.#adder = new RowAdder(rowLayout(reader.headers.fields, name));
    this.rows = new RowCursor(reader.batches());
  }

  /**
   * Opens a map at its first row.
   *
   * @throws MM_BAD_INPUT when it is not a map, and read errors.
   */
  static async open({ name, chunks }: NamedChunks, signal?: AbortSignal): Promise<KeyRows> {
    const reader = await readUkvs(chunks, { source: name, signal });
    try {
      const map = new KeyRows(reader, name);
      await map.rows.advance();
      return map;
    } catch (error) {
      await reader.close();
      throw error;
    }
  }

  /** Whether the rows of the key state that nothing is held. */
  get isVoid(): boolean {
    const { voids, captures, atLeast } = this.sums;
    return voids > 0 && captures === 0 && atLeast === 0;
  }

  /** Adds up the rows of a key and moves to the next; returns a promise only if rows must be read. */
  takeKey(key: CurrentKey): Promise<void> | undefined {
    this.sums.clear();
    return this.#addRows(key);
  }

  #addRows(key: CurrentKey): Promise<void> | undefined {
    const { rows } = this;
    while (rows.compareKeyTo(key.bytes, 0, key.length) === 0) {
      this.#adder.add(rows.bytes, rows, this.sums);
      const waiting = rows.advance();
      if (waiting !== undefined) return waiting.then(() => this.#addRows(key));
    }
    return undefined;
  }
}
