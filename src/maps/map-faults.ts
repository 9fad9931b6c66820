import { quote } from "../errors.ts";
import { ANY_QUERY, hasQuery, hostEnd, type KeyOptions } from "../surt/key.ts";
import { ownSpelling } from "../surt/spelling.ts";

/**
 * Problems that a map can have. Stable, like error codes: scripts may filter by them.
 *
 * Errors break a rule of the format: readers reject the map, or cannot find keys that it holds.
 * Warnings concern lines that readers accept but that were probably not intended.
 */
export const FAULT_SEVERITIES = {
  "bad-columns": "error",
  "bad-datetime": "error",
  "bad-frequency": "error",
  "bad-header": "error",
  "bad-key": "error",
  "blank-line": "warning",
  "byte-order-mark": "warning",
  crlf: "warning",
  cut: "error",
  damaged: "error",
  "duplicate-key": "error",
  "home-without-slash": "warning",
  "idle-exclusion": "warning",
  "late-header": "error",
  "line-too-long": "error",
  "missing-fields": "warning",
  "no-final-newline": "warning",
  "no-records": "warning",
  "not-a-map": "error",
  "not-sorted": "error",
  "not-text": "error",
  "query-in-key": "warning",
  "star-in-key": "warning",
  "total-too-small": "warning",
  "wildcard-too-small": "warning",
} as const satisfies Record<string, "error" | "warning">;

export type FaultCode = keyof typeof FAULT_SEVERITIES;

/** One problem of a map. */
export interface Fault {
  /** Counted from 1. */
  readonly line: number;
  readonly severity: "error" | "warning";
  readonly code: FaultCode;
  readonly message: string;
}

/** Creates a fault with the severity of its code. */
export function fault(line: number, code: FaultCode, message: string): Fault {
  return { line, severity: FAULT_SEVERITIES[code], code, message };
}

/** A problem with the form of a key. */
export interface KeyFault {
  readonly code: FaultCode;
  readonly message: string;
}

/** A URI without a host, such as `dns:example.com`. */
const OPAQUE = /^[^/]*:/;

/**
 * Checks the form of a key: whether any lookup can query it.
 *
 * Reports at most one fault: later ones are often consequences of the first.
 */
export function keyFault(key: string, options: KeyOptions = {}): KeyFault | undefined {
  if (options.queries === true && hasQuery(key)) return queryFault(key);
  if (key.endsWith(ANY_QUERY)) {
    return bad(key, 'matches any query, but "!fields" lacks "queries": true');
  }
  if (key === "*") return undefined;
  const paren = hostEnd(key);
  if (paren < 0) return key.endsWith(",*") ? hostFault(key, key.slice(0, -2)) : pathlessFault(key);
  const isSpread = key.slice(0, paren).endsWith(",*");
  const host = key.slice(0, isSpread ? paren - 2 : paren);
  return hostFault(key, host) ?? pathFault(key, key.slice(paren + 1), isSpread);
}

/** Checks a key with a query, in a map with queries. */
function queryFault(key: string): KeyFault | undefined {
  if (hasRawStar(key, { queries: true })) return rawStar(key);
  const mark = key.indexOf("?", Math.max(0, hostEnd(key)));
  if (key.endsWith("?") && mark === key.length - 1) {
    return bad(key, 'has an empty query; a page without a query has no "?"');
  }
  const query = key.slice(mark);
  if (query !== ANY_QUERY && query.includes("*")) {
    return bad(key, 'has a "*" in its query; write it as "%2a"');
  }
  const page = keyFault(key.slice(0, mark));
  if (page === undefined && /[,/]\*$/.test(key.slice(0, mark))) {
    return bad(key, "has a query after a wildcard");
  }
  return page?.code === "bad-key" ? { ...page, message: `${page.message}: ${quote(key)}` } : page;
}

function hasRawStar(key: string, options: KeyOptions = {}): boolean {
  return key.includes("*") && ownSpelling(key, options) !== key;
}

function rawStar(key: string): KeyFault {
  return {
    code: "star-in-key",
    message: `key ${quote(key)} has a "*" that is not a wildcard; write it as "%2a" (merge does)`,
  };
}

function pathlessFault(key: string): KeyFault | undefined {
  if (OPAQUE.test(key)) return undefined;
  if (key.includes(")")) return bad(key, 'has no "/" after its ")"');
  return key.includes("/")
    ? bad(key, 'has no ")" between host and path')
    : bad(key, 'has neither a path nor a wildcard; a home page ends in ")/"');
}

function hostFault(key: string, host: string): KeyFault | undefined {
  // `http://a..com/` has an empty label within, and lookups query it.
  const labels = host.split(",");
  if (labels[0] === "" || labels.at(-1) === "") return bad(key, "has an empty host label");
  if (labels.includes("*"))
    return bad(key, "has a wildcard in the middle; it may only be the last label");
  if (host.includes(")")) return bad(key, 'has a ")" in its host; write it as "%29"');
  if (/[A-Z]/.test(host)) return bad(key, "has upper-case letters in its host; SURTs have none");
  return host.includes("/") ? bad(key, 'has a path before its ")"') : undefined;
}

function pathFault(key: string, path: string, isSpread: boolean): KeyFault | undefined {
  if (path === "") {
    return isSpread
      ? bad(key, 'needs a path after ",*)"')
      : {
          code: "home-without-slash",
          message: `key ${quote(key)} is a home page without its slash; write ${quote(`${key}/`)}`,
        };
  }
  if (!path.startsWith("/")) return bad(key, 'has no "/" after its ")"');
  const query = path.indexOf("?");
  if (query >= 0) {
    return {
      code: "query-in-key",
      message: `key ${quote(key)} has a query; a map usually has one row for all queries of a page`,
    };
  }
  if (path.length > 1 && path.endsWith("/")) {
    return bad(key, "ends in a slash; no lookup matches such a key, except the root");
  }
  if (hasRawStar(key)) return rawStar(key);
  const segments = path.slice(1).split("/");
  const star = segments.indexOf("*");
  if (star < 0) return undefined;
  if (isSpread) return bad(key, "has a wildcard in its path as well as in its host");
  return star < segments.length - 1
    ? bad(key, 'has a wildcard in the middle; write a literal "*" in a path as "%2a"')
    : undefined;
}

function bad(key: string, what: string): KeyFault {
  return { code: "bad-key", message: `key ${quote(key)} ${what}` };
}
