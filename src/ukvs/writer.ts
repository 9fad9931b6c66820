import { copyRange, LF } from "../bytes/bytes.ts";
import { MementoMapError, quote } from "../errors.ts";
import {
  columnsEnd,
  formatRecord,
  keyComparison,
  LastKey,
  notSorted,
  type UkvsRecord,
} from "./record.ts";
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
  /** Whether keys out of byte order are an error. Default true. */
  readonly checkOrder?: boolean;
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
  readonly #compareKeys: ReturnType<typeof keyComparison>;
  readonly #lastOfBlocks: LastKey;
  readonly #checkOrder: boolean;
  readonly #blockBytes: number;
  #block: Uint8Array;
  #length = 0;
  /** Where the last key stands in the block; 0 to 0 while the block holds none. */
  #lastStart = 0;
  #lastEnd = 0;

  /** @throws MementoMapError `MM_BAD_HEADER` or `MM_BAD_INPUT` for headers that cannot be written. */
  constructor(sink: ByteSink, headers: UkvsHeaders, options: WriteUkvsOptions = {}) {
    const { blockBytes = DEFAULT_BLOCK_BYTES, checkOrder = true, writesHead = true } = options;
    this.#sink = sink;
    this.#fields = headers.fields;
    this.#compareKeys = keyComparison(headers.fields.keys.length);
    this.#lastOfBlocks = new LastKey(headers.fields.keys.length);
    this.#checkOrder = checkOrder;
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
   * @throws MementoMapError `MM_NOT_SORTED` unless `checkOrder` is false, `MM_BAD_LINE` if key
   *   columns are missing.
   */
  writeLine(bytes: Uint8Array, start: number, end: number): void | Promise<void> {
    const tupleEnd = this.#checkOrder ? this.#checkedTupleEnd(bytes, start, end) : start;
    const length = end - start + 1;
    if (this.#length + length > this.#block.length) {
      const flushed = this.flush();
      // The line is copied before waiting, so that the caller may use its bytes again.
      if (length > this.#block.length) this.#block = new Uint8Array(length);
      this.#append(bytes, start, end, tupleEnd);
      return flushed;
    }
    this.#append(bytes, start, end, tupleEnd);
  }

  /** Gives the sink what is left. Await it after the last record. */
  async flush(): Promise<void> {
    if (this.#length === 0) return;
    if (this.#lastEnd > 0) {
      this.#lastOfBlocks.remember(this.#block, this.#lastStart, this.#lastEnd);
    }
    const block = this.#block.subarray(0, this.#length);
    this.#block = new Uint8Array(this.#blockBytes);
    this.#length = 0;
    this.#lastStart = 0;
    this.#lastEnd = 0;
    await this.#sink.write(block);
  }

  #append(bytes: Uint8Array, start: number, end: number, tupleEnd: number): void {
    const at = copyRange(bytes, start, end, this.#block, this.#length);
    this.#block[at] = LF;
    this.#lastStart = this.#length;
    this.#lastEnd = this.#length + (tupleEnd - start);
    this.#length = at + 1;
  }

  #checkedTupleEnd(bytes: Uint8Array, start: number, end: number): number {
    const tupleEnd = columnsEnd(bytes, start, end, this.#fields.keys.length);
    if (tupleEnd === -1) {
      const line = quote(textOf(bytes, start, end));
      throw new MementoMapError("MM_BAD_LINE", `key columns are missing: ${line}`);
    }
    const isInBlock = this.#lastEnd > 0;
    const order = isInBlock
      ? this.#compareKeys(this.#block, this.#lastStart, this.#lastEnd, bytes, start, tupleEnd)
      : this.#lastOfBlocks.compareTo(bytes, start, tupleEnd);
    if (order > 0) {
      const previous = isInBlock
        ? textOf(this.#block, this.#lastStart, this.#lastEnd)
        : this.#lastOfBlocks.text();
      throw notSorted(order, textOf(bytes, start, tupleEnd), previous);
    }
    return tupleEnd;
  }
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return new TextDecoder().decode(bytes.subarray(start, end));
}
