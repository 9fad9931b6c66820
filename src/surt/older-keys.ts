import { hostEnd } from "./key.ts";
import { keyWithRawStars } from "./spelling.ts";

/** What only keys have that version 0.1 may have written otherwise. */
const MAY_DIFFER = /%2a|%[89a-f][0-9a-f]|%2[9cf]|^-[,)]|\[/;
const ESCAPED_BYTES = /(?:%[89a-f][0-9a-f])+/g;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The key as version 0.1 may have written it; none for nearly all keys.
 *
 * - A host had `)`, `/` and commas at its ends as they are, and nothing in place of `-`.
 * - An IPv6 address with a port had no brackets.
 * - A `*` within a label or segment was not escaped.
 * - Characters that are not ASCII were taken from an index as they were.
 *
 * Several may differ at once, and an index may have some of them escaped: every combination of these
 * is given, 15 at most, and 1 for nearly all keys that have any.
 */
export function olderKeys(key: string): string[] {
  if (!MAY_DIFFER.test(key)) return [];
  let spellings = [key];
  for (const older of [withRawHost, withoutBrackets, keyWithRawStars, withRawCharacters]) {
    spellings = [...new Set([...spellings, ...spellings.map(older)])];
  }
  return spellings.slice(1);
}

function withRawHost(key: string): string {
  const end = ownHostEnd(key);
  const host = key.slice(0, end);
  const written = host === "-" ? "" : withRawCommas(host).replace(/%29|%2f/g, decodeURIComponent);
  return `${written}${key.slice(end)}`;
}

/** Writes the escaped commas at the ends of a host as they are. */
function withRawCommas(host: string): string {
  let start = 0;
  let end = host.length;
  while (host.startsWith("%2c", start)) start += 3;
  while (end > start && host.endsWith("%2c", end)) end -= 3;
  const after = (host.length - end) / 3;
  return ",".repeat(start / 3) + host.slice(start, end) + ",".repeat(after);
}

function withoutBrackets(key: string): string {
  const end = ownHostEnd(key);
  const host = key.slice(0, end);
  return host.includes("[") && host.includes("]")
    ? `${host.replace("[", "").replace("]", "")}${key.slice(end)}`
    : key;
}

function withRawCharacters(key: string): string {
  return key.replace(ESCAPED_BYTES, (escaped) => {
    try {
      return decoder.decode(
        Uint8Array.from(escaped.slice(1).split("%"), (hex) => parseInt(hex, 16)),
      );
    } catch {
      // Not UTF-8, which no map has.
      return escaped;
    }
  });
}

/** Where the host ends without the wildcard for the hosts below it; 0 if there is no host. */
function ownHostEnd(key: string): number {
  const paren = hostEnd(key);
  const end = paren === -1 ? key.length : paren;
  if (key.endsWith(",*", end)) return end - 2;
  return paren === -1 ? 0 : end;
}
