import { uriOfSurt } from "../surt/foreign-surt.ts";
import { surtBytes } from "../surt/uri-to-surt.ts";
import { unescapedBytes } from "../bytes/json-members.ts";
import {
  byteString,
  CLOSE_PAREN,
  COLON,
  isDigit,
  MINUS,
  QUESTION,
  SLASH,
  standsAt,
} from "../bytes/bytes.ts";

/** Kinds of index lines. */
export const ROW = {
  /** A capture: count it. */
  capture: 0,
  /** A header or comment line of the format. */
  header: 1,
  /** A record other than a web page: `dns:`, `warcinfo:`, `filedesc:`, `metadata:`. */
  nonWeb: 2,
  /** Not a line of this format; `Capture.fault` says why. */
  bad: 3,
  /** A line that is no evidence of a capture, such as a failed request in a log. */
  unproven: 4,
  /** An empty line. */
  blank: 5,
} as const;

export type RowKind = (typeof ROW)[keyof typeof ROW];

/**
 * One row of an index, as byte ranges of its line.
 *
 * All input formats use it. Missing ranges start at -1. One object is reused for all rows.
 */
export class Capture {
  /** The original URI, from which the key is derived. */
  uriStart = -1;
  uriEnd = -1;
  /** The key column, a SURT; used only where the row has no URI. */
  keyStart = -1;
  keyEnd = -1;
  /** Digits: YYYYMMDDhhmmss or a prefix of it. */
  dateStart = -1;
  dateEnd = -1;
  /** Whether this is only the requested datetime; that of the nearest capture may differ. */
  isRequestedDate = false;
  statusStart = -1;
  statusEnd = -1;
  mimeStart = -1;
  mimeEnd = -1;
  /** Whether the URI range holds a SURT in a foreign dialect. */
  isForeignSurt = false;
  /** Whether URI, status or MIME type may contain JSON escapes, such as `text\/html`. */
  hasEscapes = false;
  /** Number of captures in the row. Parsers of formats without counts do not set it. */
  count = 1;
  /** Whether there may be more captures than the row states. */
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
    this.isRequestedDate = false;
    this.fault = "";
  }

  /** Marks the row as bad. */
  reject(fault: string): RowKind {
    this.fault = fault;
    return ROW.bad;
  }
}

/** Reads the lines of one index format. */
export interface LineReader {
  /** Sets the bytes whose lines are read next, in order. */
  take?(bytes: Uint8Array): void;
  /** Fills `capture` from the line `bytes[start, end)`, without its terminator; never empty. */
  read(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind;
}

/** Upper bound on the length of a percent-encoded SURT relative to its URI. */
const SURT_GROWTH = 3;

/** Derives the SURTs of captures, one at a time, in a buffer that grows with the longest. */
export class CaptureSurt {
  /** Starts with the most recent SURT. */
  bytes: Uint8Array = new Uint8Array(4096);

  /** Writes the SURT of a capture whose line is in `row` to `bytes`; returns its end. */
  make(row: Uint8Array, { uriStart, uriEnd, hasEscapes, isForeignSurt }: Capture): number {
    if (!hasEscapes && !isForeignSurt) return this.#make(row, uriStart, uriEnd);
    const uri = isForeignSurt
      ? uriOfSurt(row, uriStart, uriEnd)
      : unescapedBytes(row, uriStart, uriEnd);
    return this.#make(uri, 0, uri.length);
  }

  #make(uri: Uint8Array, start: number, end: number): number {
    const room = (end - start) * SURT_GROWTH + 64;
    if (room > this.bytes.length) this.bytes = new Uint8Array(room);
    return surtBytes(uri, start, end, this.bytes, 0);
  }
}

const MIN_DIGITS = 4;
/** Fourteen, plus milliseconds, which some indexers write. */
const MAX_DIGITS = 17;

/** The end of the datetime digits at `start`, or -1 if there are too few or too many. */
export function dateEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isDigit(bytes[at])) at++;
  const digits = at - start;
  return digits >= MIN_DIGITS && digits <= MAX_DIGITS ? at : -1;
}

const ZERO = 0x30;

/**
 * The end of the longest valid prefix of a datetime: `20140000000000`, which indexes contain where
 * only the year is known, becomes `2014`, because there is no month 0. The year is not checked.
 */
export function timePrefixEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start + MIN_DIGITS;
  for (const [min, max] of FIELD_RANGES) {
    if (at >= end) break;
    const tens = bytes[at] - ZERO;
    const last = max === 31 ? daysInMonth(bytes, start) : max;
    // One digit stands for all numbers that begin with it.
    if (at + 1 === end) return tens * 10 <= last ? end : at;
    const value = tens * 10 + bytes[at + 1] - ZERO;
    if (value < min || value > last) return at;
    at += 2;
  }
  return Math.min(at, end);
}

