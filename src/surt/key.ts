import { surt } from "./uri-to-surt.ts";

// oxlint-disable-next-line no-control-regex -- control characters are what must be escaped
const BLANK_OR_CONTROL = /[\u0000-\u0020\u007f]/g;
const START_OF_OTHER_LINES = /^[!@"{]/;
// oxlint-disable-next-line no-control-regex -- all of ASCII
const NOT_ASCII = /[^\u0000-\u007f]+/gu;
/** What a host of ours never has; see {@link safeHost}. */
const UNSAFE_IN_HOST = /^,|,$|[A-Z)/]/;

const encoder = new TextEncoder();

/** Stands for a host that is missing. */
const NO_HOST = "-";

/** What the keys of a map are like. */
export interface KeyOptions {
  /** Whether keys have queries; `fields.queries` of the headers of a map. */
  readonly queries?: boolean | undefined;
}

/** What ends the key of a page with any query, or none: `com,cnn)/a?*`. */
export const ANY_QUERY = "?*";

/**
 * The key of a SURT: all of its host and path (an HxPx key), and its query in a map with queries.
 *
 * - The query goes, or at least one without text, and so do trailing slashes of the path, except the
 *   root's: `com,cnn)` is `com,cnn)/`.
 * - A key never holds a blank or a control character, because blanks separate the fields of a map:
 *   they are percent-encoded. {@link surt} yields none, but a SURT from elsewhere may.
 * - `*` becomes `%2a`: in a key it is always a wildcard. The page `http://a.com/b/*` would else have
 *   the key that means all pages below `/b`.
 * - A `!`, `@`, `"` or `{` at the start is percent-encoded: such a line would be a header or JSON.
 * - A key is ASCII: other characters are percent-encoded as UTF-8.
 * - A host is in lower case and has no `)` or `/`, nor a comma at its start
 *   or end, which are percent-encoded, too. SURTs of other tools may.
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

/** The SURT with its query as a key of a map without queries, or undefined if it has none. */
function surtQueryKey(surt: string): string | undefined {
  return queryStart(surt) < surt.length ? safe(surt) : undefined;
}

/** Whether a SURT or key has a query, or `?*` in place of one. */
export function hasQuery(surt: string): boolean {
  return queryStart(surt) < surt.length;
}

