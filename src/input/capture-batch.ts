import { CR, LF, MINUS, TAB } from "../bytes/bytes.ts";
import { type Capture, isNothing, ROW, type RowKind } from "./capture.ts";
import { judgeColumns } from "./cdx.ts";

/**
 * What an input that has no lines of its own, such as a WARC file, says of a capture: empty where
 * it is unknown, undefined where the input never says it.
 */
export interface CaptureText {
  readonly key?: string | undefined;
  readonly uri?: string | undefined;
  readonly date?: string | undefined;
  readonly mime?: string | undefined;
  readonly status?: string | undefined;
}

/** Captures in columns, which can be sent to another thread; {@link readCapture} reads one. */
export interface CaptureBatch {
  readonly length: number;
  /** The text of all rows, as errors show it. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** {@link ROW_NUMBERS} of each row: its kind, its start and end, and those of each column. */
  readonly rows: Int32Array<ArrayBuffer>;
  /** How many captures each row stands for; one if it is undefined. */
  readonly counts: Float64Array<ArrayBuffer> | undefined;
}

const COLUMNS = 5;
const ROW_NUMBERS = 3 + 2 * COLUMNS;
const NONE = -1;
const FULL_BYTES = 1 << 16;
const FULL_ROWS = 1 << 12;
const encoder = new TextEncoder();

/** Gathers captures in batches of about 64 KiB; take one when it is full, before more is added. */
export class CaptureBatches {
  #bytes = new Uint8Array(2 * FULL_BYTES);
  #end = 0;
  readonly #rows = new Int32Array(FULL_ROWS * ROW_NUMBERS);
  #length = 0;
  #counts: Float64Array<ArrayBuffer> | undefined;

  add({ key, date, uri, mime, status }: CaptureText): void {
    const row = this.#startRow(ROW.capture);
    this.#addColumn(row, 0, key);
    this.#addColumn(row, 1, date);
    this.#addColumn(row, 2, uri);
    this.#addColumn(row, 3, mime);
    this.#addColumn(row, 4, status);
    this.#rows[row + 2] = --this.#end; // without the last TAB
  }

  /** Adds a URI of which this many captures are known. */
  addCounted(uri: string, count: number): void {
    this.#counts ??= new Float64Array(FULL_ROWS).fill(1);
    const row = this.#startRow(ROW.capture);
    this.#counts[this.#length - 1] = count;
    this.#addColumn(row, 2, uri);
    this.#write(String(count));
    this.#rows[row + 2] = this.#end;
  }

  /** Adds something else: a row that is blank, bad or proves nothing. */
  addOther(kind: RowKind, text: string = ""): void {
    const row = this.#startRow(kind);
    this.#write(text);
    this.#rows[row + 2] = this.#end;
  }

  /** Whether a batch is ready to be taken. */
  get isFull(): boolean {
    return this.#end >= FULL_BYTES || this.#length >= FULL_ROWS;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Takes all captures gathered so far. */
  take(): CaptureBatch {
    const batch = {
      length: this.#length,
      bytes: this.#bytes.slice(0, this.#end),
      rows: this.#rows.slice(0, this.#length * ROW_NUMBERS),
      counts: this.#counts?.slice(0, this.#length),
    };
    this.#end = this.#length = 0;
    this.#counts = undefined;
    return batch;
  }

  #startRow(kind: RowKind): number {
    const row = this.#length++ * ROW_NUMBERS;
    this.#rows.fill(NONE, row + 3, row + ROW_NUMBERS);
    this.#rows[row] = kind;
    this.#rows[row + 1] = this.#end;
    return row;
  }

  #addColumn(row: number, column: number, text: string | undefined): void {
    this.#reserve(2);
    if (text !== undefined) this.#rows[row + 3 + 2 * column] = this.#end;
    if (text === undefined || text === "") this.#bytes[this.#end++] = MINUS;
    else this.#write(text);
    if (text !== undefined) this.#rows[row + 4 + 2 * column] = this.#end;
    this.#reserve(1);
    this.#bytes[this.#end++] = TAB;
  }

  /** Writes a text; what would look like the end of a column or line is percent-encoded. */
  #write(text: string): void {
    this.#reserve(text.length);
    const bytes = this.#bytes;
    let end = this.#end;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 0x80 || code === TAB || code === LF || code === CR) {
        this.#writeEncoded(text);
        return;
      }
      bytes[end++] = code;
    }
    this.#end = end;
  }

  #writeEncoded(text: string): void {
    const encoded = encoder.encode(text.replaceAll(/[\t\n\r]/g, encodeURIComponent));
    this.#reserve(encoded.length);
    this.#bytes.set(encoded, this.#end);
    this.#end += encoded.length;
  }

  #reserve(length: number): void {
    if (this.#end + length <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * (this.#end + length));
    larger.set(this.#bytes.subarray(0, this.#end));
    this.#bytes = larger;
  }
}

/**
 * Fills `capture` from row `i` of a batch.
 *
 * @param keyedByUri make keys of the URIs; the key column is used only where there is none.
 */
export function readCapture(
  { bytes, rows, counts }: CaptureBatch,
  i: number,
  capture: Capture,
  keyedByUri: boolean,
): RowKind {
  const row = i * ROW_NUMBERS;
  const kind = rows[row] as RowKind; // what CaptureBatches has put there
  capture.reset();
  if (kind === ROW.bad) {
    return capture.reject("expected a capture, with a URI or its key and a datetime");
  }
  if (kind !== ROW.capture) return kind;
  capture.keyStart = rows[row + 3];
  capture.keyEnd = rows[row + 4];
  capture.dateStart = rows[row + 5];
  capture.dateEnd = rows[row + 6];
  capture.uriStart = rows[row + 7];
  capture.uriEnd = rows[row + 8];
  capture.mimeStart = rows[row + 9];
  capture.mimeEnd = rows[row + 10];
  capture.statusStart = rows[row + 11];
  capture.statusEnd = rows[row + 12];
  if (counts !== undefined) capture.count = counts[i];
  if (keyedByUri && !isNothing(bytes, capture.uriStart, capture.uriEnd)) {
    capture.keyStart = capture.keyEnd = NONE;
  }
  return judgeColumns(bytes, capture);
}

/** Where the text of row `i` of a batch begins. */
export function rowStart({ rows }: CaptureBatch, i: number): number {
  return rows[i * ROW_NUMBERS + 1];
}

/** Where the text of row `i` of a batch ends. */
export function rowEnd({ rows }: CaptureBatch, i: number): number {
  return rows[i * ROW_NUMBERS + 2];
}
