import { compareWithin, markLength } from "../bytes/bytes.ts";
import { type LineBatch, lineBatches, type LineOptions } from "../bytes/lines.ts";
import { isMementoMapError, located, MementoMapError } from "../errors.ts";
import { compareColumns, LastKey, notSorted, parseRecord, type UkvsRecord } from "./record.ts";
import { HeadReader } from "./head.ts";
import { checkSize, isMap, type UkvsHeaders } from "./header.ts";
import { readRow, Row } from "./row.ts";
import { interruptibleChunks } from "../interruption.ts";

/**
 * Records of a file, as offsets into `bytes`. Valid until the next batch is read.
 *
 * Record `i` is `bytes` from `keyStarts[i]` to `restEnds[i]`, without trailing blanks.
 */
export interface RecordBatch {
  readonly bytes: Uint8Array;
  /** The offset of `bytes` in the file. */
  readonly offset: number;
  readonly count: number;
  /** The first key column: `keyStarts[i]` to `keyEnds[i]`. */
  readonly keyStarts: Uint32Array;
  readonly keyEnds: Uint32Array;
  /** The end of the last key column; with one key field, the same as `keyEnds`. */
  readonly tupleEnds: Uint32Array;
  /** The value columns and the JSON block: `restStarts[i]` to `restEnds[i]`. */
  readonly restStarts: Uint32Array;
  readonly restEnds: Uint32Array;
  /** The line number of each record, starting at 1. */
  readonly lines: Float64Array;
}

type Arrays = Omit<RecordBatch, "bytes" | "offset" | "count">;

function allocate(length: number): Arrays {
  return {
    keyStarts: new Uint32Array(length),
    keyEnds: new Uint32Array(length),
    tupleEnds: new Uint32Array(length),
    restStarts: new Uint32Array(length),
    restEnds: new Uint32Array(length),
    lines: new Float64Array(length),
  };
}

export interface ReadUkvsOptions extends LineOptions {
  /** Whether unsorted keys and, in a MementoMap, duplicate keys are an error. Default true. */
  readonly checkOrder?: boolean;
  /** Whether to reject a file whose size differs from its `!size`. Default true. */
  readonly checkSize?: boolean | undefined;
  /** Aborts reading with MM_INTERRUPTED. */
  readonly signal?: AbortSignal | undefined;
}

const STRICT_DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Opens a file and reads its headers. The records can be read once, with `batches()` or `records()`. Holds one
 * chunk. Close
 * the reader if neither is called.
 *
 * @throws MementoMapError `MM_BAD_HEADER`, `MM_BAD_LINE` if the input is not text, `MM_BAD_INPUT` if
 *   it is a web page, an index or a WARC file, `MM_LIMIT` for a line longer than `maxLineBytes`.
 *
 * @example
 * ```ts
 * import { readUkvs } from "mementomap";
 *
 * const list = `!fields {keys: ["surt", "datetime"], values: ["access"]}
 * com,a)/* 2014 deny {"by": "court"}
 * `;
 * const reader = await readUkvs([new TextEncoder().encode(list)], { source: "access.ukvs" });
 * for await (const { keys, values, json } of reader.records()) console.log(keys, values, json);
 * ```
 * ```
 * [ 'com,a)/*', '2014' ] [ 'deny' ] { by: 'court' }
 * ```
 */
export async function readUkvs(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: ReadUkvsOptions = {},
): Promise<UkvsReader> {
  const lines = lineBatches(interruptibleChunks(chunks, options.signal), options);
  const head = new HeadReader(options.source ?? "input");
  let end = 0;
  try {
    for (;;) {
      const { value: batch, done } = await lines.next();
      if (batch !== undefined) end = batch.offset + batch.bytes.length;
      let from = 0;
      for (; batch !== undefined && from < batch.count; from++) {
        const { bytes, offset, starts, ends, count, firstLine } = batch;
        if (firstLine + from === 1) starts[from] += markLength(bytes.subarray(starts[from]));
        const next = from + 1 < count ? offset + starts[from + 1] : end;
        if (!head.take(bytes, starts[from], ends[from], next)) break;
      }
      if (done !== true && from === batch.count) continue;
      const { headers, bodyOffset } = head.headers();
      const pending = done === true ? undefined : { batch, from };
      return new UkvsReader(headers, { lines, bodyOffset, end, pending }, options);
    }
  } catch (error) {
    await lines.return();
    throw error;
  }
}

/** The lines of a batch after the headers, starting at `from`. */
interface PendingLines {
  readonly batch: LineBatch;
  readonly from: number;
}

/** The rest of an input after the bytes before `end` were read; its records begin at `bodyOffset`. */
interface RestOfInput {
  readonly lines: AsyncGenerator<LineBatch, void, undefined>;
  readonly bodyOffset: number;
  readonly end: number;
  readonly pending: PendingLines | undefined;
}

/** A file whose headers have been read. Created by `readUkvs`. */
export class UkvsReader {
  readonly headers: UkvsHeaders;
  readonly #rest: RestOfInput;
  readonly #options: ReadUkvsOptions;
  readonly #source: string;
  readonly #row = new Row();
  /** The offsets of one batch, which are reused. */
  #arrays = allocate(1024);
  #isRead = false;