/** Month, day, hour, minute, second. */
const FIELD_RANGES = [
  [1, 12],
  [1, 31],
  [0, 23],
  [0, 59],
  [0, 59],
] as const;

/** The number of days of a month given as six digits. */
function daysInMonth(bytes: Uint8Array, start: number): number {
  const year = Number(byteString(bytes, start, start + 4));
  const month = Number(byteString(bytes, start + 4, start + 6));
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** Whether a column is missing, empty, or `-`. */
function isMissing(bytes: Uint8Array, start: number, end: number): boolean {
  return start === -1 || end === start || (end - start === 1 && bytes[start] === MINUS);
}

const encoder = new TextEncoder();

/**
 * Schemes of records that crawlers store along with pages and that are never looked up. Browsertrix
 * stores a `urn:pageinfo:`, and optionally a `urn:view:` and `urn:text:`, for each page.
 */
const NON_WEB_SCHEMES = ["dns:", "warcinfo:", "filedesc:", "metadata:", "whois:", "urn:"].map(
  (scheme) => encoder.encode(scheme),
);

/** The first byte rules out nearly every key. */
const FIRST_BYTES = new Uint8Array(256);
for (const [first] of NON_WEB_SCHEMES) FIRST_BYTES[first] = 1;

/** Whether a URI is not that of a web page. */
export function isNonWeb(bytes: Uint8Array, start: number, end: number): boolean {
  if (start >= end || FIRST_BYTES[bytes[start]] === 0) return false;
  return NON_WEB_SCHEMES.some((scheme) => standsAt(bytes, start, end, scheme));
}

/**
 * As {@link isNonWeb}, for a key column. `dns:8080)/a` is a page of the host `dns`: in a SURT, a port
 * follows the colon.
 */
export function isNonWebKey(bytes: Uint8Array, start: number, end: number): boolean {
  if (!isNonWeb(bytes, start, end)) return false;
  let at = bytes.indexOf(COLON, start) + 1;
  while (at < end && isDigit(bytes[at])) at++;
  return at >= end || bytes[at] !== CLOSE_PAREN;
}

/**
 * Classifies a row by its URI or, without one, by its key column. A key that is not a SURT, such as
 * `example.com/a` in older files, is treated as the URI.
 */
export function classifyRow(bytes: Uint8Array, capture: Capture): RowKind {
  const { keyStart, keyEnd, uriStart, uriEnd } = capture;
  if (!isMissing(bytes, uriStart, uriEnd)) {
    return isNonWeb(bytes, uriStart, uriEnd) ? ROW.nonWeb : ROW.capture;
  }
  capture.uriStart = capture.uriEnd = -1;
  if (isMissing(bytes, keyStart, keyEnd) || isNonWebKey(bytes, keyStart, keyEnd)) {
    return ROW.nonWeb;
  }
  if (!looksLikeSurt(bytes, keyStart, keyEnd)) {
    capture.uriStart = keyStart;
    capture.uriEnd = keyEnd;
    capture.keyStart = capture.keyEnd = -1;
  }
  return ROW.capture;
}

/** Whether a column holds a SURT, `com,example)/a`, and not `example.com/a`. */
export function looksLikeSurt(bytes: Uint8Array, start: number, end: number): boolean {
  return surtHostEnd(bytes, start, end) !== -1;
}

/** The offset of the `)` that makes a column a SURT, or -1. */
export function surtHostEnd(bytes: Uint8Array, start: number, end: number): number {
  for (let i = start; i < end && bytes[i] !== QUESTION; i++) {
    if (bytes[i] === CLOSE_PAREN && endsHost(bytes, i, end)) return i === start ? -1 : i;
  }
  return -1;
}

/** Whether a `)` is followed by a path, a query or nothing. */
function endsHost(bytes: Uint8Array, paren: number, end: number): boolean {
  const next = bytes[paren + 1];
  return paren + 1 === end || next === SLASH || next === QUESTION;
}

/** The MIME type of revisits in index files; JSON may escape the slash. */
const REVISIT_TYPES = ["warc/revisit", "warc\\/revisit"].map((type) => encoder.encode(type));
const LOWER_W = 0x77;

/** Whether a row is a revisit: the page was captured, found unchanged, and not stored again. */
export function isRevisit(bytes: Uint8Array, { mimeStart, mimeEnd }: Capture): boolean {
  if (mimeStart === -1 || bytes[mimeStart] !== LOWER_W) return false;
  const length = mimeEnd - mimeStart;
  return REVISIT_TYPES.some(
    (type) => length === type.length && standsAt(bytes, mimeStart, mimeEnd, type),
  );
}
