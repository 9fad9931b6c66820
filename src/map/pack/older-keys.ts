import {
  CLOSE_PAREN,
  COLON,
  COMMA,
  isDigit,
  isPlainText,
  OPEN_BRACKET,
  QUESTION,
  SLASH,
  STAR,
} from "../../bytes/bytes.ts";
import { isMementoMapError } from "../../errors.ts";

/*
 * Which keys `presentKeys` may respell, or finds two of, besides those with a `*`. To call a key older that is not only
 * costs time. kernel/packing/keys.ts has the same.
 */

/** Thrown for a map with keys of older maps, which must be packed as lookups ask for them. */
export class OlderKeys extends Error {}

/** Whether a map is to be packed by `withPresentKeys`: keys may belong elsewhere as they are spelled now. */
export function needsPresentKeys(error: unknown): boolean {
  return error instanceof OlderKeys || (isMementoMapError(error) && error.code === "MM_NOT_SORTED");
}

/** Whether a key is one that older maps have. */
export function isOlderKey(bytes: Uint8Array, start: number, end: number): boolean {
  if (!isPlainText(bytes, start, end)) return true;
  const key = bytes.subarray(start, end);
  const paren = hostNameEnd(key);
  return paren > 0 ? isOlderHost(key, paren) : hasBareHome(key);
}

/** The end of the name of the host of a key; 0 where it has none. */
function hostNameEnd(key: Uint8Array): number {
  const { length } = key;
  for (let at = 0; at < length; at++) {
    if (key[at] === CLOSE_PAREN && (at + 1 === length || key[at + 1] === SLASH)) return at + 1;
  }
  return key[length - 1] === STAR && key[length - 2] === COMMA ? length : 0;
}

/** Whether `key[0, end)` is the name of a host as older maps spell it. */
export function isOlderHost(key: Uint8Array, end: number): boolean {
  let own = key[end - 1] === CLOSE_PAREN ? end - 1 : end;
  if (key[own - 1] === STAR && key[own - 2] === COMMA) own -= 2;
  if (own === 0 || key[0] === COMMA || key[own - 1] === COMMA) return true;
  let [colons, hasLabels, isNumber] = [0, false, false];
  for (let at = 0; at < own; at++) {
    const byte = key[at];
    if (byte === CLOSE_PAREN || byte === SLASH) return true;
    if (byte === OPEN_BRACKET) return false;
    if (byte === COMMA) {
      hasLabels = true;
      colons = 0;
    } else if (byte === COLON) {
      colons++;
      isNumber = at + 1 < own;
    } else if (!isDigit(byte)) {
      isNumber = false;
    }
  }
  return hasLabels ? colons > 1 : colons > 2 && isNumber;
}

/** Whether a key without a host is that of a home page without its slash, with a query: `com,cnn)?x=1`. */
export function hasBareHome(key: Uint8Array): boolean {
  for (let at = 1; at + 1 < key.length; at++) {
    const byte = key[at];
    if (byte === CLOSE_PAREN) return key[at + 1] === QUESTION && key[at - 1] !== STAR;
  }
  return false;
}
