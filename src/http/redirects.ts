import { MementoMapError, quote } from "../errors.ts";
import type { ResponseHead } from "./http-client.ts";
import { sendableUri } from "../memento/memento-list.ts";

/** Max redirects followed per request. */
export const MAX_REDIRECTS = 5;

export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** The `Location` of a redirect; undefined for other responses. */
export function redirectOf({
  status,
  headers,
}: Pick<ResponseHead, "status" | "headers">): string | undefined {
  return isRedirect(status) ? (headers.get("location") ?? undefined) : undefined;
}

/**
 * Follows the redirects of one request, with the same rules in all clients: no loops, a maximum count, and only
 * targets that {@link redirectTarget} allows. Private addresses are rejected when connections are made.
 */
export class RedirectTrail {
  readonly #seen: string[] = [];

  /**
   * The next URL to request.
   *
   * @throws MM_REFUSED
   */
  follow(from: string, location: string): string {
    this.#seen.push(from);
    const next = redirectTarget(from, location);
    if (this.#seen.includes(next)) throw refused(from, "redirect loop");
    if (this.#seen.length > MAX_REDIRECTS) {
      throw refused(from, `more than ${MAX_REDIRECTS} redirects`);
    }
    return next;
  }
}

/**
 * The target URL of a `Location`. Absolute URLs and absolute paths are used unchanged, without the fragment; only
 * relative references are resolved. Bytes not allowed in URIs are percent-encoded one by one, whatever their charset.
 *
 * A redirect must not contain credentials: a server must not make the client send any.
 *
 * @throws MM_REFUSED when it is not a web address, has a user name, or leads from https to http.
 */
export function redirectTarget(from: string, location: string): string {
  const base = new URL(from);
  const [written = ""] = sendableUri(location.trim()).split("#");
  const target = resolved(base, written);
  const to = URL.canParse(target) ? new URL(target) : undefined;
  if (to === undefined || (to.protocol !== "http:" && to.protocol !== "https:")) {
    throw refused(from, `redirects to ${quote(location)}, which is not a web address`);
  }
  if (to.username !== "" || to.password !== "") {
    throw refused(from, `redirects to ${quote(to.origin)} with a user name`);
  }
  if (base.protocol === "https:" && to.protocol === "http:") {
    throw refused(from, `insecure redirect from https to ${quote(target)}`);
  }
  return target;
}

function resolved(base: URL, target: string): string {
  if (/^https?:\/\//i.test(target)) return target;
  if (target.startsWith("//")) return base.protocol + target;
  if (target.startsWith("/")) return base.origin + target;
  // Not `href`, which would include the user name.
  const from = base.origin + base.pathname + base.search;
  return URL.canParse(target, from) ? new URL(target, from).href : target;
}

function refused(url: string, message: string): MementoMapError {
  return new MementoMapError("MM_REFUSED", message, {
    position: { source: url },
    reason: "redirect",
  });
}
