/** A request target in its parts, as sent: nothing is decoded or collapsed. */
export interface Target {
  readonly path: string;
  /** What follows the first `?`; empty when there is none. */
  readonly query: string;
}

/** A request target without the scheme and host of the absolute form that proxies send. */
export function originForm(raw: string): string {
  const target = raw.startsWith("/") ? raw : raw.replace(/^https?:\/\/[^/?]*/i, "");
  return target.startsWith("/") ? target : `/${target}`;
}

/**
 * Splits a request target.
 *
 * `new URL()` would collapse `/../`, encode quotes, and so change a URI that is looked up.
 */
export function splitTarget(raw: string): Target {
  const target = originForm(raw);
  const mark = target.indexOf("?");
  const path = mark === -1 ? target : target.slice(0, mark);
  return { path, query: mark === -1 ? "" : target.slice(mark + 1) };
}

/** `x/y/` → `/x/y`; the root of all is nothing. */
export function pathPrefix(path: string = ""): string {
  const inner = path.replaceAll(/^\/+|(?<!\/)\/+$/g, "");
  return inner === "" ? "" : `/${inner}`;
}

/** What a lookup is asked for in the query of its target. */
export interface LookupQuery {
  /** The URI as sent; undefined when there is no `url=`. */
  readonly url: string | undefined;
  readonly at: string | undefined;
  readonly map: string | undefined;
  readonly isSurt: boolean;
}

/**
 * Reads `at=…&map=…&url=URI`. The URI is the raw rest of the target, so `url=` comes last.
 *
 * A URI whose scheme is followed by `%3A` was encoded as a form field is, as many HTTP libraries
 * do: it is decoded once. No URI that was sent as it is begins like that.
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

/** A form field decoded; an invalid encoding stays as it is. */
function formDecoded(text: string): string {
  return new URLSearchParams(`x=${text.replaceAll("&", "%26")}`).get("x") ?? text;
}

/** The number in `page=N`; undefined without one, NaN when it is not a page number. */
export function pageNumber(query: string): number | undefined {
  const text = new URLSearchParams(query).get("page");
  if (text === null) return undefined;
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN;
}
