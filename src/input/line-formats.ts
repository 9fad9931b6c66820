import {
  AT,
  BANG,
  byteString,
  CLOSE_PAREN,
  COMMA,
  isDigit,
  PLUS,
  QUESTION,
  QUOTE,
  SLASH,
  SPACE,
  STAR,
  TAB,
} from "../bytes/bytes.ts";
import {
  type Capture,
  isNonWeb,
  ROW,
  type RowKind,
  type RowParser,
  surtHostEnd,
} from "./capture.ts";
import { hasForeignHost, isForeignByte } from "../surt/key-bytes.ts";

/**
 * A list of SURTs, one a line; what stands behind the first blank is ignored. SURTs of another
 * dialect, as `http://(com,example,)/A`, which no lookup would find, are made into ours.
 */
export class SurtListParser implements RowParser {
  readonly leadsWithKey = true;

  parse(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
    if (bytes[start] === BANG) return ROW.header;
    capture.reset();
    let at = start + capture.knownKeyBytes;
    // What is known is the start of a SURT of ours.
    let isForeign = false;
    for (; at < end && bytes[at] > SPACE; at++) isForeign ||= isForeignByte(bytes[at]);
    if (isNonWeb(bytes, start, at)) return ROW.nonWeb;
    const hostEnd = surtHostEnd(bytes, start, at);
    if (hostEnd === -1) return capture.reject('expected a SURT such as "com,example)/path"');
    if (isForeign || hasForeignHost(bytes, start, hostEnd)) {
      capture.isForeignSurt = true;
      capture.uriStart = start;
      capture.uriEnd = at;
      return ROW.capture;
    }
    capture.keyStart = start;
    capture.keyEnd = at;
    return ROW.capture;
  }
}

/** A list of URIs, one a line. */
export class UriListParser implements RowParser {
  readonly leadsWithKey = false;

  parse(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
    capture.reset();
    let from = start;
    let to = end;
    while (from < to && bytes[from] <= SPACE) from++;
    while (to > from && bytes[to - 1] <= SPACE) to--;
    if (from === to) return ROW.header;
    if (isNonWeb(bytes, from, to)) return ROW.nonWeb;
    capture.uriStart = from;
    capture.uriEnd = to;
    return ROW.capture;
  }
}

const WEB_SCHEME = /^(?:https?|ftp):$/i;
/** Dotted; bytes beyond ASCII are those of an international name. */
const HOST = /^(?:[\w\x80-\xff-]+\.)+[\w\x80-\xff-]+\.?$/;
const MIN_DATE_DIGITS = 4;
const MAX_DATE_DIGITS = 14;

/**
 * The access log of a replay server, in Common or Combined Log Format.
 *
 * A request for a memento, such as `GET /wayback/20160304000000im_/http://example.com/a`, that was
 * answered with 2xx or 3xx shows that the archive holds a capture. Of the others nothing is learnt:
 * 404 may be an archived answer as well as the archive's own. Requests for other pages of the
 * server show nothing either. Both count as unproven rows, not as bad ones.
 *
 * A line is a sample, and two lines may tell of the same memento, even if they ask for different
 * datetimes: a server shows the nearest capture, some after a redirect and some at once.
 */
export class AccessLogParser implements RowParser {
  readonly leadsWithKey = false;

  parse(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
    capture.reset();
    const open = indexOf(bytes, QUOTE, start, end);
    const close = requestEnd(bytes, open + 1, end);
    if (open === end || close === end) {
      return capture.reject('expected a quoted request, as in "GET /web/2016/http://… HTTP/1.1"');
    }
    const targetStart = indexOf(bytes, SPACE, open + 1, close) + 1;
    let targetEnd = close;
    // The protocol is missing in requests of HTTP 0.9.
    for (let at = close - 1; at > targetStart; at--) {
      if (bytes[at] === SPACE) {
        targetEnd = at;
        break;
      }
    }
    const status = close + 2;
    if (status + 3 > end || !isDigit(bytes[status]) || !isDigit(bytes[status + 2])) {
      return capture.reject("expected a status code behind the request");
    }
    if (targetStart > close || !findMemento(bytes, targetStart, targetEnd, capture)) {
      return ROW.unproven;
    }
    const digit = bytes[status] - 0x30;
    if (digit !== 2 && digit !== 3) return ROW.unproven;
    capture.statusStart = status;
    capture.statusEnd = status + 3;
    capture.isSample = true;
    capture.isDateAsked = true;
    return ROW.capture;
  }
}

/** The quote that ends the request; one behind a backslash is part of it. */
function requestEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] !== QUOTE) at += bytes[at] === 0x5c ? 2 : 1;
  return Math.min(at, end);
}

