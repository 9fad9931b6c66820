import { isDigit, MINUS, TAB } from "../bytes/bytes.ts";
import type { Capture, RowKind, RowParser } from "./capture.ts";
import { ROW } from "./capture.ts";
import { isNonWeb } from "./non-web.ts";

/**
 * Rows `URI TAB mementos`, made from what others say about an archive: samples. A count of 0 is a
 * void: the archive was asked, and had nothing. A mere `-` stands for something that says nothing.
 */
export class HoldingsParser implements RowParser {
  readonly leadsWithKey = false;

  parse(bytes: Uint8Array, start: number, end: number, capture: Capture): RowKind {
    capture.reset();
    if (end - start === 1 && bytes[start] === MINUS) return ROW.unproven;
    let tab = end - 1;
    let count = 0;
    let scale = 1;
    for (; tab > start && isDigit(bytes[tab]); tab--) {
      count += (bytes[tab] - 0x30) * scale;
      scale *= 10;
    }
    if (tab === end - 1 || bytes[tab] !== TAB || !Number.isSafeInteger(count)) {
      return capture.reject("expected a URI, a TAB and a count");
    }
    if (isNonWeb(bytes, start, tab)) return ROW.nonWeb;
    capture.uriStart = start;
    capture.uriEnd = tab;
    capture.count = count;
    capture.isSample = true;
    return ROW.capture;
  }
}
