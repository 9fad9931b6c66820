import type { JsonLayout } from "./json-layout.ts";

/** What a line of an index turned out to be. */
export const ROW = {
  /** A capture: count it. */
  capture: 0,
  /** A header or comment line of the format. */
  header: 1,
  /** A record of something that is no web page: `dns:`, `warcinfo:`, `filedesc:`, `metadata:`. */
  nonWeb: 2,
  /** Not a line of this format; `Capture.fault` says why. */
  bad: 3,
  /** A line that shows nothing about what the archive holds, such as a failed request of a log. */
  unproven: 4,
} as const;

export type RowKind = (typeof ROW)[keyof typeof ROW];

/**
 * One row of an index, as byte ranges of the line it was read from.
 *
 * Every input format fills the same capture. A range that the format does not have, or that nobody
 * asked for, starts at -1. One object is reused for all rows.
 */
export class Capture {
  /** Bytes at the start of the line that are known to belong to the key column; set by the reader. */
  knownKeyBytes = 0;
  /** The SURT column. */
  keyStart = -1;
  keyEnd = -1;
  /** The original URI; looked at where there is no SURT column, and by filters. */
  uriStart = -1;
  uriEnd = -1;
  /** Digits, YYYYMMDDhhmmss or a prefix of it. */
  dateStart = -1;
  dateEnd = -1;
  /** Whether this is only the datetime that was asked for; the nearest capture may be of another. */
  isDateAsked = false;
  statusStart = -1;
  statusEnd = -1;
  mimeStart = -1;
  mimeEnd = -1;
  /** Whether what stands for the URI is a SURT in another dialect than ours. */
  isForeignSurt = false;
  /** Whether URI, status or MIME type may hold JSON escapes, such as `text\/html`. */
  hasEscapes = false;
  /** How many captures the row stands for. Parsers of formats without counts leave it alone. */
  count = 1;
  /** Whether there may be more captures than the row says. */
  isSample = false;
  /** Why a row is bad. */
  fault = "";

  reset(): void {
    this.keyStart = this.keyEnd = -1;
    this.uriStart = this.uriEnd = -1;
    this.dateStart = this.dateEnd = -1;
    this.statusStart = this.statusEnd = -1;
    this.mimeStart = this.mimeEnd = -1;
    this.isForeignSurt = false;
    this.hasEscapes = false;
    this.count = 1;
    this.isSample = false;
    this.isDateAsked = false;
    this.fault = "";
  }

  /** Marks the row as bad. */
  reject(fault: string): RowKind {
    this.fault = fault;
    return ROW.bad;
  }
}

/** Reads the lines of one index format. */
export interface RowParser {
  /** Whether lines begin with a key column. */
  readonly leadsWithKey: boolean;
  /** How the JSON block of the row parsed last was laid out, if it was opened and is regular. */
  readonly layout?: JsonLayout | undefined;
  /** Fills `capture` from the line `bytes[start, end)`, without its terminator; never empty. */
  parse(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind;
  /**
   * Whether a line is a capture, told from what is behind its key column, `bytes[keyEnd, end)`.
   *
   * Asked of lines whose key column is that of the last capture, where nobody needs anything else;
   * false if only `parse` can tell. Not all formats have such a short cut.
   */
  repeats?(bytes: Uint8Array, keyEnd: number, end: number): boolean;
}

/** Which parts of a row the caller needs besides key and date. */
export interface RowNeeds {
  readonly uri: boolean;
  readonly status: boolean;
  readonly mime: boolean;
}
