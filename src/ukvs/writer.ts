import { copyRange, LF } from "../bytes/bytes.ts";
import { MementoMapError, quote } from "../errors.ts";
import { columnsEnd, formatRecord, LastKey, notSorted, type UkvsRecord } from "./record.ts";
import { headerText, type Fields, type UkvsHeaders } from "./header.ts";

/** A destination for bytes. The sink owns each chunk. */
export interface ByteSink {
  write(chunk: Uint8Array): void | Promise<void>;
}

/** A destination for a map. It receives the headers separately, to fill in `!size` after the last row. */
export interface MapSink extends ByteSink {
  writeHead(headers: UkvsHeaders): Promise<void>;
}

export interface WriteUkvsOptions {
  /** Whether to write the headers. Default true. */
  readonly writesHead?: boolean;
  /** The size of the blocks passed to the sink. Default `DEFAULT_BLOCK_BYTES`. */
  readonly blockBytes?: number;
}

const DEFAULT_BLOCK_BYTES: number = 256 * 1024;

const ENCODER = new TextEncoder();

/**
 * Writes a file in large blocks: sorted headers, then the records. Holds one block. Call `flush` at the end.
 *
 * @example
 * ```ts
 * import { UkvsHeaders, UkvsWriter } from "mementomap";
 *
 * let text = "";
 * const sink = { write: (block: Uint8Array) => void (text += new TextDecoder().decode(block)) };
 * const writer = new UkvsWriter(sink, new UkvsHeaders([]));
 * await writer.write({ keys: ["com,example)/"], values: ["12"] });
 * await writer.flush();
 * console.log(text);
 * ```
 * ```
 * com,example)/ 12
 *
 * ```
 */
export class UkvsWriter {
  readonly #sink: ByteSink;
  readonly #fields: Fields;
  readonly #last: LastKey;
  readonly #blockBytes: number;
  #block: Uint8Array;
  #length = 0;

  /** @throws MementoMapError `MM_BAD_HEADER` or `MM_BAD_INPUT` for headers that cannot be written. */
  constructor(sink: ByteSink, headers: UkvsHeaders, options: WriteUkvsOptions = {}) {
    const { blockBytes = DEFAULT_BLOCK_BYTES, writesHead = true } = options;
    this.#sink = sink;
    this.#fields = headers.fields;
    this.#last = new LastKey(headers.fields.keys.length);
    this.#blockBytes = blockBytes;
    const head = writesHead ? headerText(headers) : new Uint8Array(0);
    this.#block = new Uint8Array(Math.max(blockBytes, head.length));
    this.#block.set(head);
    this.#length = head.length;
  }

  /**
   * Writes a record. Await the result; it is a promise only if a block was passed to the sink.
   *
   * @throws MementoMapError like `formatRecord` and `writeLine`.
   */
  write(record: UkvsRecord): void | Promise<void> {
    const bytes = ENCODER.encode(formatRecord(record, this.#fields));
    return this.writeLine(bytes, 0, bytes.length);
  }

  /**
   * Writes the record in `bytes[start, end)`, which has no line end, unchanged; only its keys are checked. Await
   * the result,
   * as for `write`.
   *
   * @throws MementoMapError `MM_NOT_SORTED`, `MM_BAD_LINE` if key columns are missing.
   */
  writeLine(bytes: Uint8Array, start: number, end: number): void | Promise<void> {
    this.#checkOrder(bytes, start, end);
    const length = end - start + 1;
    if (this.#length + length > this.#block.length) {
      const flushed = this.flush();
      // The line is copied before waiting, so that the caller may reuse its bytes.
      if (length > this.#block.length) this.#block = new Uint8Array(length);
      this.#append(bytes, start, end);
      return flushed;
    }
    this.#append(bytes, start, end);
  }

  /** Passes the rest to the sink. Await it after the last record. */
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

  #checkOrder(bytes: Uint8Array, start: number, end: number): void {
    const tupleEnd = columnsEnd(bytes, start, end, this.#fields.keys.length);
    if (tupleEnd === -1) {
      const line = quote(textOf(bytes, start, end));
      throw new MementoMapError("MM_BAD_LINE", `key columns are missing: ${line}`);
    }
    const order = this.#last.compareTo(bytes, start, tupleEnd);
    if (order > 0) throw notSorted(order, textOf(bytes, start, tupleEnd), this.#last.text());
    this.#last.remember(bytes, start, tupleEnd);
  }
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return new TextDecoder().decode(bytes.subarray(start, end));
}
