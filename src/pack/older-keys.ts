import {
  CLOSE_PAREN,
  COLON,
  COMMA,
  isPlainText,
  OPEN_BRACKET,
  QUESTION,
  SLASH,
  STAR,
} from "../bytes/bytes.ts";
import { isMementoMapError } from "../errors.ts";
import type { KeyOptions } from "../surt/key.ts";

/*
 * Which keys `presentKeys` may respell, or finds two of, besides those with a `*`. To call a key older that is not only
 * costs time.
 */

/** Thrown for a map with keys of older maps, which must be packed as lookups ask for them. */
export class OlderKeys extends Error {}

/** Whether a map is to be packed by `withPresentKeys`: keys may belong elsewhere as they are spelled now. */
export function needsPresentKeys(error: unknown): boolean {
  return error instanceof OlderKeys || (isMementoMapError(error) && error.code === "MM_NOT_SORTED");
}

/** Whether a key is one that older maps have. */
export function isOlderKey(
  bytes: Uint8Array,
  start: number,
  end: number,
  { queries = false }: KeyOptions,
): boolean {
  if (!isPlainText(bytes, start, end)) return true;
  const key = bytes.subarray(start, end);
  const nameEnd = hostNameEnd(key);
  if (nameEnd === 0) return isOlderOpaque(key, queries);
  return isOlderHost(key, nameEnd) || hasSlashBeforeQuery(key, nameEnd, key.indexOf(QUESTION));
}

/** The end of the name of the host of a key; 0 where it has none. */
function hostNameEnd(key: Uint8Array): number {
  const { length } = key;
  for (let at = 0; at < length; at++) {
    if (key[at] === CLOSE_PAREN && (at + 1 === length || key[at + 1] === SLASH)) return at + 1;
  }
  return length > 2 && key[length - 1] === STAR && key[length - 2] === COMMA ? length : 0;
}

/** Whether `key[0, end)` is the name of a host as older maps spell it, or as no SURT of a host has it. */
export function isOlderHost(key: Uint8Array, end: number): boolean {
  let own = key[end - 1] === CLOSE_PAREN ? end - 1 : end;
  if (key[own - 1] === STAR && key[own - 2] === COMMA) own -= 2;
  if (own === 0 || key[0] === COMMA || key[own - 1] === COMMA) return true;
  let [colons, isBracketed] = [0, false];
  for (let at = 0; at < own; at++) {
    const byte = key[at];
    if (byte === CLOSE_PAREN || byte === SLASH || byte === QUESTION) return true;
    if (byte === OPEN_BRACKET) isBracketed = true;
    else if (byte === COLON && !isBracketed) colons++;
  }
  // An address of IPv6, perhaps with a port.
  return colons > 1;
}

/**
 * Whether a key without a host has a query in a map without queries, is that of a home page without its slash, with a
 * query (`com,cnn)?x=1`), or is `,*`: all of a host without a name.
 */
export function isOlderOpaque(key: Uint8Array, queries: boolean): boolean {
  const query = key.indexOf(QUESTION);
  if (query >= 0) return !queries || key[query - 1] === CLOSE_PAREN;
  return key.length === 2 && key[0] === COMMA && key[1] === STAR;
}

/** Whether a page has a slash before its query, and is not the home page, which has one anyway. */
export function hasSlashBeforeQuery(key: Uint8Array, hostNameEnd: number, query: number): boolean {
  return query > hostNameEnd + 1 && key[query - 1] === SLASH;
}
