import { quote } from "../errors.ts";
import { currentSpelling, hostEnd } from "../surt/key.ts";
import type { FaultCode } from "./fault.ts";

/** What is wrong with the form of a key. */
export interface KeyFault {
  readonly code: FaultCode;
  readonly message: string;
}

/** A URI without a host, such as `dns:example.com`. */
const OPAQUE = /^[^/]*:/;

/**
 * Checks the form of a key: whether some lookup may ask for it.
 *
 * At most one fault: what follows the first one is often a consequence of it.
 */
export function keyFault(key: string): KeyFault | undefined {
  if (key === "*") return undefined;
  const paren = hostEnd(key);
  if (paren < 0) return key.endsWith(",*") ? hostFault(key, key.slice(0, -2)) : pathlessFault(key);
  const isSpread = key.slice(0, paren).endsWith(",*");
  const host = key.slice(0, isSpread ? paren - 2 : paren);
  return hostFault(key, host) ?? pathFault(key, key.slice(paren + 1), isSpread);
}

function pathlessFault(key: string): KeyFault | undefined {
  if (OPAQUE.test(key)) return undefined;
  if (key.includes(")")) return bad(key, 'has no "/" behind its ")"');
  return key.includes("/")
    ? bad(key, 'has no ")" between host and path')
    : bad(key, 'has neither a path nor a wildcard; a home page ends in ")/"');
}

function hostFault(key: string, host: string): KeyFault | undefined {
  // `http://a..com/` has an empty label within, and a lookup asks for it.
  const labels = host.split(",");
  if (labels[0] === "" || labels.at(-1) === "") return bad(key, "has an empty host label");
  if (labels.includes("*"))
    return bad(key, "has a wildcard in the middle; it may only be the last label");
  if (host.includes(")")) return bad(key, 'has a ")" in its host; it is written "%29"');
  if (/[A-Z]/.test(host)) return bad(key, "has upper-case letters in its host; SURTs have none");
  return host.includes("/") ? bad(key, 'has a path before its ")"') : undefined;
}

function pathFault(key: string, path: string, isSpread: boolean): KeyFault | undefined {
  if (path === "") {
    return isSpread
      ? bad(key, 'needs a path behind ",*)"')
      : {
          code: "home-without-slash",
          message: `key ${quote(key)} is a home page, which is written with a slash: ${quote(`${key}/`)}`,
        };
  }
  if (!path.startsWith("/")) return bad(key, 'has no "/" behind its ")"');
  const query = path.indexOf("?");
  if (query >= 0) {
    return {
      code: "query-in-key",
      message: `key ${quote(key)} has a query; a map usually has one row for all queries of a page`,
    };
  }
  if (path.length > 1 && path.endsWith("/")) {
    return bad(key, "ends in a slash; only the root does, and no lookup asks for it");
  }
  if (currentSpelling(key) !== key) {
    return {
      code: "star-in-key",
      message: `key ${quote(key)} has a "*" that is no wildcard, which is written "%2a"; merge rewrites it`,
    };
  }
  const segments = path.slice(1).split("/");
  const star = segments.indexOf("*");
  if (star < 0) return undefined;
  if (isSpread) return bad(key, "has a wildcard in its path as well as in its host");
  return star < segments.length - 1
    ? bad(key, 'has a wildcard in the middle; a "*" that belongs to a path is written "%2a"')
    : undefined;
}

function bad(key: string, what: string): KeyFault {
  return { code: "bad-key", message: `key ${quote(key)} ${what}` };
}
