import { BANG, SPACE } from "../bytes/ascii.ts";
import type { Capture, RowKind, RowParser } from "./capture.ts";
import { ROW } from "./capture.ts";
import { isNonWeb } from "./non-web.ts";
import { looksLikeSurt } from "./surt-column.ts";

/** A list of SURTs, one a line; what stands behind the first blank is ignored. */
export class SurtListParser implements RowParser {
  readonly leadsWithKey = true;

  parse(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
    if (bytes[start] === BANG) return ROW.header;
    capture.reset();
    let at = start + capture.knownKeyBytes;
    while (at < end && bytes[at] > SPACE) at++;
    if (isNonWeb(bytes, start, at)) return ROW.nonWeb;
    if (!looksLikeSurt(bytes, start, at))
      return capture.reject('expected a SURT such as "com,example)/path"');
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
