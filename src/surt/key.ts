import { surt } from "./surt.ts";

const BARE_ASTERISK = /(^|[,/])\*(?=$|[,/)?])/g;
// oxlint-disable-next-line no-control-regex -- control characters are what must be escaped
const BLANK_OR_CONTROL = /[\u0000-\u0020\u007f]/g;
const START_OF_OTHER_LINES = /^[!@"{]/;

/**
 * The key of a SURT: all of its host and path, and no query (an HxPx key).
 *
 * - The query goes, and so do trailing slashes, except the root's: `com,cnn)` is `com,cnn)/`.
 * - A key never holds a blank or a control character, because blanks separate the fields of a map:
 *   they are percent-encoded. {@link surt} yields none, but a SURT from elsewhere may.
 * - A host label or path segment that is a mere `*` becomes `%2a`. The page `http://a.com/b/*`
 *   would else have the key that means all pages below `/b`.
 * - A `!`, `@`, `"` or `{` at the start is percent-encoded: such a line would be a header or JSON.
 *
 * Linear time; never throws.
 */
export function surtKey(surt: string): string {
  return withoutTrailingSlashes(safe(surt.slice(0, queryStart(surt))));
}

/** The key of a URI: `surtKey(surt(uri))`. */
export function uriKey(uri: string): string {
  return surtKey(surt(uri));
}

/** The key of a SURT with its query, or undefined if it has none. */
export function surtQueryKey(surt: string): string | undefined {
  return queryStart(surt) < surt.length ? safe(surt) : undefined;
}

/** The index of the `)` that ends the host, or -1 for keys that have none, as `mailto:a@b.com`. */
export function hostEnd(key: string): number {
  const end = key.indexOf(")/");
  if (end !== -1) return end;
  return key.endsWith(")") ? key.length - 1 : -1;
}

function queryStart(surt: string): number {
  const first = surt.indexOf("?");
  if (first === -1) return surt.length;
  // A host may hold a `?` that was percent-encoded, an opaque URI a `)/` in its query.
  const end = surt.indexOf(")/");
  if (first > end || surt.slice(0, first).includes(":")) return first;
  const next = surt.indexOf("?", end);
  return next === -1 ? surt.length : next;
}

function withoutTrailingSlashes(key: string): string {
  let end = key.length;
  while (end > 0 && key.charCodeAt(end - 1) === 0x2f) end--;
  const trimmed = key.slice(0, end);
  // Only the root of a host keeps its slash: a path may end in `)` too.
  return trimmed.endsWith(")") && hostEnd(trimmed) === end - 1 ? `${trimmed}/` : trimmed;
}

function safe(text: string): string {
  return text
    .replace(BLANK_OR_CONTROL, escape)
    .replace(START_OF_OTHER_LINES, escape)
    .replace(BARE_ASTERISK, "$1%2a");
}

function escape(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}
