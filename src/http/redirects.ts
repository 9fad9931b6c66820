import { MementoMapError, quote } from "../errors.ts";
import type { ResponseHead } from "./http-client.ts";
import { sendableUri } from "../memento/memento-list.ts";

/** Redirects that are followed for one request. */
export const MAX_REDIRECTS = 5;

export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** Where an answer redirects to; undefined for others. */
export function redirectOf({
  status,
  headers,
}: Pick<ResponseHead, "status" | "headers">): string | undefined {
  return isRedirect(status) ? (headers.get("location") ?? undefined) : undefined;
}

/**
 * Follows the redirects of one request, by the same rules in all clients: not in a circle, not too
 * often, and only where {@link redirectTarget} allows it. Private addresses are refused where
 * connections are made.
 */
export class RedirectTrail {
  readonly #seen: string[] = [];

  /**
   * The address to ask next.
   *
   * @throws MM_REFUSED
   */
  follow(from: string, location: string): string {
    this.#seen.push(from);
    const next = redirectTarget(from, location);
    if (this.#seen.includes(next)) throw refused(from, "the server redirects in a circle");
    if (this.#seen.length > MAX_REDIRECTS) {
      throw refused(from, `the server redirects more than ${MAX_REDIRECTS} times`);
    }
    return next;
  }
}

/**
 * The address a `Location` leads to. Whole addresses and absolute paths stay as they are, without
 * the fragment; only relative ones are resolved. Bytes that no URI has are percent-encoded one by
 * one, whatever encoding they are of.
 *
 * The address has no user name: what the user gave for one origin is not sent because a server asks
 * for it.
 *
 * @throws MM_REFUSED when it is not a web address, names a user, or leads from https to http.
 */
export function redirectTarget(from: string, location: string): string {
  const base = new URL(from);
  const [written = ""] = sendableUri(location.trim()).split("#");
  const target = resolved(base, written);
  const to = URL.canParse(target) ? new URL(target) : undefined;
  if (to === undefined || (to.protocol !== "http:" && to.protocol !== "https:")) {
    throw refused(from, `it redirects to ${quote(location)}, which is not a web address`);
  }
  if (to.username !== "" || to.password !== "") {
    throw refused(from, `it redirects to ${quote(to.origin)} with a user name`);
  }
  if (base.protocol === "https:" && to.protocol === "http:") {
    throw refused(
      from,
      `it redirects from https to ${quote(target)}, which anybody could tamper with`,
    );
  }
  return target;
}

function resolved(base: URL, target: string): string {
  if (/^https?:\/\//i.test(target)) return target;
  if (target.startsWith("//")) return base.protocol + target;
  if (target.startsWith("/")) return base.origin + target;
  // Without the user: `href` would have it.
  const from = base.origin + base.pathname + base.search;
  return URL.canParse(target, from) ? new URL(target, from).href : target;
}

function refused(url: string, message: string): MementoMapError {
  return new MementoMapError("MM_REFUSED", message, {
    position: { source: url },
    reason: "redirect",
  });
}