/** Whether a key has the form `X,*)/p`. */
export function isSpreadKey(key: string): boolean {
  const star = key.indexOf(",*)");
  return star >= 0 && key.indexOf(")") === star + 2;
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
  // Without a host there is no path: `dns:a/` is not `dns:a`.
  if (!trimmed.includes(")")) return key;
  // Only the root of a host keeps its slash: a path may end in `)` too.
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

/** Writes the host of a key so that it ends at the first `)` and has no path in it. */
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

function escapeUtf8(characters: string): string {
  return Array.from(encoder.encode(characters), (byte) => `%${byte.toString(16)}`).join("");
}

function escape(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

/** A key to look for in a map. */
export interface LookupKey {
  readonly key: string;
  /** How far up from the URI the key is: 0 for the URI itself, 1 for all below it, and so on. */
  readonly distance: number;
}

/**
 * The keys that can answer for a SURT, most specific first; the first that a map holds decides.
 *
 * For `com,example,www2)/a/b`:
 *
 * | key | distance |
 * |---|---|
 * | `com,example,www2)/a/b` | 0 |
 * | `com,example,www2)/a/b/*` | 1 |
 * | `com,example,www2)/a/*` | 2 |
 * | `com,example,www2)/*` | 3 |
 * | `com,example,www2,*)/a/b` | 4 |
 * | `com,example,www2,*` | 5 |
 * | `com,example,*)/a/b` | 6 |
 * | `com,example,*` | 7 |
 * | `com,*)/a/b`, then `com,*` | 8 |
 *
 * With a query, the SURT as a whole comes first, at distance 0 too.
 *
 * In a map with queries, `com,example,www2)/a/b?x=1` asks for itself, then at distance 1 for
 * `com,example,www2)/a/b?*`, and not for `com,example,www2)/a/b`, which is the page without a query.
 * All that follow are one further than above, and before each `X,*)/a/b?*` comes `X,*)/a/b?x=1`.
 *
 * `*` is never among the keys. A port belongs to its label, so that `com,example:8080)/` is not below `com,example,*`. Addresses
 * are treated as names. A SURT without a host, such as `dns:example.com`, has no key but itself.
 *
 * @example
 * ```ts
 * import { lookupKeys } from "mementomap";
 *
 * for (const { key, distance } of lookupKeys("com,example)/")) console.log(distance, key);
 * ```
 * ```
 * 0 com,example)/
 * 1 com,example)/*
 * 2 com,example,*)/
 * 3 com,example,*
 * 4 com,*)/
 * 4 com,*
 * ```
 */
export function lookupKeys(surt: string, { queries = false }: KeyOptions = {}): LookupKey[] {
  const key = surtKey(surt);
  // What is asked for at a host, and then at the hosts above it.
  const forms = queries ? [surtKey(surt, { queries }), key + ANY_QUERY] : [key];
  const keys = forms.map((form, distance): LookupKey => ({ key: form, distance }));
  const queryKey = queries ? undefined : surtQueryKey(surt);
  if (queryKey !== undefined) keys.unshift({ key: queryKey, distance: 0 });
  const end = hostEnd(key);
  if (end === -1) return keys;

  const path = key.slice(end + 1);
  let distance = forms.length - 1;
  for (let above = path === "/" ? "" : path; ; above = above.slice(0, above.lastIndexOf("/"))) {
    distance++;
    keys.push({ key: `${key.slice(0, end + 1)}${above}/*`, distance });
    if (above === "") break;
  }
  for (let host = key.slice(0, end); host !== "";) {
    const comma = host.lastIndexOf(",");
    distance++;
    for (const form of forms) keys.push({ key: `${host},*)${form.slice(end + 1)}`, distance });
    if (comma !== -1) distance++;
    keys.push({ key: `${host},*`, distance });
    host = comma === -1 ? "" : host.slice(0, comma);
  }
  return keys;
}

/** What only keys have that version 0.1 may have written otherwise. */
const MAY_DIFFER = /%2a|%[89a-f][0-9a-f]|%2[9cf]|^-[,)]|\[/;
const ESCAPED_BYTES = /(?:%[89a-f][0-9a-f])+/g;
/** Colons in an address of IPv6. */
const MAX_COLONS = 8;
/** What a host had as it is; not both, because `)/` ended the host. */
const ESCAPED_IN_HOST = /%29(?!%2f)|(?<!%29)%2f/g;
/**
 * An address of IPv6, and perhaps a port, which need not be a number. Where IPv4 is written at the end of the address, it
 * has become labels: `[::1.2.3.4]:80` is `4],3,2,[::1:80`.
 */
const BRACKETED_ADDRESS = new RegExp(
  [
    /^\[[^[\]:]*(?::[^[\]:]*){1,8}\]:./,
    /^\[[^[\]:]*(?::[^[\]:]*){2,8}\]$/,
    /^[^[\],]*\],(?:[^[\],]*,)*\[[^[\],]*:[^[\],]*:[^[\],]*$/,
  ]
    .map(({ source }) => source)
    .join("|"),
);

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The key as version 0.1 may have written it; none for nearly all keys.
 *
 * - A host had `)`, `/` and commas at its ends as they are, and nothing in place of `-`.
 * - An IPv6 address had no brackets, not even with a port.
 * - A `*` within a label or segment was not escaped.
 * - Characters that are not ASCII were taken from an index as they were.
 *
 * Several may differ at once, and an index may have some of them escaped: every combination of these
 * is given, 15 at most, and 1 for nearly all keys that have any.
 */
export function olderKeys(key: string, { queries = false }: KeyOptions = {}): string[] {
  if (!MAY_DIFFER.test(key)) return [];
  let spellings = [key];
  for (const older of [withRawHost, withoutBrackets, keyWithRawStars, withRawCharacters]) {
    spellings = [...new Set([...spellings, ...spellings.map(older)])];
  }
  // There, `?*` is not an older spelling of the query `*`.
  return spellings.slice(1).filter((older) => !queries || !older.endsWith(ANY_QUERY));
}

function withRawHost(key: string): string {
  const end = ownHostEnd(key);
  const host = key.slice(0, end);
  const written =
    host === NO_HOST ? "" : withRawCommas(host).replace(ESCAPED_IN_HOST, decodeURIComponent);
  return safeHostName(written) === host ? written + key.slice(end) : key;
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
  return BRACKETED_ADDRESS.test(host) ? unbracketed(host) + key.slice(end) : key;
}

function unbracketed(host: string): string {
  return host.replace("[", "").replace("]", "");
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

/**
 * The key as version 0.1 wrote it: with `*` in place of `%2a`, except for labels and segments that
 * are nothing else. The key itself where there is no difference.
 */
function keyWithRawStars(key: string): string {
  return key.replace(/%2a/g, (escaped: string, at: number) =>
    isSegment(key, at, at + escaped.length) ? escaped : "*",
  );
}

/**
 * A key of an older map as it is written now: `com,cnn)` as `com,cnn)/`, and a `*` within a label or
 * segment as `%2a`.
 */
export function currentSpelling(key: string, { queries = false }: KeyOptions = {}): string {
  if (queries && key.endsWith(ANY_QUERY)) {
    return currentSpelling(key.slice(0, -ANY_QUERY.length)) + ANY_QUERY;
  }
  const spelling = key.includes("*")
    ? key.replace(/\*/g, (star: string, at: number) => (isSegment(key, at, at + 1) ? star : "%2a"))
    : key;
  const isBareHome = spelling.indexOf(")") === spelling.length - 1 && !spelling.endsWith(",*)");
  return isBareHome && spelling !== "" ? `${spelling}/` : spelling;
}

/** The start of a key with a query whose home page lacks its slash: `com,cnn)?x=1`. */
const BARE_HOME = /^[^)?]*(?<!,\*)\)(?=\?)/;
/** A key whose host is empty. */
const EMPTY_HOST = /^(?:,\*)?(?:\)(?:\/|$)|$)/;

