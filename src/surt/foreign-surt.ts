import { byteString, COMMA, isDigit, OPEN_BRACKET } from "../bytes/bytes.ts";

// SURTs as other tools write them.

/** `http://(com,example,www,:8080@user)/path` or parts of it: scheme, host and the rest. */
const SURT = /^(?:([a-z][a-z0-9+.-]*):\/\/\()?([^)]*)\)(.*)$/is;
/** A host with the port and the user that may follow it. An IPv6 address may lack its brackets. */
const HOST = /^(\[[^\]]*\]|[^:@]*)(:\d+)?(?:@.*)?$/s;

const OPEN_PAREN = 0x28;
const LOWER_W = 0x77;

/** Whether a byte is one that no SURT of ours has: upper case, or not ASCII. */
export function isForeignByte(byte: number): boolean {
  return byte >= 0x80 || (byte >= 0x41 && byte <= 0x5a);
}

/**
 * Whether the host of a SURT is not as ours are: `http://(com,example)`, `[::1])`, `com,example,)`,
 * `com,example,www)`.
 *
 * @param hostEnd where its `)` is.
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
 * The URI of a SURT in any dialect: with a scheme, as Heritrix has it, with a comma behind the
 * host, in upper case. Of it `surt()` makes one of ours. Linear time.
 */
export function uriOfSurt(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const text = byteString(bytes, start, end);
  const [, scheme = "http", hostPart = "", rest = ""] = SURT.exec(text) ?? [];
  const [, host = `[${hostPart}]`, port = ""] = HOST.exec(hostPart) ?? [];
  const labels = host.split(",").filter((label) => label !== "");
  const uri = `${scheme}://${labels.reverse().join(".")}${port}${rest}`;
  return Uint8Array.from(uri, (character) => character.charCodeAt(0));
}
