import { BANG, SPACE } from "../bytes/bytes.ts";
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
 * A list of SURTs, one per line; anything after the first blank is ignored. SURTs in foreign dialects
 * such as `http://(com,example,)/A`, which lookups would not find, are converted.
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

/** A list of URIs, one per line. */
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
/** A dotted name; non-ASCII bytes belong to internationalized names. */
const HOST = /^(?:[\w\x80-\xff-]+\.)+[\w\x80-\xff-]+\.?$/;
/** The quote that ends the request is not escaped by a backslash. */
const REQUEST = /^[^"]*"((?:[^"\\]|\\[^])*)"/;
/** A datetime with an optional replay flag such as `id_`, `im_` or `js_`. */
const MEMENTO = /\/(\d{4,14})([a-z_]*)(?=\/[^])/g;
const FULL_DATE_DIGITS = 14;
const decoder = new TextDecoder("latin1");

/**
 * The access log of a replay server, in Common or Combined Log Format.
 *
 * A request for a memento, such as `GET /wayback/20160304000000im_/http://example.com/a`, with status
 * 2xx or 3xx shows that the archive holds a capture. Other statuses prove nothing: a 404 may be an
 * archived response as well as the archive's own. Neither do requests for other pages of the server.
 * Both count as unproven rows, not as bad ones.
 *
 * Each line is a sample, and two lines may refer to the same memento even if their datetimes differ:
 * servers return the nearest capture, with or without a redirect.
 */
export class AccessLogReader implements LineReader {
  read(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
    capture.reset();
    const line = decoder.decode(bytes.subarray(start, end));
    const [quoted, request = ""] = REQUEST.exec(line) ?? [];
    if (quoted === undefined) {
      return capture.reject('expected a quoted request, as in "GET /web/2016/http://… HTTP/1.1"');
    }
    const status = quoted.length + 1;
    const [, firstDigit] = /^(\d)\d\d/.exec(line.slice(status, status + 3)) ?? [];
    if (firstDigit === undefined) return capture.reject("expected a status code after the request");
    const from = request.indexOf(" ") + 1;
    const protocol = request.lastIndexOf(" ");
    // HTTP 0.9 requests have no protocol.
    const target = from === 0 ? "" : request.slice(from, protocol > from ? protocol : undefined);
    const memento = mementoIn(target);
    if (memento === undefined || (firstDigit !== "2" && firstDigit !== "3")) return ROW.unproven;
    const [text, date] = memento;
    const targetStart = start + quoted.length - 1 - request.length + from;
    capture.dateStart = targetStart + memento.index + 1;
    capture.dateEnd = capture.dateStart + date.length;
    capture.uriStart = targetStart + memento.index + text.length + 1;
    capture.uriEnd = targetStart + target.length;
    capture.statusStart = start + status;
    capture.statusEnd = start + status + 3;
    capture.isSample = true;
    capture.isRequestedDate = true;
    return ROW.capture;
  }
}

/** Finds `/20160304000000id_/URI` in a request target. */
function mementoIn(target: string): RegExpExecArray | undefined {
  for (const match of target.matchAll(MEMENTO)) {
    const [text, date, flag] = match;
    const [first] = target.slice(match.index + text.length + 1).split(/[/?]/, 1);
    // A web scheme or a host name must follow: `/img/2016/logo.png` is not a memento.
    const isPlain = date.length < FULL_DATE_DIGITS && flag === "";
    if (WEB_SCHEME.test(first) || (!isPlain && HOST.test(first))) return match;
  }
  return undefined;
}
