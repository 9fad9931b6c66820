import { canonicalHost, reverseHost } from "./host.ts";
import { STRIPPED_PAIR, STRIPPED_PARAMETERS, type StrippedParameter } from "./rules.ts";
import { escapeOnce, escapeUnprintable, unescapeFully } from "./percent-encoding.ts";

const NOTHING = "-";
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const WEB_SCHEME = /https?:\/\//y;
/** A host and port without a scheme: no scheme contains a dot and is followed by a number. */
const HOST_AND_PORT = /^[A-Za-z][A-Za-z0-9+-]*\.[A-Za-z0-9+.-]*:\d+(?:[/?#]|$)/;
const MAX_PORT = 65_535;

/**
 * The SURT of any URI, by all rules: the reference for the fast path, which must give equal results.
 *
 * Takes a byte string (char codes 0–255) and returns printable ASCII. Linear time; never throws.
 *
 * The rules are those of the Internet Archive's default canonicalization, quirks included, because a key must
 * equal the
 * one in a CDX file. Two special cases:
 * - `dns:` and other URIs without a host are unchanged (`dns:example.com`). Java tools write `com,example)`,
 * which would
 *   collide with web pages and has no path.
 * - `filedesc…` is the first line of an ARC file, not a URI, and is unchanged.
 */
export function canonicalSurt(uri: string): string {
  if (uri === "") return NOTHING;
  if (uri.startsWith("filedesc")) return escapeUnprintable(uri);
  const text = withoutStrayBlanks(uri);
  return text === "" ? NOTHING : surtOf(parse(text));
}

interface Parts {
  /** As written, in any case. */
  readonly scheme: string;
  readonly host: string;
  /** Digits or invalid text; empty if there is none. */
  readonly port: string;
  readonly path: string;
  readonly query: string;
}

function surtOf({ scheme, host: rawHost, port, path: rawPath, query: rawQuery }: Parts): string {
  const portText = canonicalPort(scheme, port);
  // With a port, the brackets tell `[::1]:8080` from `[::1:8080]`.
  const isBracketed = portText !== "" && rawHost.includes(":");
  const host = canonicalHost(isBracketed ? `[${rawHost}]` : rawHost);
  const query = canonicalQuery(rawQuery);
  const path = canonicalPath(rawPath, host !== "");
  const tail = query === "" ? path : `${path === "" ? "/" : path}?${query}`;
  if (host === "") return `${scheme}:${tail}`;
  return `${escapedSite(reverseHost(host) + portText)})${tail === "" ? "/" : tail}`;
}

/** Escapes a `?` after a colon, which would begin the query of a URI without a host, as in `urn:a?b)/`. */
function escapedSite(site: string): string {
  const colon = site.indexOf(":");
  return colon === -1 ? site : site.slice(0, colon) + site.slice(colon).replaceAll("?", "%3f");
}

/** Removes blanks around a URI, and line ends and tabs within it, which come from copying and wrapping. */
function withoutStrayBlanks(uri: string): string {
  let start = 0;
  let end = uri.length;
  while (start < end && isBlank(uri.charCodeAt(start))) start++;
  while (end > start && isBlank(uri.charCodeAt(end - 1))) end--;
  return uri.slice(start, end).replace(/[\t\n\r]+/g, "");
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

function parse(uri: string): Parts {
  const hasScheme = SCHEME.test(uri) && !HOST_AND_PORT.test(uri);
  const absolute = hasScheme ? uri.slice(lastWebScheme(uri)) : `http://${uri}`;
  const colon = absolute.indexOf(":");
  const scheme = absolute.slice(0, colon);
  const withoutFragment = before(absolute.slice(colon + 1), "#");
  const hierarchy = before(withoutFragment, "?");
  const query = withoutFragment.slice(hierarchy.length + 1);

  const hasAuthority = hierarchy.startsWith("//");
  const authority = hasAuthority ? before(hierarchy.slice(2), "/") : "";
  const path = hasAuthority ? hierarchy.slice(2 + authority.length) : hierarchy;
  const { host, port } = parseAuthority(authority);
  if (host !== "" || !scheme.startsWith("http")) return { scheme, host, port, path, query };
  // `http:example.com/a` and `http:///example.com/a` also contain a host.
  const hostAndPath = path.replace(/^\/+/, "");
  const hostOfPath = before(hostAndPath, "/");
  return {
    scheme,
    host: hostOfPath,
    port,
    path: path === "" ? "" : `/${hostAndPath.slice(hostOfPath.length + 1)}`,
    query,
  };
}

/** The offset of the last web scheme: `http://https://example.com/` is `https://example.com/`. */
function lastWebScheme(uri: string): number {
  let last = 0;
  WEB_SCHEME.lastIndex = 0;
  for (let at = 0; WEB_SCHEME.test(uri); at = WEB_SCHEME.lastIndex) last = at;
  return last;
}

function parseAuthority(authority: string): { host: string; port: string } {
  const address = withoutTrailingColons(authority.slice(authority.lastIndexOf("@") + 1));
  const bracket = address.indexOf("[");
  if (bracket !== -1) {
    const host = before(address.slice(bracket + 1), "]");
    const rest = address.slice(bracket + 1 + host.length);
    const port = rest.slice(before(rest, ":").length + 1);
    return { host, port };
  }
  const host = before(address, ":");
  // `::1` without brackets is a name, not an empty host with an invalid port.
  if (host === "" && !/^:\d*$/.test(address)) return { host: address, port: "" };
  return { host, port: address.slice(host.length + 1) };
}

function withoutTrailingColons(address: string): string {
  let end = address.length;
  while (end > 0 && address[end - 1] === ":") end--;
  return address.slice(0, end);
}

function before(text: string, mark: string): string {
  const at = text.indexOf(mark);
  return at === -1 ? text : text.slice(0, at);
}

/** A port that is not a number is kept as text, so that different URIs get different keys. */
function canonicalPort(scheme: string, port: string): string {
  if (port === "") return "";
  const number = /^\d+$/.test(port) ? Number(port) : Infinity;
  if (number > MAX_PORT) return `:${escapeOnce(unescapeFully(port)).toLowerCase()}`;
  return number === 0 || number === defaultPort(scheme) ? "" : `:${number}`;
}

function defaultPort(scheme: string): number {
  const lower = scheme.toLowerCase();
  if (lower === "http") return 80;
  return lower === "https" ? 443 : 0;
}

function canonicalPath(rawPath: string, hasHost: boolean): string {
  if (rawPath === "") return "";
  const unescaped = unescapeFully(rawPath);
  const escaped = escapeOnce(hasHost ? normalizePath(unescaped) : unescaped);
  const path = stripPathSessionIds(escaped.toLowerCase());
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function canonicalQuery(rawQuery: string): string {
  return orderedQuery(escapeOnce(unescapeFully(rawQuery)).toLowerCase());
}

/** Removes session ids from a query, which is escaped and in lower case, and sorts its parameters. */
export function orderedQuery(query: string): string {
  return sortQuery(stripLastPair(STRIPPED_PARAMETERS.reduce(stripLastParameter, query)));
}

/**
 * Resolves `.` and `..` and removes empty segments, in linear time.
 *
 * Empty segments are removed last: `/a//../b` is `/a/b`. A leading `..` is kept, as in every CDX file, and
 * removed by a
 * following `..`. The result starts with a slash.
 */
function normalizePath(path: string): string {
  const kept: string[] = [];
  const segments = path.split("/");
  for (let i = 1; i < segments.length; i++) {
    const segment = segments[i];
    if (segment === ".") continue;
    if (segment === ".." && kept.length > 0) kept.pop();
    else kept.push(segment);
  }
  const trailing = kept.length > 0 && kept[kept.length - 1] === "" ? "/" : "";
  const joined = kept.filter((segment) => segment !== "").join("/");
  return joined === "" ? "/" : `/${joined}${trailing}`;
}

/**
 * Sorts the parameters of a query by name, then by value; a bare name precedes the same name with an empty value.
 * Expects escaped ASCII, whose code unit order is byte order.
 */
function sortQuery(query: string): string {
  return query.includes("&") ? query.split("&").sort(compareParameters).join("&") : query;
}

function compareParameters(a: string, b: string): number {
  const endA = nameEnd(a);
  const endB = nameEnd(b);
  return (
    compareText(a.slice(0, endA), b.slice(0, endB)) || compareText(a.slice(endA), b.slice(endB))
  );
}

function nameEnd(parameter: string): number {
  const equals = parameter.indexOf("=");
  return equals === -1 ? parameter.length : equals;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

// Session ids that web servers add to URLs and that CDX keys omit. Each rule removes the last id of its kind.
// Backward
// scans replace the original regular expressions, which take quadratic time on hostile input. All input is lower-case
// ASCII.

const ASPX = ".aspx";
const ASP_NET_ID = /[0-9a-z]{24}\)/y;
const ASP_NET_LABELLED_ID = /[a-z]\([0-9a-z]{24}\)/y;

/** Removes ASP.NET session segments, `/(S(…))/` and `/(…)/`, in front of an `.aspx` page. */
function stripPathSessionIds(path: string): string {
  if (!path.includes(ASPX) || !path.includes("/(")) return path;
  return stripLastSegment(stripLastSegment(path, labelledSegmentEnd), plainSegmentEnd);
}

type SegmentEnd = (path: string, at: number) => number;

/** The end of `(…)/` at `at`, or -1. */
function plainSegmentEnd(path: string, at: number): number {
  ASP_NET_ID.lastIndex = at + 1;
  return ASP_NET_ID.test(path) && path[ASP_NET_ID.lastIndex] === "/"
    ? ASP_NET_ID.lastIndex + 1
    : -1;
}

/** The end of `(S(…)F(…))/` at `at`, or -1. */
function labelledSegmentEnd(path: string, at: number): number {
  let end = at + 1;
  for (;;) {
    ASP_NET_LABELLED_ID.lastIndex = end;
    if (!ASP_NET_LABELLED_ID.test(path)) break;
    end = ASP_NET_LABELLED_ID.lastIndex;
  }
  return end > at + 1 && path.startsWith(")/", end) ? end + 2 : -1;
}

function stripLastSegment(path: string, segmentEnd: SegmentEnd): string {
  // Both are updated while `open` moves left, so that candidates do not scan the rest again.
  let nextAspx = path.length;
  let nextQuestion = path.length;
  let scanned = path.length;
  for (
    let open = path.lastIndexOf("/(");
    open !== -1;
    open = open === 0 ? -1 : path.lastIndexOf("/(", open - 1)
  ) {
    const end = segmentEnd(path, open + 1);
    if (end === -1) continue;
    for (let i = scanned - 1; i >= end; i--) {
      if (path[i] === "?") nextQuestion = i;
      else if (i > end && path.startsWith(ASPX, i)) nextAspx = i;
    }
    scanned = end + 1;
    if (nextAspx < path.length && nextAspx < nextQuestion) {
      return path.slice(0, open + 1) + path.slice(end);
    }
  }
  return path;
}

function stripLastParameter(query: string, { name, letters, value }: StrippedParameter): string {
  for (let at = query.lastIndexOf(name); at !== -1; at = lastIndexBefore(query, name, at)) {
    const equals = at + name.length + letters;
    if (query[equals] !== "=" || !/^[a-z]*$/.test(query.slice(at + name.length, equals))) continue;
    value.lastIndex = equals + 1;
    if (value.test(query)) return cut(query, at, value.lastIndex);
  }
  return query;
}

/** Removes `cfid=…&cftoken=…` if adjacent and not empty. */
function stripLastPair(query: string): string {
  const [first, second] = STRIPPED_PAIR;
  const token = `&${second}=`;
  for (let at = query.lastIndexOf(token); at !== -1; at = lastIndexBefore(query, token, at)) {
    if (at === 0) break;
    const valueStart = at + token.length;
    const nextParameter = query.indexOf("&", valueStart);
    const end = nextParameter === -1 ? query.length : nextParameter;
    const idStart = query.lastIndexOf("&", at - 1) + 1;
    const id = query.slice(idStart, at - 1).lastIndexOf(`${first}=`);
    if (end > valueStart && id !== -1) return cut(query, idStart + id, end);
  }
  return query;
}

function lastIndexBefore(text: string, part: string, at: number): number {
  return at === 0 ? -1 : text.lastIndexOf(part, at - 1);
}

/** Removes an id and the `&` after it; the text before is unchanged, including `&`. */
function cut(query: string, start: number, end: number): string {
  return query.slice(0, start) + query.slice(end + 1);
}
