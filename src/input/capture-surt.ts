import { uriOfSurt } from "../surt/key-bytes.ts";
import { surtBytes } from "../surt/surt.ts";
import type { Capture } from "./capture.ts";
import { unescapeJson } from "../bytes/json-members.ts";

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
