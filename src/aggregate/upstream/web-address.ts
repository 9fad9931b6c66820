import { MementoMapError, quote } from "../../errors.ts";
import { sendableUri } from "../../memento/percent-encode.ts";

/** An address in the two parts a connection needs. */
export interface SplitAddress {
  readonly origin: string;
  /** Path and query as written, with what no URI has percent-encoded. */
  readonly path: string;
}

const UNSENDABLE = /[^\u0021-\u00ff]/;

/**
 * Cuts an address behind its origin and leaves the rest as it is: `..`, `//` and `%zz` have a
 * meaning for archives that `URL` would take away. Characters that no URI has are percent-encoded:
 * an archive that writes the URI into a header must not be led to write another one there.
 *
 * @throws MM_BAD_URI for anything but http and https, spaces, control characters and characters
 *   that are no bytes.
 */
export function splitAddress(url: string): SplitAddress {
  const from = url.startsWith("http://") ? 7 : url.startsWith("https://") ? 8 : schemeEnd(url);
  const slash = url.indexOf("/", from);
  const end = slash === -1 ? url.length : slash;
  if (end === from || UNSENDABLE.test(url)) throw badAddress(url);
  const origin = url.slice(0, end);
  const query = origin.indexOf("?");
  if (query !== -1) {
    return { origin: url.slice(0, query), path: `/${sendableUri(url.slice(query))}` };
  }
  return { origin, path: slash === -1 ? "/" : sendableUri(url.slice(slash)) };
}

/**
 * The address a `Location` leads to. Whole addresses and absolute paths stay as they are, without
 * the fragment; only relative ones are resolved. Bytes that no URI has are percent-encoded one by
 * one, whatever encoding they are of.
 *
 * @throws MM_REFUSED when it is not an address of the web.
 */
export function redirectTarget(from: string, location: string): string {
  const [target = ""] = sendableUri(location.trim()).split("#");
  if (/^https?:\/\//i.test(target)) return target;
  const { origin } = splitAddress(from);
  if (target.startsWith("//")) return `${origin.slice(0, origin.indexOf("//"))}${target}`;
  if (target.startsWith("/")) return origin + target;
  const resolved = URL.canParse(target, from) ? new URL(target, from).href : target;
  if (/^https?:\/\//.test(resolved)) return resolved;
  throw new MementoMapError(
    "MM_REFUSED",
    `it redirects to ${quote(location)}, which is no web address`,
    { position: { source: from }, reason: "redirect" },
  );
}

/** Schemes in upper case are rare, so they may take longer. */
function schemeEnd(url: string): number {
  const match = /^https?:\/\//i.exec(url);
  if (match === null) throw badAddress(url);
  return match[0].length;
}

function badAddress(url: string): MementoMapError {
  return new MementoMapError("MM_BAD_URI", `${quote(url)} is no web address that can be sent`, {
    reason: "bad-request",
  });
}
