import { BANG, SPACE } from "../bytes/bytes.ts";
import type { Capture, RowKind, RowParser } from "./capture.ts";
import { ROW } from "./capture.ts";
import { isNonWeb } from "./non-web.ts";
import { hasForeignHost, isForeignByte } from "../surt/key-bytes.ts";
import { surtHostEnd } from "./surt-column.ts";

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
