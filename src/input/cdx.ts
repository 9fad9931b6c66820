import { AT, BANG, MINUS, SPACE, TAB } from "../bytes/bytes.ts";
import {
  type Capture,
  dateEnd,
  isNonWeb,
  looksLikeSurt,
  ROW,
  type RowKind,
  type RowParser,
} from "./capture.ts";

/** Where the columns of a CDX file are; -1 for those it does not have. */
export interface CdxColumns {
  readonly delimiter: number;
  /** `N` or `A`: the massaged URL, mostly a SURT. */
  readonly key: number;
  /** The same where keys are made from URIs; looked at in rows that have none. */
  readonly spareKey?: number | undefined;
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

/** Guesses the columns of a file without header from one of its lines. */
export function guessCdxColumns(line: string): CdxColumns | undefined {
  const columns = line.trimEnd().split(" ");
  // CDX 7, 9, 10, 11 and 14 begin alike.
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

/**
 * CDX: one capture a line, columns as the header names them.
 *
 * The key column counts as a SURT if it has a `)`. Older files hold a plain host and path there;
 * then the row is keyed by its original URI.
 */
export class CdxParser implements RowParser {
  readonly leadsWithKey: boolean;
  readonly #columns: CdxColumns;
  readonly #lastColumn: number;
  #spareStart = -1;
  #spareEnd = -1;

  constructor(columns: CdxColumns) {
    this.#columns = columns;
    this.leadsWithKey = columns.key === 0;
    const { key, date, uri, mime, status } = columns;
    this.#lastColumn = Math.max(key, date, uri, mime, status);
  }

  parse(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
    const { delimiter, key, spareKey, date, uri, mime, status } = this.#columns;
    const first = bytes[start];
    if (first === delimiter) return this.#checkHeader(bytes, start, end, capture);
    // Rows made of something else are separated by TAB and have no such lines.
    if ((first === BANG || first === AT) && delimiter === SPACE) return ROW.header;
    capture.reset();
    let at = start;
    for (let column = 0; column <= this.#lastColumn; column++) {
      if (at > end) return capture.reject(this.#tooFew());
      let columnEnd = column === 0 ? at + capture.knownKeyBytes : at;
      while (columnEnd < end && bytes[columnEnd] !== delimiter) columnEnd++;
      if (column === key) {
        capture.keyStart = at;
        capture.keyEnd = columnEnd;
      } else if (column === spareKey) {
        this.#spareStart = at;
        this.#spareEnd = columnEnd;
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
    return this.#check(bytes, capture);
  }

  /** Rows that are separated by TAB were mostly made of something that has no columns. */
  #tooFew(): string {
    return this.#columns.delimiter === TAB
      ? "expected a capture, with a URI or its key and a datetime"
      : `expected at least ${this.#lastColumn + 1} columns`;
  }

  /** A header line may come again, where files were joined, but must not change the columns. */
  #checkHeader(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
    const line = new TextDecoder("latin1").decode(bytes.subarray(start, end));
    if (line.trim() === "") return ROW.header;
    const header = parseCdxHeader(line);
    if (header === undefined) return capture.reject("expected a key, not the delimiter");
    const columns = this.#columns;
    // A column that is not looked at may be anywhere.
    const isSame = COLUMN_NAMES.every(
      (name) => columns[name] === -1 || header[name] === columns[name],
    );
    return isSame
      ? ROW.header
      : capture.reject("the columns change here; read such files one by one");
  }

  #check(bytes: Uint8Array, capture: Capture): RowKind {
    if (this.#spareStart !== -1 && isNothing(bytes, capture.uriStart, capture.uriEnd)) {
      capture.keyStart = this.#spareStart;
      capture.keyEnd = this.#spareEnd;
    }
    const { keyStart, keyEnd, dateStart, uriStart, uriEnd } = capture;
    if (dateStart !== -1 && dateEnd(bytes, dateStart, capture.dateEnd) !== capture.dateEnd) {
      return capture.reject("expected a datetime of 4 to 17 digits");
    }
    if (isNothing(bytes, keyStart, keyEnd) && isNothing(bytes, uriStart, uriEnd)) return ROW.nonWeb;
    if (uriStart !== -1 && isNonWeb(bytes, uriStart, uriEnd)) return ROW.nonWeb;
    if (keyStart !== -1 && isNonWeb(bytes, keyStart, keyEnd)) return ROW.nonWeb;
    if (keyStart !== -1) this.#examineKey(bytes, capture);
    return ROW.capture;
  }

  /** Keys the row by its original URI where the key column holds no SURT. */
  #examineKey(bytes: Uint8Array, capture: Capture): void {
    if (looksLikeSurt(bytes, capture.keyStart, capture.keyEnd)) return;
    if (isNothing(bytes, capture.uriStart, capture.uriEnd)) {
      capture.uriStart = capture.keyStart;
      capture.uriEnd = capture.keyEnd;
    }
    capture.keyStart = capture.keyEnd = -1;
  }
}

/** An absent column, or the `-` that stands for no value. */
export function isNothing(bytes: Uint8Array, start: number, end: number): boolean {
  return start === -1 || end === start || (end - start === 1 && bytes[start] === MINUS);
}

/**
 * The columns of rows made from inputs that have no lines of their own, such as WARC files: key,
 * datetime, URI, MIME type and status, with `-` for none.
 */
export const ROW_LINE_COLUMNS: CdxColumns = {
  delimiter: TAB,
  key: 0,
  date: 1,
  uri: 2,
  mime: 3,
  status: 4,
};

/** What is known of a capture, as text; an empty text stands for none. */
export interface RowText {
  readonly key?: string | undefined;
  readonly uri: string;
  readonly date: string;
  readonly mime?: string | undefined;
  readonly status?: string | undefined;
}

const FLUSH_CHARACTERS = 1 << 16;

/** Gathers rows as lines of {@link ROW_LINE_COLUMNS}, in blocks of about 64 KiB. */
export class RowLines {
  readonly #encoder = new TextEncoder();
  #text = "";

  add({ key, uri, date, mime, status }: RowText): void {
    this.#text += `${column(key)}\t${column(date)}\t${column(uri)}\t${column(mime)}\t${column(status)}\n`;
  }

  /** Adds something else as a line that parsers of these columns reject. */
  addOther(text: string): void {
    this.#text += `${text === "" ? "" : column(text)}\n`;
  }

  /** Whether a block is ready to be taken. */
  get isFull(): boolean {
    return this.#text.length >= FLUSH_CHARACTERS;
  }

  get isEmpty(): boolean {
    return this.#text === "";
  }

  /** Takes all lines gathered so far. */
  take(): Uint8Array {
    const block = this.#encoder.encode(this.#text);
    this.#text = "";
    return block;
  }
}

/** A line has one row and a TAB ends a column, whatever a URI holds. */
function column(text: string | undefined): string {
  if (text === undefined || text === "") return "-";
  return /[\t\n\r]/.test(text) ? text.replaceAll(/[\t\n\r]/g, encodeURIComponent) : text;
}
