import { DELETE, OPEN_BRACE, QUOTE, SPACE, TAB } from "../bytes/ascii.ts";
import type { LineBatch } from "../bytes/lines.ts";
import { isPlainText } from "../bytes/plain-text.ts";
import { MementoMapError, quote } from "../errors.ts";
import { columnsEnd, isBlank, skipBlanks } from "./columns.ts";
import { isMap, startsHeader, type Fields } from "./header.ts";

/**
 * Records of a file, as offsets into `bytes`. Valid until the next batch is asked for.
 *
 * Record `i` is `bytes` from `keyStarts[i]` to `restEnds[i]`, blanks at its end left out.
 */
export interface RecordBatch {
  readonly bytes: Uint8Array;
  readonly count: number;
  /** The first key column: `keyStarts[i]` to `keyEnds[i]`. */
  readonly keyStarts: Uint32Array;
  readonly keyEnds: Uint32Array;
  /** The end of the last key column; with one key field, the same as `keyEnds`. */
  readonly tupleEnds: Uint32Array;
  /** The value columns and the JSON block: `restStarts[i]` to `restEnds[i]`. */
  readonly restStarts: Uint32Array;
  readonly restEnds: Uint32Array;
  /** The line of each record, counted from 1. */
  readonly lines: Float64Array;
}

const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const LENIENT_DECODER = new TextDecoder();

/**
 * Finds the columns of record lines, and refuses lines that are no text. Keeps the offsets of one
 * batch, in arrays that it uses again.
 */
export class RecordIndex {
  readonly #keyCount: number;
  readonly #hasValues: boolean;
  readonly #source: string;
  readonly #isMap: boolean;
  #arrays = allocate(1024);

  constructor(fields: Fields, source: string) {
    this.#keyCount = fields.keys.length;
    this.#hasValues = fields.values.length > 0;
    this.#source = source;
    this.#isMap = isMap(fields);
  }

  /**
   * The records on the lines of a batch from line `from` of it on, without blank lines.
   *
   * @throws MementoMapError `MM_BAD_LINE` for lines that are no text or lack columns,
   *   `MM_BAD_HEADER` for header lines.
   */
  records(lines: LineBatch, from: number): RecordBatch {
    if (lines.count > this.#arrays.lines.length) this.#arrays = allocate(lines.count * 2);
    const { bytes, starts, ends, firstLine } = lines;
    const arrays = this.#arrays;
    const { keyStarts, keyEnds, tupleEnds, restStarts, restEnds, lines: lineNumbers } = arrays;
    const simpleKeys = this.#keyCount === 1;
    const isPlain = from >= lines.count || isPlainText(bytes, starts[from], ends[lines.count - 1]);
    let count = 0;
    for (let i = from; i < lines.count; i++) {
      const start = starts[i];
      let end = ends[i];
      if (!isPlain) this.#checkText(bytes, start, end, firstLine + i);
      while (end > start && isBlank(bytes[end - 1])) end--;
      if (end === start) continue;
      let keyEnd = start;
      // Of the bytes up to the space, a line of text holds only blanks.
      while (keyEnd < end && bytes[keyEnd] > SPACE) keyEnd++;

      const first = bytes[start];
      if (startsHeader(first)) throw this.#lateHeader(bytes, start, end, firstLine + i);
      let tupleEnd = keyEnd;
      if (first === QUOTE && this.#isMap) throw this.#quotedKey(bytes, start, end, firstLine + i);
      if (first === QUOTE || !simpleKeys) {
        keyEnd = columnsEnd(bytes, start, end, 1);
        tupleEnd = columnsEnd(bytes, start, end, this.#keyCount);
      }
      const restStart = skipBlanks(bytes, tupleEnd, end);
      if (
        tupleEnd === -1 ||
        keyEnd === start ||
        first === OPEN_BRACE ||
        (this.#hasValues && restStart === end)
      ) {
        throw this.#missingColumns(bytes, start, end, firstLine + i);
      }
      keyStarts[count] = start;
      keyEnds[count] = keyEnd;
      tupleEnds[count] = tupleEnd;
      restStarts[count] = restStart;
      restEnds[count] = end;
      lineNumbers[count] = firstLine + i;
      count++;
    }
    return { bytes, count, ...arrays };
  }

  #checkText(bytes: Uint8Array, start: number, end: number, line: number): void {
    let isAscii = true;
    for (let at = start; at < end; at++) {
      const byte = bytes[at];
      if ((byte < SPACE && byte !== TAB) || byte === DELETE) {
        throw this.#looksBinary(bytes, start, end, line);
      }
      if (byte > DELETE) isAscii = false;
    }
    if (isAscii) return;
    try {
      DECODER.decode(bytes.subarray(start, end));
    } catch (error) {
      throw this.#looksBinary(bytes, start, end, line, error);
    }
  }

  #looksBinary(
    bytes: Uint8Array,
    start: number,
    end: number,
    line: number,
    cause?: unknown,
  ): MementoMapError {
    const fault = cause === undefined ? "it holds a control character" : "it is not UTF-8";
    return new MementoMapError(
      "MM_BAD_LINE",
      `the line looks binary: ${fault}: ${shown(bytes, start, end)}`,
      { position: { source: this.#source, line }, cause },
    );
  }

  #lateHeader(bytes: Uint8Array, start: number, end: number, line: number): MementoMapError {
    return new MementoMapError(
      "MM_BAD_HEADER",
      `header after the first record: ${shown(bytes, start, end)}; headers come first`,
      { position: { source: this.#source, line } },
    );
  }

  #quotedKey(bytes: Uint8Array, start: number, end: number, line: number): MementoMapError {
    return new MementoMapError(
      "MM_BAD_KEY",
      `the key is quoted, which keys of a map never are: ${shown(bytes, start, end)}`,
      { position: { source: this.#source, line } },
    );
  }

  #missingColumns(bytes: Uint8Array, start: number, end: number, line: number): MementoMapError {
    const fault = isBlank(bytes[start]) ? "the line begins with a blank" : "columns are missing";
    return new MementoMapError("MM_BAD_LINE", `${fault}: ${shown(bytes, start, end)}`, {
      position: { source: this.#source, line },
    });
  }
}

function shown(bytes: Uint8Array, start: number, end: number): string {
  return quote(LENIENT_DECODER.decode(bytes.subarray(start, Math.min(end, start + 512))));
}

type Arrays = Omit<RecordBatch, "bytes" | "count">;

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
