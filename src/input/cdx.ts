import { AT, BANG, SPACE } from "../bytes/bytes.ts";
import {
  type Capture,
  dateEnd,
  classifyRow,
  type LineReader,
  ROW,
  type RowKind,
} from "./capture.ts";

/** Column positions of a CDX file; -1 for missing columns. */
export interface CdxColumns {
  readonly delimiter: number;
  /** `N` or `A`: the massaged URL, usually a SURT. */
  readonly key: number;
  /** `b` */
  readonly date: number;
  /** `a` */
  readonly uri: number;
  /** `m` */
  readonly mime: number;
  /** `s` */
  readonly status: number;
}

const COLUMN_NAMES = ["key", "date", "uri", "mime", "status"] as const;

/** Reads a header line such as ` CDX N b a m s k r M S V g`; its first byte is the delimiter. */
export function parseCdxHeader(line: string): CdxColumns | undefined {
  const [delimiter = " "] = line;
  const [empty, magic, ...letters] = line.trimEnd().split(delimiter);
  if (empty !== "" || magic !== "CDX") return undefined;
  return columnsOf(letters, delimiter.charCodeAt(0));
}

/** Guesses the columns of a file without a header from one of its lines. */
export function guessCdxColumns(line: string): CdxColumns | undefined {
  const columns = line.trimEnd().split(" ");
  // CDX 7, 9, 10, 11 and 14 start with the same columns.
  if (columns.length >= 7 && isDate(columns[1])) {
    return columnsOf(["N", "b", "a", "m", "s"], SPACE);
  }
  // NetarchiveSuite's extraction from ARC files: URL, IP, date, MIME type, length, file, offset.
  if (columns.length >= 7 && isDate(columns[2])) return columnsOf(["a", "e", "b", "m"], SPACE);
  return undefined;
}

function isDate(text: string | undefined): boolean {
  return /^\d{14}(\d{3})?$/.test(text ?? "");
}

function columnsOf(letters: readonly string[], delimiter: number): CdxColumns {
  const massaged = letters.indexOf("N");
  return {
    delimiter,
    key: massaged === -1 ? letters.indexOf("A") : massaged,
    date: letters.indexOf("b"),
    uri: letters.indexOf("a"),
    mime: letters.indexOf("m"),
    status: letters.indexOf("s"),
  };
}

/** CDX: one capture per line, in the columns named by the header. */
export class CdxReader implements LineReader {
  readonly #columns: CdxColumns;
  readonly #lastColumn: number;

  constructor(columns: CdxColumns) {
    this.#columns = columns;
    const { key, date, uri, mime, status } = columns;
    this.#lastColumn = Math.max(key, date, uri, mime, status);
  }

  read(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
    const { delimiter, key, date, uri, mime, status } = this.#columns;
    const first = bytes[start];
    if (first === delimiter) return this.#checkHeader(bytes, start, end, capture);
    if ((first === BANG || first === AT) && delimiter === SPACE) return ROW.header;
    capture.reset();
    let at = start;
    for (let column = 0; column <= this.#lastColumn; column++) {
      if (at > end) return capture.reject(`expected at least ${this.#lastColumn + 1} columns`);
      let columnEnd = at;
      while (columnEnd < end && bytes[columnEnd] !== delimiter) columnEnd++;
      if (column === key) {
        capture.keyStart = at;
        capture.keyEnd = columnEnd;
      } else if (column === date) {
        capture.dateStart = at;
        capture.dateEnd = columnEnd;
      } else if (column === uri) {
        capture.uriStart = at;
        capture.uriEnd = columnEnd;
      } else if (column === mime) {
        capture.mimeStart = at;
        capture.mimeEnd = columnEnd;
      } else if (column === status) {
        capture.statusStart = at;
        capture.statusEnd = columnEnd;
      }
      at = columnEnd + 1;
    }
    if (date !== -1 && dateEnd(bytes, capture.dateStart, capture.dateEnd) !== capture.dateEnd) {
      return capture.reject("expected a datetime of 4 to 17 digits");
    }
    return classifyRow(bytes, capture);
  }

  /** Concatenated files repeat the header line, which must not change the columns. */
  #checkHeader(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
    const line = new TextDecoder("latin1").decode(bytes.subarray(start, end));
    if (line.trim() === "") return ROW.header;
    const header = parseCdxHeader(line);
    if (header === undefined) return capture.reject("expected a key, not the delimiter");
    const columns = this.#columns;
    // The position of unused columns does not matter.
    const isSame = COLUMN_NAMES.every(
      (name) => columns[name] === -1 || header[name] === columns[name],
    );
    return isSame
      ? ROW.header
      : capture.reject("this header changes the columns; split the file here");
  }
}