/** Finds `/20160304000000id_/URI` in a request target. */
function findMemento(bytes: Uint8Array, start: number, end: number, capture: Capture): boolean {
  for (let at = start; at < end; at++) {
    if (bytes[at] !== SLASH || !isDigit(bytes[at + 1])) continue;
    let digits = at + 1;
    while (digits < end && isDigit(bytes[digits])) digits++;
    const count = digits - at - 1;
    let uri = digits;
    // A flag such as `id_`, `im_` or `js_` says how to replay.
    while (uri < end && isFlagByte(bytes[uri])) uri++;
    if (count < MIN_DATE_DIGITS || count > MAX_DATE_DIGITS) continue;
    if (bytes[uri] !== SLASH || uri + 1 >= end) continue;
    const isPlain = count < MAX_DATE_DIGITS && uri === digits;
    if (!isWebUri(bytes, uri + 1, end, isPlain)) continue;
    capture.dateStart = at + 1;
    capture.dateEnd = digits;
    capture.uriStart = uri + 1;
    capture.uriEnd = end;
    return true;
  }
  return false;
}

function isFlagByte(byte: number): boolean {
  return (byte >= 0x61 && byte <= 0x7a) || byte === 0x5f;
}

/**
 * Whether the URI of a page begins here: a scheme of the web, or a host name with a dot.
 *
 * @param isPlain whether mere digits stand before it: `/img/2016/logo.png` is not a memento.
 */
function isWebUri(bytes: Uint8Array, start: number, end: number, isPlain: boolean): boolean {
  let at = start;
  while (at < end && bytes[at] !== SLASH && bytes[at] !== QUESTION) at++;
  const first = byteString(bytes, start, at);
  return WEB_SCHEME.test(first) || (!isPlain && HOST.test(first));
}

function indexOf(bytes: Uint8Array, byte: number, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] !== byte) at++;
  return at;
}

/**
 * The rows of a map, to add to them: `key [datetime] mementos`.
 *
 * Only what can be added up: no wildcards, no originals, no counts that are about right or at most.
 */
export class CountedRowsParser implements RowParser {
  readonly leadsWithKey = true;
  readonly #datetimeDigits: number;
  readonly #hasQueries: boolean;

  /**
   * @param datetimeDigits how many a second key column has at most; 0 if there is none.
   * @param hasQueries whether it is a map with queries, where `?*` is a wildcard.
   */
  constructor(datetimeDigits: number, hasQueries: boolean) {
    this.#datetimeDigits = datetimeDigits;
    this.#hasQueries = hasQueries;
  }

  parse(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
    if (bytes[start] === BANG || bytes[start] === AT) return ROW.header;
    capture.reset();
    let at = start;
    while (at < end && bytes[at] > SPACE) at++;
    const isAnyQuery = this.#hasQueries && bytes[at - 1] === STAR && bytes[at - 2] === QUESTION;
    if (isAnyQuery || isWildcard(bytes, start, at)) {
      return capture.reject("a wildcard cannot be added to; add before compact, or use merge");
    }
    capture.keyStart = start;
    capture.keyEnd = at;
    at = skipBlanks(bytes, at, end);
    if (this.#datetimeDigits > 0) {
      capture.dateStart = at;
      while (at < end && isDigit(bytes[at])) at++;
      capture.dateEnd = at;
      const digits = at - capture.dateStart;
      if (digits === 0 || digits > this.#datetimeDigits) {
        return capture.reject(`expected a datetime of ${this.#datetimeDigits} digits; see --by`);
      }
      at = skipBlanks(bytes, at, end);
    }
    const isCounted =
      bytes[at] === QUOTE
        ? readQuotedCount(bytes.subarray(at, end), capture)
        : readCount(bytes, at, end, capture);
    if (isCounted) return ROW.capture;
    return capture.reject("only plain counts, as 12 or 12+, can be added to; use merge");
  }
}

/** Reads a count that nothing but blanks follows. */
function readCount(bytes: Uint8Array, start: number, end: number, capture: Capture): boolean {
  let count = 0;
  let at = start;
  for (; at < end && isDigit(bytes[at]); at++) count = count * 10 + (bytes[at] - 0x30);
  if (at > start && at < end && bytes[at] === PLUS) {
    capture.isSample = true;
    at++;
  }
  if (at === start || skipBlanks(bytes, at, end) !== end) return false;
  capture.count = count;
  return Number.isSafeInteger(count);
}

/** A quoted value says the same as one without quotes. */
function readQuotedCount(column: Uint8Array, capture: Capture): boolean {
  const [, text] = /^"(\d+\+?)"[ \t]*$/.exec(byteString(column, 0, column.length)) ?? [];
  return text !== undefined && readCount(new TextEncoder().encode(text), 0, text.length, capture);
}

/**
 * Whether a key ends in a wildcard, `com,*` or `com,a)/*`, or its host does, `com,*)/a`. Another `*`
 * belongs to a URI; maps of earlier versions have such keys.
 */
function isWildcard(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (bytes[at] !== STAR) continue;
    const before = at === start ? SLASH : bytes[at - 1];
    const isLast = at + 1 === end || bytes[at + 1] === CLOSE_PAREN;
    if (isLast && (before === SLASH || before === COMMA)) return true;
  }
  return false;
}

function skipBlanks(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && (bytes[at] === SPACE || bytes[at] === TAB)) at++;
  return at;
}
