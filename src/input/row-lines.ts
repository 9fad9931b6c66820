import { TAB } from "../bytes/bytes.ts";
import type { CdxColumns } from "./cdx.ts";

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

  /** Adds what is no row, as a line that no parser of these columns takes for one. */
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