  constructor(headers: UkvsHeaders, rest: RestOfInput, options: ReadUkvsOptions) {
    this.headers = headers;
    this.#rest = rest;
    this.#options = options;
    this.#source = options.source ?? "input";
  }

  /**
   * The records as byte offsets, for hot loops. Value columns and JSON blocks are not parsed.
   *
   * For an invalid record, the error is thrown before its batch is returned.
   *
   * @throws MementoMapError `MM_BAD_LINE`, `MM_BAD_HEADER` for a header after the first record,
   * `MM_NOT_SORTED` unless `checkOrder` is false, `MM_LIMIT`; `MM_CUT` at the end if the file size differs from
   * its `!size`; `MM_USAGE` if read before.
   */
  async *batches(): AsyncGenerator<RecordBatch, void, undefined> {
    if (this.#isRead) {
      throw new MementoMapError("MM_USAGE", "the records were already read; open the input again");
    }
    this.#isRead = true;
    let { end } = this.#rest;
    const last = new LastKey(this.headers.fields.keys.length);
    let count = 0;
    try {
      for await (const { batch, from } of this.#recordLines()) {
        end = batch.offset + batch.bytes.length;
        const records = this.#records(batch, from);
        if (records.count === 0) continue;
        if (this.#options.checkOrder !== false) this.#checkOrder(records, last);
        count += records.count;
        yield records;
      }
      if (this.#options.checkSize !== false) {
        const found = { bytes: end - this.#rest.bodyOffset, records: count };
        checkSize(this.headers.size, found, this.#source);
      }
    } finally {
      await this.close();
    }
  }

  /**
   * The records, parsed one by one: convenient, but many times slower than `batches()`.
   *
   * @throws MementoMapError like `batches()` and `parseRecord`, with the position.
   */
  async *records(): AsyncGenerator<UkvsRecord, void, undefined> {
    const { fields } = this.headers;
    for await (const batch of this.batches()) {
      for (let i = 0; i < batch.count; i++) {
        const text = textOf(batch, batch.keyStarts[i], batch.restEnds[i]);
        const position = { source: this.#source, line: batch.lines[i] };
        yield located(position, () => parseRecord(text, fields));
      }
    }
  }

  /** Releases the input, as does reading to the end or leaving the loop. */
  async close(): Promise<void> {
    this.#isRead = true;
    await this.#rest.lines.return();
  }

  async *#recordLines(): AsyncGenerator<PendingLines, void, undefined> {
    const { pending, lines } = this.#rest;
    if (pending !== undefined) yield pending;
    for await (const batch of lines) yield { batch, from: 0 };
  }

  /**
   * The records of a batch, starting at its line `from`, without blank lines.
   *
   * @throws like `readRow`, with the position.
   */
  #records(lines: LineBatch, from: number): RecordBatch {
    if (lines.count > this.#arrays.lines.length) this.#arrays = allocate(lines.count * 2);
    const { bytes, offset, starts, ends, firstLine } = lines;
    const arrays = this.#arrays;
    const { keyStarts, keyEnds, tupleEnds, restStarts, restEnds, lines: lineNumbers } = arrays;
    const { fields } = this.headers;
    const row = this.#row;
    let count = 0;
    let i = from;
    try {
      for (; i < lines.count; i++) {
        if (!readRow(bytes, starts[i], ends[i], fields, row)) continue;
        keyStarts[count] = row.start;
        keyEnds[count] = row.keyEnd;
        tupleEnds[count] = row.tupleEnd;
        restStarts[count] = row.restStart;
        restEnds[count] = row.end;
        lineNumbers[count] = firstLine + i;
        count++;
      }
    } catch (error) {
      throw isMementoMapError(error)
        ? error.at({ source: this.#source, line: firstLine + i })
        : error;
    }
    return { bytes, offset, count, ...arrays };
  }

  #checkOrder(records: RecordBatch, last: LastKey): void {
    const mayRepeat = !isMap(this.headers.fields);
    const { bytes, count, keyStarts, tupleEnds } = records;
    const keyCount = this.headers.fields.keys.length;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let previousStart = 0;
    let previousEnd = 0;
    for (let i = 0; i < count; i++) {
      const start = keyStarts[i];
      const end = tupleEnds[i];
      const order =
        i === 0
          ? last.compareTo(bytes, start, end)
          : keyCount === 1
            ? compareWithin(view, previousStart, previousEnd, start, end)
            : compareColumns(bytes, previousStart, previousEnd, bytes, start, end);
      if (order > 0 || (order === 0 && !mayRepeat)) {
        const previous = i === 0 ? last.text() : textOf(records, previousStart, previousEnd);
        const position = { source: this.#source, line: records.lines[i] };
        throw notSorted(order, textOf(records, start, end), previous, position);
      }
      previousStart = start;
      previousEnd = end;
    }
    last.remember(bytes, previousStart, previousEnd);
  }
}

function textOf(batch: RecordBatch, start: number, end: number): string {
  return STRICT_DECODER.decode(batch.bytes.subarray(start, end));
}