/**
 * The keys that lookups ask for by which they find a row with this key: itself, unless it is an older spelling.
 * The inverse of `olderKeys`.
 *
 * There are several for `::1:8080)/`: it is an address by itself, which a SURT may have in brackets, and was that of
 * `[::1]:8080` in version 0.1. In a map without queries, lookups find a key with a query by its page.
 */
export function presentKeys(key: string, options: KeyOptions = {}): string[] {
  const home = options.queries === true ? key.replace(BARE_HOME, "$&/") : key;
  // With a query, `com,a)?b)/c` may be a home page, or a page of the host `com,a)?b`.
  const meanings = ownHostEnd(key) === 0 ? [home] : [home, key];
  const keys = meanings.flatMap((meaning) => presentSpellings(meaning, options));
  // A key without a host may have a `)/` in its query.
  if (queryStart(key) < hostEnd(key)) keys.push(surtKey(key, options));
  return [...new Set(keys)];
}

function presentSpellings(key: string, options: KeyOptions): string[] {
  const ascii = currentSpelling(key, options).replace(NOT_ASCII, escapeUtf8);
  const isFoundByPage = options.queries !== true && hasQuery(ascii) && !ascii.includes("*");
  const asked = isFoundByPage ? surtKey(ascii) : ascii;
  const end = ownHostEnd(asked);
  if (end === 0 && !EMPTY_HOST.test(asked)) return [asked];
  const host = asked.slice(0, end);
  const rest = asked.slice(end);
  const keys = [host, ...bracketedHosts(host)].map((one) => safeHostName(one) + rest);
  // `com,,*` has the sub-domains of `com,`, which has an empty label.
  const labels = host.replace(/,+$/, "");
  if (rest.startsWith(",*") && labels !== "" && labels !== host) {
    keys.push(safeHostName(labels) + asked.slice(labels.length));
  }
  return keys;
}

/** The hosts that version 0.1 wrote like this, without their brackets. */
function bracketedHosts(host: string): string[] {
  const [label] = host.split(",", 1);
  const last = host.lastIndexOf(",") + 1;
  const ends = [...host.matchAll(/:/g)].slice(1, MAX_COLONS + 1).map(({ index }) => index);
  return [
    ...[...ends, host.length].map((end) => `[${host.slice(0, end)}]${host.slice(end)}`),
    `${label}]${host.slice(label.length, last)}[${host.slice(last)}`,
  ].filter((one) => BRACKETED_ADDRESS.test(one) && unbracketed(one) === host);
}

/** Whether a part of a key is a label or a segment as a whole. */
function isSegment(key: string, start: number, end: number): boolean {
  const startsOne = start === 0 || ",/".includes(key.charAt(start - 1));
  return startsOne && (end === key.length || ",/)?".includes(key.charAt(end)));
}
