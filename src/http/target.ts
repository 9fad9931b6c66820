/** The parts of a request target as sent: not decoded or normalized. */
export interface Target {
  readonly path: string;
  /** The text after the first `?`; empty if there is none. */
  readonly query: string;
}

/** The request target without scheme and host, which proxies send (absolute form). */
export function originForm(raw: string): string {
  const target = raw.startsWith("/") ? raw : raw.replace(/^https?:\/\/[^/?]*/i, "");
  return target.startsWith("/") ? target : `/${target}`;
}

/**
 * Splits a request target.
 *
 * `new URL()` would collapse `/../` and encode quotes, and so change a URI to look up.
 */
export function splitTarget(raw: string): Target {
  const target = originForm(raw);
  const mark = target.indexOf("?");
  const path = mark === -1 ? target : target.slice(0, mark);
  return { path, query: mark === -1 ? "" : target.slice(mark + 1) };
}

/** `x/y/` → `/x/y`; `/` → empty. */
export function pathPrefix(path: string = ""): string {
  const inner = path.replaceAll(/^\/+|(?<!\/)\/+$/g, "");
  return inner === "" ? "" : `/${inner}`;
}

/** The query parameters of a lookup. */
export interface LookupQuery {
  /** The URI as sent; undefined when there is no `url=`. */
  readonly url: string | undefined;
  readonly at: string | undefined;
  readonly map: string | undefined;
  readonly isSurt: boolean;
}

/**
 * Parses `at=…&map=…&url=URI`. The URI is the raw rest of the target, so `url=` comes last.
 *
 * A URI whose scheme is followed by `%3A` was form-encoded, as many HTTP libraries do, and is decoded once. No
 * raw URI
 * begins like that.
 */
export function lookupQuery(query: string): LookupQuery {
  const found = /(?:^|&)url=/.exec(query);
  const url = found === null ? undefined : query.slice(found.index + found[0].length);
  const rest = found === null ? query : query.slice(0, found.index);
  const before = new URLSearchParams(rest);
  return {
    url: url && asSent(url),
    at: before.get("at") ?? undefined,
    map: before.get("map") ?? undefined,
    isSurt: before.has("surt"),
  };
}

function asSent(url: string): string {
  return /^[a-z][a-z0-9+.-]*%3A/i.test(url) ? formDecoded(url) : url;
}

/** Decodes a form field; invalid escapes are left unchanged. */
function formDecoded(text: string): string {
  return new URLSearchParams(`x=${text.replaceAll("&", "%26")}`).get("x") ?? text;
}

/** The number in `page=N`; undefined if absent, NaN if not a page number. */
export function pageNumber(query: string): number | undefined {
  const text = new URLSearchParams(query).get("page");
  if (text === null) return undefined;
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN;
}
