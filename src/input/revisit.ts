import type { Capture } from "./capture.ts";

/** The MIME type that index files give to revisits; JSON may have a backslash before the slash. */
const TYPES = ["warc/revisit", "warc\\/revisit"].map((type) => new TextEncoder().encode(type));

/** Whether a row is of a revisit: the page was captured, found unchanged, and not stored again. */
export function isRevisit(bytes: Uint8Array, capture: Capture): boolean {
  const { mimeStart, mimeEnd } = capture;
  const length = mimeEnd - mimeStart;
  return TYPES.some((type) => {
    if (length !== type.length) return false;
    for (let i = 0; i < length; i++) if (bytes[mimeStart + i] !== type[i]) return false;
    return true;
  });
}
