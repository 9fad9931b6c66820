import type { JsonLayout } from "./json-layout.ts";
import { uriOfSurt } from "../surt/key-bytes.ts";
import { surtBytes } from "../surt/uri-to-surt.ts";
import { unescapeJson } from "../bytes/json-members.ts";
import {
  BACKSLASH,
  CLOSE_PAREN,
  isDigit,
  MINUS,
  QUESTION,
  SLASH,
  standsAt,
} from "../bytes/bytes.ts";

/** What a line of an index turned out to be. */
export const ROW = {
  /** A capture: count it. */
  capture: 0,
  /** A header or comment line of the format. */
  header: 1,
  /** A record of something else than a web page: `dns:`, `warcinfo:`, `filedesc:`, `metadata:`. */
  nonWeb: 2,
  /** Not a line of this format; `Capture.fault` says why. */
  bad: 3,
  /** A line that shows nothing about what the archive holds, such as a failed request of a log. */
  unproven: 4,
  /** Nothing at all. */
  blank: 5,
} as const;

export type RowKind = (typeof ROW)[keyof typeof ROW];

/**
 * One row of an index, as byte ranges of the line it was read from.
 *
 * Every input format fills the same capture. A range that the format lacks, or that was not
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
  /** How many captures the row stands for. Parsers of formats without counts do not set it. */
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
   * Whether a line is a capture, judged by what follows its key column, `bytes[keyEnd, end)`.
   *
   * Called for lines with the key column of the last capture, where nothing else is needed;
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

/** No percent-encoded SURT is longer than this many times its URI. */
const SURT_GROWTH = 3;

/** Makes SURTs of the URIs of captures, one at a time, in memory that grows with the longest. */
export class CaptureSurt {
  /** Has the SURT that was made last from its first byte on. */
  bytes: Uint8Array = new Uint8Array(4096);

  /** Makes the SURT of a capture whose line is in `row`; returns where it ends in `bytes`. */
  make(row: Uint8Array, { uriStart, uriEnd, hasEscapes, isForeignSurt }: Capture): number {
    if (!hasEscapes && !isForeignSurt) return this.#make(row, uriStart, uriEnd);
    const uri = isForeignSurt
      ? uriOfSurt(row, uriStart, uriEnd)
      : new TextEncoder().encode(unescapeJson(row, uriStart, uriEnd));
    return this.#make(uri, 0, uri.length);
  }

  #make(uri: Uint8Array, start: number, end: number): number {
    const room = (end - start) * SURT_GROWTH + 64;
    if (room > this.bytes.length) this.bytes = new Uint8Array(room);
    return surtBytes(uri, start, end, this.bytes, 0);
  }
}

const MIN_DIGITS = 4;
/** Fourteen, and three of milliseconds, which some indexers write. */
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
 * The end of the longest start of a datetime that is one: of `20140000000000`, which indexes have
 * where only the year is known, `2014` is left, as there is no month 0. The year is taken as it is.
 */
export function timePrefixEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start + MIN_DIGITS;
  for (const [least, most] of PARTS) {
    if (at >= end) break;
    const tens = bytes[at] - ZERO;
    const last = most === 31 ? daysOf(bytes, start) : most;
    // One digit stands for all numbers that begin with it.
    if (at + 1 === end) return tens * 10 <= last ? end : at;
    const value = tens * 10 + bytes[at + 1] - ZERO;
    if (value < least || value > last) return at;
    at += 2;
  }
  return Math.min(at, end);
}

/** Month, day, hour, minute, second. */
const PARTS = [
  [1, 12],
  [1, 31],
  [0, 23],
  [0, 59],
  [0, 59],
] as const;

/** The days of the month that six digits name. */
function daysOf(bytes: Uint8Array, start: number): number {
  const digit = (i: number): number => bytes[start + i] - ZERO;
  const year = digit(0) * 1000 + digit(1) * 100 + digit(2) * 10 + digit(3);
  const month = digit(4) * 10 + digit(5);
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
}

/** An absent column, or the `-` that stands for no value. */
export function isNothing(bytes: Uint8Array, start: number, end: number): boolean {
  return start === -1 || end === start || (end - start === 1 && bytes[start] === MINUS);
}

const encoder = new TextEncoder();

/**
 * Schemes of records that crawlers keep beside pages; no lookup ever asks for them. Browsertrix keeps
 * a `urn:pageinfo:`, and maybe a `urn:view:` and `urn:text:`, for each page.
 */
const NON_WEB_SCHEMES = ["dns:", "warcinfo:", "filedesc:", "metadata:", "whois:", "urn:"].map(
  (scheme) => encoder.encode(scheme),
);

/** The first byte rules out nearly every key. */
const FIRST_BYTES = new Uint8Array(256);
for (const [first] of NON_WEB_SCHEMES) FIRST_BYTES[first] = 1;

/** Whether a SURT or URI names something else than a web page. */
export function isNonWeb(bytes: Uint8Array, start: number, end: number): boolean {
  if (start >= end || FIRST_BYTES[bytes[start]] === 0) return false;
  return NON_WEB_SCHEMES.some((scheme) => standsAt(bytes, start, end, scheme));
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

/** Whether the path, the query or nothing follows a `)`. */
function endsHost(bytes: Uint8Array, paren: number, end: number): boolean {
  const next = bytes[paren + 1];
  return paren + 1 === end || next === SLASH || next === QUESTION;
}

/** The MIME type that index files give to revisits; JSON may have a backslash before the slash. */
const TYPES = ["warc/revisit", "warc\\/revisit"].map((type) => new TextEncoder().encode(type));

const WARC: Uint8Array = new TextEncoder().encode('"warc');
const REVISIT: Uint8Array = new TextEncoder().encode('revisit"');
const LOWER_R = REVISIT[0];

/**
 * Whether a line with a JSON block has the MIME type of revisits in it, `"warc/revisit"`. For lines
 * whose JSON is not opened; that it stands for something else than the type is out of the question.
 */
export function hasRevisitType(bytes: Uint8Array, start: number, end: number): boolean {
  const last = end - REVISIT.length;
  for (let i = start + WARC.length; i < last; i++) {
    if (bytes[i] !== SLASH || bytes[i + 1] !== LOWER_R) continue;
    const typeEnd = bytes[i - 1] === BACKSLASH ? i - 1 : i;
    const type = typeEnd - WARC.length;
    if (standsAt(bytes, i + 1, end, REVISIT) && standsAt(bytes, type, end, WARC)) return true;
  }
  return false;
}

/** Whether a row is of a revisit: the page was captured, found unchanged, and not stored again. */
export function isRevisit(bytes: Uint8Array, capture: Capture): boolean {
  const { mimeStart, mimeEnd } = capture;
  const length = mimeEnd - mimeStart;
  return TYPES.some((type) => length === type.length && standsAt(bytes, mimeStart, mimeEnd, type));
}
