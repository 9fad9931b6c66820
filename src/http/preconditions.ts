import type { IncomingHttpHeaders } from "node:http";
import { type Representation, versionOf } from "./representation.ts";

/** What a conditional request gets: the content, or only the news that nothing changed. */
export type Outcome = "send" | "not-modified" | "precondition-failed";

/** The part asked for: `[start, end)`; the whole; or none that exists. */
export type RangeOutcome =
  | { readonly start: number; readonly end: number }
  | "whole"
  | "unsatisfiable";

/**
 * Judges the conditions of a GET or HEAD in the order of RFC 9110, section 13.2.2.
 *
 * `If-None-Match` counts a tag of another coding of the same version as a match: what that client
 * holds is current, whichever coding would be chosen now.
 */
export function judgeConditions(headers: IncomingHttpHeaders, found: Representation): Outcome {
  const ifMatch = headers["if-match"];
  if (ifMatch !== undefined) {
    if (!matchesStrongly(ifMatch, found.etag)) return "precondition-failed";
  } else {
    const unmodifiedSince = httpTime(headers["if-unmodified-since"]);
    if (unmodifiedSince !== undefined && modifiedAt(found) > unmodifiedSince) {
      return "precondition-failed";
    }
  }
  const ifNoneMatch = headers["if-none-match"];
  if (ifNoneMatch !== undefined) {
    return matchesVersion(ifNoneMatch, found.etag) ? "not-modified" : "send";
  }
  const modifiedSince = httpTime(headers["if-modified-since"]);
  return modifiedSince !== undefined && modifiedAt(found) <= modifiedSince
    ? "not-modified"
    : "send";
}

const SINGLE_RANGE = /^\s*bytes\s*=\s*(?:(\d{1,15})\s*-\s*(\d{1,15})?|-\s*(\d{1,15}))\s*,?\s*$/i;

/**
 * Reads `Range`, if `If-Range` still holds.
 *
 * Several ranges, other units and anything malformed are answered with the whole, as RFC 9110,
 * section 14.2 allows: no client of maps needs them, and many small ranges cost a server much.
 */
export function judgeRange(headers: IncomingHttpHeaders, found: Representation): RangeOutcome {
  const { range } = headers;
  const ifRange = headers["if-range"]?.toString();
  if (range === undefined || (ifRange !== undefined && !isStillThe(found, ifRange))) return "whole";
  const [all, from, to, last] = SINGLE_RANGE.exec(range) ?? [];
  if (all === undefined) return "whole";
  const { size } = found.body;
  if (from === undefined) {
    const length = Number(last);
    if (length === 0 || size === 0) return "unsatisfiable";
    return { start: Math.max(0, size - length), end: size };
  }
  const start = Number(from);
  if (to !== undefined && Number(to) < start) return "whole";
  if (start >= size) return "unsatisfiable";
  return { start, end: to === undefined ? size : Math.min(Number(to) + 1, size) };
}

function isStillThe(found: Representation, ifRange: string): boolean {
  const text = ifRange.trim();
  if (text.startsWith('"')) return text === found.etag;
  const time = httpTime(text);
  return time !== undefined && time === modifiedAt(found);
}

function matchesStrongly(header: string, etag: string): boolean {
  return header.trim() === "*" || tagsOf(header).includes(etag);
}

function matchesVersion(header: string, etag: string): boolean {
  if (header.trim() === "*") return true;
  const version = versionOf(etag);
  return tagsOf(header).some((tag) => versionOf(tag) === version);
}

function tagsOf(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}

/** Whole seconds, as HTTP has them. */
function modifiedAt({ lastModified }: Representation): number {
  return Math.floor(lastModified.getTime() / 1000) * 1000;
}

function httpTime(text: string | undefined): number | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
