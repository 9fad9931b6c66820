import { BACKSLASH, SLASH, standsAt } from "../bytes/bytes.ts";
import type { Capture } from "./capture.ts";

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
