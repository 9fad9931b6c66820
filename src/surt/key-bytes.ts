import { QUESTION, SLASH } from "../bytes/ascii.ts";
import { MementoMapError } from "../errors.ts";
import { byteString } from "./byte-string.ts";
import { surtKey } from "./key.ts";

const CLOSE = 0x29;
const ASTERISK = 0x2a;
const COMMA = 0x2c;
const UPPER_A = 0x41;
const UPPER_Z = 0x5a;

/**
 * Where the key ends, for a SURT whose first bytes are its key as they stand; nearly all are.
 *
 * Returns -1 where `surtKey()` would change a byte or add the root's slash: use
 * {@link surtKeyBytes} then. One pass, no allocation.
 */
export function keyEndInSurt(bytes: Uint8Array, start: number, end: number): number {
  return new KeyScanner().keyEnd(bytes, start, end, 0);
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
      } else if (byte <= 0x20 || byte === ASTERISK) {
        return this.#fail();
      } else if (byte === QUESTION) {
        break;
      } else if (hostEnd === -1) {
        if (byte === CLOSE) {
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
    while (at > start + hostEnd + 2 && bytes[at - 1] === SLASH) at--;
    return at;
  }

  #fail(): number {
    this.#hostEnd = -1;
    this.#plainBytes = 0;
    return -1;
  }
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
): number {
  const keyEnd = keyEndInSurt(source, start, end);
  const length = keyEnd - start;
  if (keyEnd !== -1 && at + length <= target.length) {
    for (let i = 0; i < length; i++) target[at + i] = source[start + i];
    return at + length;
  }
  const key = surtKey(asciiSurt(source, start, end));
  if (at + key.length > target.length) {
    throw new MementoMapError(
      "MM_LIMIT",
      `a key of ${key.length} bytes does not fit into ${target.length - at}: use a larger target`,
    );
  }
  for (let i = 0; i < key.length; i++) target[at + i] = key.charCodeAt(i);
  return at + key.length;
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
    byte === 0x21 ||
    byte === 0x40 ||
    byte === 0x22 ||
    byte === 0x7b ||
    byte === CLOSE ||
    byte === COMMA
  );
}
