/** What no URI has in it (RFC 3986, 2), besides bytes that are not ASCII. */
const FORBIDDEN = /[^!#$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]/gu;
const NOT_ASCII = /[\u0080-\u{10ffff}]/gu;
const ENCODER = new TextEncoder();

/**
 * A URI as it can be sent: blanks, controls, quotes, angle brackets, braces, `|`, `\`, `^`, a
 * backtick and all that is not ASCII are percent-encoded. Nothing is decoded or normalised.
 *
 * Characters up to U+00FF stand for bytes, as they do in what comes from the network; those beyond
 * are encoded as UTF-8.
 */
export function sendableUri(uri: string): string {
  return uri.replaceAll(FORBIDDEN, percentEncoded);
}

/** The same for bytes that are not ASCII only: what else is there has a meaning, as in `Link`. */
export function asciiBytes(text: string): string {
  return text.replaceAll(NOT_ASCII, percentEncoded);
}

function percentEncoded(character: string): string {
  const code = character.charCodeAt(0);
  if (code <= 0xff) return hex(code);
  return Array.from(ENCODER.encode(character), hex).join("");
}

function hex(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}
