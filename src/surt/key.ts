import { byteString, copyRange } from "../bytes/bytes.ts";
import { keyEndInSurt } from "./plain-key.ts";
import { surt, writeAscii } from "./uri-to-surt.ts";

// oxlint-disable-next-line no-control-regex -- control characters are what must be escaped
const BLANK_OR_CONTROL = /[\u0000-\u0020\u007f]/g;
const START_OF_OTHER_LINES = /^[!@"{]/;
// oxlint-disable-next-line no-control-regex -- all of ASCII
const NOT_ASCII = /[^\u0000-\u007f]+/gu;
/** Never matches a canonical host; see {@link safeHost}. */
const UNSAFE_IN_HOST = /^,|,$|[A-Z)/]/;

const encoder = new TextEncoder();

/** Replaces a missing host. */
const NO_HOST = "-";

/** The form of the keys of a map. */
export interface KeyOptions {
  /** Whether keys include queries; `fields.queries` of the map headers. */
  readonly queries?: boolean | undefined;
}

/** The end of a key for a page with any query, or none: `com,cnn)/a?*`. */
export const ANY_QUERY = "?*";

/**
 * The key of a SURT: all of its host and path (an HxPx key), and its query in a map with queries.
 *
 * - Queries are removed, in a map with queries only empty ones. Trailing slashes of the path are removed, except the
 *   root's: `com,cnn)` becomes `com,cnn)/`.
 * - Blanks and control characters are percent-encoded, because blanks separate the fields of a map. {@link surt}
 * yields
 *   none, but a SURT of another tool may.
 * - `*` becomes `%2a`: in a key it is always a wildcard. Otherwise the page `http://a.com/b/*` would have the key
 * of all
 *   pages below `/b`.
 * - A leading `!`, `@`, `"` or `{` is percent-encoded: the line would be a header or JSON.
 * - A key is ASCII: other characters are percent-encoded as UTF-8.
 * - The host is in lower case. `)` and `/` in it, and commas at its start or end, are percent-encoded; SURTs of other
 *   tools may have them.
 *
 * Linear time; never throws.
 */
export function surtKey(surt: string, { queries }: KeyOptions = {}): string {
  const end = queryStart(surt);
  const page = withoutTrailingSlashes(safe(surt.slice(0, end)));
  return queries === true && end + 1 < surt.length ? page + escaped(surt.slice(end)) : page;
}

/**
 * The key of a URI: `surtKey(surt(uri))`.
 *
 * @example
 * ```ts
 * import { uriKey } from "mementomap";
 *
 * console.log(uriKey("http://Www.Foo.Example.COM/a/b?x=y&c=d"));
 * ```
 * ```
 * com,example,foo)/a/b
 * ```
 */
export function uriKey(uri: string): string {
  return surtKey(surt(uri));
}

/**
 * Writes the key of the SURT in `source[start..end)` to `target` at `at`, and returns its end. The result equals
 * `surtKey()`.
 *
 * @throws MementoMapError `MM_LIMIT` if the key does not fit; three times the length of the SURT plus 1 always
 * suffices.
 */
export function surtKeyBytes(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
  options: KeyOptions = {},
): number {
  const keyEnd = keyEndInSurt(source, start, end, options.queries);
  if (keyEnd !== -1 && at + keyEnd - start <= target.length) {
    return copyRange(source, start, keyEnd, target, at);
  }
  return writeAscii("key", surtKey(asciiSurt(source, start, end), options), target, at);
}

/** A SURT as text, with non-ASCII bytes percent-encoded, like the characters in `surtKey()`. */
export function asciiSurt(source: Uint8Array, start: number, end: number): string {
  return byteString(source, start, end).replace(
    /[\u0080-\u00ff]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16)}`,
  );
}

/** Whether a SURT or key has a query or `?*`. */
export function hasQuery(surt: string): boolean {
  return queryStart(surt) < surt.length;
}

/** Whether a key has the form `X,*)/p`. */
export function isSpreadKey(key: string): boolean {
  const star = key.indexOf(",*)");
  return star >= 0 && key.indexOf(")") === star + 2;
}

/** The index of the `)` that ends the host, or -1 for keys without a host, such as `mailto:a@b.com`. */
export function hostEnd(key: string): number {
  const end = key.indexOf(")/");
  if (end !== -1) return end;
  return key.endsWith(")") ? key.length - 1 : -1;
}

function queryStart(surt: string): number {
  const first = surt.indexOf("?");
  if (first === -1) return surt.length;
  // A host may contain a `?` that was percent-encoded; an opaque URI may contain `)/` in its query.
  const end = surt.indexOf(")/");
  if (first > end || surt.slice(0, first).includes(":")) return first;
  const next = surt.indexOf("?", end);
  return next === -1 ? surt.length : next;
}

function withoutTrailingSlashes(key: string): string {
  let end = key.length;
  while (end > 0 && key.charCodeAt(end - 1) === 0x2f) end--;
  const trimmed = key.slice(0, end);
  // Without a host the slash is significant: `dns:a/` is not `dns:a`.
  if (!trimmed.includes(")")) return key;
  // Only the root of a host keeps its slash; a path may also end in `)`.
  return trimmed.endsWith(")") && hostEnd(trimmed) === end - 1 ? `${trimmed}/` : trimmed;
}

function safe(text: string): string {
  return safeHost(escaped(text)).replace(START_OF_OTHER_LINES, escape);
}

function escaped(text: string): string {
  return text
    .replace(NOT_ASCII, escapeUtf8)
    .replace(BLANK_OR_CONTROL, escape)
    .replaceAll("*", "%2a");
}

/** Escapes the host of a key so that it ends at the first `)` and contains no path. */
function safeHost(key: string): string {
  const end = hostEnd(key);
  if (end === -1) return key;
  const host = key.slice(0, end);
  if (host !== "" && !UNSAFE_IN_HOST.test(host)) return key;
  return safeHostName(host.toLowerCase()) + key.slice(end);
}

function safeHostName(host: string): string {
  return host === "" ? NO_HOST : withoutOuterCommas(host).replace(/[)/]/g, escape);
}

/** Escapes the commas at the ends of a host, which would be empty labels. */
function withoutOuterCommas(host: string): string {
  let start = 0;
  let end = host.length;
  while (start < end && host[start] === ",") start++;
  while (end > start && host[end - 1] === ",") end--;
  return "%2c".repeat(start) + host.slice(start, end) + "%2c".repeat(host.length - end);
}

/** Percent-encodes a whole text as UTF-8. */
export function escapeUtf8(characters: string): string {
  return Array.from(encoder.encode(characters), (byte) => `%${byte.toString(16)}`).join("");
}

function escape(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}
