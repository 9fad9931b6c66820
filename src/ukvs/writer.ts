import { copyRange, LF } from "../bytes/bytes.ts";
import { MementoMapError, quote } from "../errors.ts";
import { columnsEnd, formatRecord, LastKey, notSorted, type UkvsRecord } from "./record.ts";
import { headerText, type Fields, type UkvsHeaders } from "./header.ts";

/** Where bytes go. Each chunk is the sink's to keep. */
export interface ByteSink {
  write(chunk: Uint8Array): void | Promise<void>;
}

/** Where a map goes: what takes its headers can state its size in them when it has all rows. */
export interface MapSink extends ByteSink {
  writeHead(headers: UkvsHeaders): Promise<void>;
}

export interface WriteUkvsOptions {
  /** Whether to write the headers. Default true. */
  readonly writesHead?: boolean;
  /** The size of the blocks given to the sink. Default `DEFAULT_BLOCK_BYTES`. */
  readonly blockBytes?: number;
}

const DEFAULT_BLOCK_BYTES: number = 256 * 1024;

const ENCODER = new TextEncoder();

/**
 * Writes a file: its headers sorted, then the records given to it, in large blocks. Holds one
 * block. Flush it at the end.
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
   * @throws MementoMapError `MM_NOT_SORTED`, `MM_BAD_LINE` if key columns are missing.
   */
  writeLine(bytes: Uint8Array, start: number, end: number): void | Promise<void> {
    this.#checkOrder(bytes, start, end);
    const length = end - start + 1;
    if (this.#length + length > this.#block.length) {
      const flushed = this.flush();
      // The line is copied before waiting, so that the caller may use its bytes again.
      if (length > this.#block.length) this.#block = new Uint8Array(length);
      this.#append(bytes, start, end);
      return flushed;
    }
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
