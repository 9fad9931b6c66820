import { byteString, COMMA, isDigit, OPEN_BRACKET } from "../bytes/bytes.ts";

// SURTs in the dialects of other tools.

/** `http://(com,example,www,:8080@user)/path` or parts of it: scheme, host and the rest. */
const SURT = /^(?:([a-z][a-z0-9+.-]*):\/\/\()?([^)]*)\)(.*)$/is;
/** A host with optional port and user. An IPv6 address may lack its brackets. */
const HOST = /^(\[[^\]]*\]|[^:@]*)(:\d+)?(?:@.*)?$/s;

const OPEN_PAREN = 0x28;
const LOWER_W = 0x77;

/** Whether a byte never occurs in a canonical SURT: upper case, or not ASCII. */
export function isForeignByte(byte: number): boolean {
  return byte >= 0x80 || (byte >= 0x41 && byte <= 0x5a);
}

/**
 * Whether the host of a SURT is not canonical: `http://(com,example)`, `[::1])`, `com,example,)`, `com,example,www)`.
 *
 * @param hostEnd the offset of its `)`.
 */
export function hasForeignHost(bytes: Uint8Array, start: number, hostEnd: number): boolean {
  for (let i = start; i < hostEnd; i++) {
    if (bytes[i] === OPEN_PAREN || bytes[i] === OPEN_BRACKET) return true;
  }
  let at = hostEnd - 1;
  if (bytes[at] === COMMA) return true;
  while (at > start && isDigit(bytes[at])) at--;
  for (let i = 0; i < 3; i++, at--) if (at <= start || bytes[at] !== LOWER_W) return false;
  return bytes[at] === COMMA;
}

/**
 * Converts a SURT of any dialect to a URI: with a scheme, as in Heritrix, with a comma after the host, or in
 * upper case.
 * `surt()` of the URI is canonical. Linear time.
 */
export function uriOfSurt(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const text = byteString(bytes, start, end);
  const [, scheme = "http", hostPart = "", rest = ""] = SURT.exec(text) ?? [];
  const [, host = `[${hostPart}]`, port = ""] = HOST.exec(hostPart) ?? [];
  const labels = host.split(",").filter((label) => label !== "");
  const uri = `${scheme}://${labels.reverse().join(".")}${port}${rest}`;
  return Uint8Array.from(uri, (character) => character.charCodeAt(0));
}
