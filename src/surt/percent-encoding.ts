// All functions work on byte strings: strings whose char codes are bytes (0–255).

import { hexValue, PERCENT } from "../bytes/bytes.ts";

const CHUNK = 8192;

/**
 * Decodes percent escapes until none is left, so that `%2541` becomes `A`.
 *
 * Repeated decoding would take quadratic time. Escapes never overlap, so the order of decoding does not matter,
 * and one
 * pass that looks back after each byte gives the same result.
 */
export function unescapeFully(bytes: string): string {
  if (!bytes.includes("%")) return bytes;
  const out: number[] = [];
  for (let i = 0; i < bytes.length; i++) {
    out.push(bytes.charCodeAt(i));
    for (;;) {
      const length = out.length;
      if (length < 3 || out[length - 3] !== PERCENT) break;
      const high = hexValue(out[length - 2]);
      const low = hexValue(out[length - 1]);
      if (high < 0 || low < 0) break;
      out.length = length - 3;
      out.push(high * 16 + low);
    }
  }
  let text = "";
  for (let i = 0; i < out.length; i += CHUNK) {
    text += String.fromCharCode(...out.slice(i, i + CHUNK));
  }
  return text;
}

/** Escapes blanks, control characters, non-ASCII bytes, `#` and `%`, in lower case. */
export function escapeOnce(bytes: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what must be escaped
  return bytes.replace(/[\u0000-\u0020\u007f-\u00ff#%]/g, escapeByte);
}

/** Escapes blanks, control characters and non-ASCII bytes, and keeps existing escapes. */
export function escapeUnprintable(bytes: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what must be escaped
  return bytes.replace(/[\u0000-\u0020\u007f-\u00ff]/g, escapeByte);
}

function escapeByte(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).padStart(2, "0")}`;
}
