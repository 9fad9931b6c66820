import { canonicalHost, reverseHost } from "./host.ts";
import { normalizePath } from "./path.ts";
import { escapeOnce, escapeUnprintable, unescapeFully } from "./percent-encoding.ts";
import { sortQuery } from "./query.ts";
import { stripPathSessionIds, stripQuerySessionIds } from "./session-ids.ts";

const NOTHING = "-";
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const WEB_SCHEME = /https?:\/\//y;
const MAX_PORT = 65_535;

/**
 * The SURT of any URI, by all the rules: the reference that the fast path must equal.
 *
 * Takes a byte string (char codes 0–255) and returns printable ASCII. Linear time; never throws.
 *
 * The rules are those of the Internet Archive's default canonicalisation, quirks included, because
 * a key is of use only if it equals the one in a CDX file. Two of them deserve a word:
 * - `dns:` and other URIs without a host stay as they are (`dns:example.com`). Java tools write
 *   `com,example)`, which no URI of a web page must share, and which has no path.
 * - `filedesc…` is the first line of an ARC file and is not a URI; it is left alone.
 */
export function canonicalSurt(uri: string): string {
  if (uri === "") return NOTHING;
  if (uri.startsWith("filedesc")) return escapeUnprintable(uri);
  const text = withoutStrayBlanks(uri);
  return text === "" ? NOTHING : surtOf(parse(text));
}

interface Parts {
  /** As written, in upper or lower case. */
  readonly scheme: string;
  readonly host: string;
  /** Digits, or whatever else stood there; empty if there is none. */
  readonly port: string;
  readonly path: string;
  readonly query: string;
}

function surtOf({ scheme, host: rawHost, port, path: rawPath, query: rawQuery }: Parts): string {
  const host = canonicalHost(rawHost);
  const query = canonicalQuery(rawQuery);
  const path = canonicalPath(rawPath, host !== "");
  const tail = query === "" ? path : `${path === "" ? "/" : path}?${query}`;
  if (host === "") return `${scheme}:${tail}`;
  return `${reverseHost(host)}${canonicalPort(scheme, port)})${tail === "" ? "/" : tail}`;
}

/** Blanks around a URI, and line ends and tabs anywhere, come from copying and wrapping. */
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
  const absolute = SCHEME.test(uri) ? uri.slice(lastWebScheme(uri)) : `http://${uri}`;
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
  // `http:example.com/a` and `http:///example.com/a` mean a host all the same.
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

/** `http://https://example.com/` means the last of the two. */
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
    // With a port, the brackets tell `[::1]:8080` from `[::1:8080]`.
    return { host: port !== "" && host.includes(":") ? `[${host}]` : host, port };
  }
  const host = before(address, ":");
  // `::1` without brackets: a name of its own rather than an empty host with an odd port.
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

/** A port that is no number stays as text: another URI must not get this key. */
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
  return sortQuery(stripQuerySessionIds(escapeOnce(unescapeFully(rawQuery)).toLowerCase()));
}
