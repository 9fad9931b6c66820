import { BANG, byteString, isDigit, QUESTION, QUOTE, SLASH, SPACE } from "../bytes/bytes.ts";
import {
  type Capture,
  isNonWeb,
  isNonWebKey,
  ROW,
  type RowKind,
  type LineReader,
  surtHostEnd,
} from "./capture.ts";
import { hasForeignHost, isForeignByte } from "../surt/foreign-surt.ts";

/**
 * A list of SURTs, one a line; what stands behind the first blank is ignored. SURTs of another
 * dialect, as `http://(com,example,)/A`, which no lookup would find, are made into ours.
 */
export class SurtListReader implements LineReader {
  read(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
    if (bytes[start] === BANG) return ROW.header;
    capture.reset();
    let at = start;
    let isForeign = false;
    for (; at < end && bytes[at] > SPACE; at++) isForeign ||= isForeignByte(bytes[at]);
    if (isNonWebKey(bytes, start, at)) return ROW.nonWeb;
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
export class UriListReader implements LineReader {
  read(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
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
export class AccessLogReader implements LineReader {
  read(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
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
