import {
  AT,
  BANG,
  byteString,
  CLOSE_PAREN,
  COMMA,
  isDigit,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUESTION,
  QUOTE,
  SLASH,
  STAR,
} from "../bytes/bytes.ts";
import { type KeyOptions, surtKey } from "./key.ts";
import { writeAscii } from "./uri-to-surt.ts";

const UPPER_A = 0x41;
const UPPER_Z = 0x5a;

/**
 * Where the key ends, for a SURT whose first bytes are its key as they stand; nearly all are.
 *
 * Returns -1 where `surtKey()` would change a byte or add the root's slash: use
 * {@link surtKeyBytes} then. One pass, no allocation.
 */
export function keyEndInSurt(
  bytes: Uint8Array,
  start: number,
  end: number,
  options: KeyOptions = {},
): number {
  return new KeyScanner(options).keyEnd(bytes, start, end, 0);
}

/**
 * {@link keyEndInSurt} for one SURT after the other: what a SURT shares with the one before it is
 * not looked at again.
 */
export class KeyScanner {
  /** Where the host of the last SURT ends, from its start; -1 if it has none. */
  #hostEnd = -1;
  /** Bytes of the last SURT that belong to its key as they stand. */
  #plainBytes = 0;
  readonly #hasQueries: boolean;

  constructor({ queries = false }: KeyOptions = {}) {
    this.#hasQueries = queries;
  }

  /** @param shared how many bytes the SURT shares with the last one; 0 if that is not known. */
  keyEnd(bytes: Uint8Array, start: number, end: number, shared: number): number {
    let known = shared < this.#plainBytes ? shared : this.#plainBytes;
    let hostEnd = this.#hostEnd;
    if (hostEnd === -1 || known < hostEnd + 2) {
      if (start >= end || startsOtherLine(bytes[start])) return this.#fail();
      known = 0;
      hostEnd = -1;
    }
    let at = start + known;
    for (; at < end; at++) {
      const byte = bytes[at];
      if (byte > QUESTION) {
        if (byte >= 0x7f || (byte <= UPPER_Z && hostEnd === -1 && byte >= UPPER_A)) {
          return this.#fail();
        }
      } else if (byte <= 0x20 || byte === STAR) {
        return this.#fail();
      } else if (byte === QUESTION) {
        break;
      } else if (hostEnd === -1) {
        if (byte === CLOSE_PAREN) {
          if (at + 1 >= end || bytes[at + 1] !== SLASH || bytes[at - 1] === COMMA) {
            return this.#fail();
          }
          hostEnd = at - start;
        } else if (byte === SLASH) {
          return this.#fail();
        }
      }
    }
    // Without a host, `com,cnn)` and opaque URIs need a closer look.
    if (hostEnd === -1) return this.#fail();
    this.#hostEnd = hostEnd;
    this.#plainBytes = at - start;
    const pathEnd = at;
    while (at > start + hostEnd + 2 && bytes[at - 1] === SLASH) at--;
    if (!this.#hasQueries || pathEnd + 1 >= end) return at;
    return at === pathEnd && isPlainQuery(bytes, pathEnd + 1, end) ? end : -1;
  }

  #fail(): number {
    this.#hostEnd = -1;
    this.#plainBytes = 0;
    return -1;
  }
}

function isPlainQuery(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (bytes[at] <= 0x20 || bytes[at] === STAR || bytes[at] >= 0x7f) return false;
  }
  return true;
}

/**
 * Writes the key of the SURT in `source[start..end)` to `target` at `at`, and returns where it ends.
 * Gives the bytes of `surtKey()`.
 *
 * @throws MementoMapError `MM_LIMIT` when the key does not fit; three times the length of the SURT
 * plus 1 is always enough.
 */
export function surtKeyBytes(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
  options: KeyOptions = {},
): number {
  const keyEnd = keyEndInSurt(source, start, end, options);
  const length = keyEnd - start;
  if (keyEnd !== -1 && at + length <= target.length) {
    for (let i = 0; i < length; i++) target[at + i] = source[start + i];
    return at + length;
  }
  return writeAscii("key", surtKey(asciiSurt(source, start, end), options), target, at);
}

/** A SURT as text, with bytes that are not ASCII percent-encoded, as `surtKey()` encodes characters. */
export function asciiSurt(source: Uint8Array, start: number, end: number): string {
  return byteString(source, start, end).replace(
    /[\u0080-\u00ff]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16)}`,
  );
}

/** `!`, `@`, `"` and `{` begin other lines; a host begins neither with `)` nor with a comma. */
function startsOtherLine(byte: number): boolean {
  return (
    byte === BANG ||
    byte === AT ||
    byte === QUOTE ||
    byte === OPEN_BRACE ||
    byte === CLOSE_PAREN ||
    byte === COMMA
  );
}

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
