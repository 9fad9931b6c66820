import { LF } from "../bytes/ascii.ts";
import { copyRange } from "../bytes/copy.ts";
import { MementoMapError, quote } from "../errors.ts";
import { columnsEnd } from "./columns.ts";
import { formatHeaders, type Fields, type UkvsHeaders } from "./header.ts";
import { KeyOrder, notSorted } from "./key-order.ts";
import { formatRecord, type UkvsRecord } from "./record.ts";

/** Where bytes go. Each chunk is the sink's to keep. */
export interface ByteSink {
  write(chunk: Uint8Array): void | Promise<void>;
}

export interface WriteUkvsOptions {
  /** The size of the blocks given to the sink. Default `DEFAULT_BLOCK_BYTES`. */
  readonly blockBytes?: number;
  /** Whether keys out of byte order are an error. Default true. */
  readonly checkOrder?: boolean;
}

export const DEFAULT_BLOCK_BYTES: number = 256 * 1024;

const ENCODER = new TextEncoder();

/**
 * Writes a file: its headers sorted, then the records given to it, in large blocks. Holds one
 * block. Flush it at the end.
 */
export class UkvsWriter {
  readonly #sink: ByteSink;
  readonly #fields: Fields;
  readonly #order: KeyOrder;
  readonly #checkOrder: boolean;
  readonly #blockBytes: number;
  #block: Uint8Array;
  #length = 0;

  /** @throws MementoMapError `MM_BAD_HEADER` or `MM_BAD_INPUT` for headers that cannot be written. */
  constructor(sink: ByteSink, headers: UkvsHeaders, options: WriteUkvsOptions = {}) {
    const { blockBytes = DEFAULT_BLOCK_BYTES, checkOrder = true } = options;
    this.#sink = sink;
    this.#fields = headers.fields;
    this.#order = new KeyOrder(headers.fields.keys.length);
    this.#checkOrder = checkOrder;
    this.#blockBytes = blockBytes;
    const head = ENCODER.encode(
      formatHeaders(headers)
        .map((line) => `${line}\n`)
        .join(""),
    );
    this.#block = new Uint8Array(Math.max(blockBytes, head.length));
    this.#block.set(head);
    this.#length = head.length;
  }

  /**
   * Writes a record. Await the result: it is a promise only when a block went to the sink.
   *
   * @throws MementoMapError as `formatRecord` and `writeLine`.
   */
  write(record: UkvsRecord): void | Promise<void> {
    const bytes = ENCODER.encode(formatRecord(record, this.#fields));
    return this.writeLine(bytes, 0, bytes.length);
  }

  /**
   * Writes the record that stands in `bytes` from `start` to `end`, without its line end, as it is:
   * beyond its keys it is not looked at. Await the result, as of `write`.
   *
   * @throws MementoMapError `MM_NOT_SORTED` unless `checkOrder` is false, `MM_BAD_LINE` if key
   *   columns are missing.
   */
  writeLine(bytes: Uint8Array, start: number, end: number): void | Promise<void> {
    if (this.#checkOrder) this.#check(bytes, start, end);
    const length = end - start + 1;
    if (this.#length + length > this.#block.length) return this.#writeAfterFlush(bytes, start, end);
    this.#append(bytes, start, end);
  }

  /** Gives the sink what is left. Await it after the last record. */
  async flush(): Promise<void> {
    if (this.#length === 0) return;
    const block = this.#block.subarray(0, this.#length);
    this.#block = new Uint8Array(this.#blockBytes);
    this.#length = 0;
    await this.#sink.write(block);
  }

  #append(bytes: Uint8Array, start: number, end: number): void {
    const at = copyRange(bytes, start, end, this.#block, this.#length);
    this.#block[at] = LF;
    this.#length = at + 1;
  }

  /** Copies the line before waiting, so that the caller may use its bytes again. */
  async #writeAfterFlush(bytes: Uint8Array, start: number, end: number): Promise<void> {
    const flushed = this.flush();
    const length = end - start + 1;
    if (length > this.#block.length) this.#block = new Uint8Array(length);
    this.#append(bytes, start, end);
    await flushed;
  }

  #check(bytes: Uint8Array, start: number, end: number): void {
    const tupleEnd = columnsEnd(bytes, start, end, this.#fields.keys.length);
    if (tupleEnd === -1) {
      const line = quote(textOf(bytes, start, end));
      throw new MementoMapError("MM_BAD_LINE", `key columns are missing: ${line}`);
    }
    if (this.#order.compareLast(bytes, start, tupleEnd) > 0) {
      throw notSorted(textOf(bytes, start, tupleEnd), this.#order.lastText(), undefined);
    }
    this.#order.remember(bytes, start, tupleEnd);
  }
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return new TextDecoder().decode(bytes.subarray(start, end));
}
