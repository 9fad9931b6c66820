// Session ids that web servers put into URLs, and that CDX keys leave out. The rules look for the
// last id of each kind. They are written as backward scans, because the regular expressions they
// come from take quadratic time on hostile input. All input is lower-case ASCII.

const ASPX = ".aspx";
const ASP_NET_ID = /[0-9a-z]{24}\)/y;
const ASP_NET_LABELLED_ID = /[a-z]\([0-9a-z]{24}\)/y;

/** Removes ASP.NET session segments, `/(S(…))/` and `/(…)/`, in front of an `.aspx` page. */
export function stripPathSessionIds(path: string): string {
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
  // Both are kept up to date while `open` moves left, so that no candidate searches the rest again.
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

/** Removes the session parameters of Java, PHP, ASP and ColdFusion, and a bare `sid`. */
export function stripQuerySessionIds(query: string): string {
  let rest = query;
  if (!rest.includes("id")) return rest;
  rest = stripLastParameter(rest, "jsessionid=", SESSION_VALUE);
  rest = stripLastParameter(rest, "phpsessid=", SESSION_VALUE);
  rest = stripLastParameter(rest, "sid=", SESSION_VALUE);
  rest = stripLastParameter(rest, "aspsessionid", ASP_SESSION_VALUE);
  return stripLastColdFusionIds(rest);
}

const SESSION_VALUE = /[0-9a-z]{32}(?=&|$)/y;
const ASP_SESSION_VALUE = /[a-z]{8}=[a-z]{24}(?=&|$)/y;

function stripLastParameter(query: string, name: string, value: RegExp): string {
  for (let at = query.lastIndexOf(name); at !== -1; at = lastIndexBefore(query, name, at)) {
    value.lastIndex = at + name.length;
    if (value.test(query)) return cut(query, at, value.lastIndex);
  }
  return query;
}

/** `cfid=…&cftoken=…`, side by side and neither empty. */
function stripLastColdFusionIds(query: string): string {
  const token = "&cftoken=";
  for (let at = query.lastIndexOf(token); at !== -1; at = lastIndexBefore(query, token, at)) {
    if (at === 0) break;
    const valueStart = at + token.length;
    const nextParameter = query.indexOf("&", valueStart);
    const end = nextParameter === -1 ? query.length : nextParameter;
    const idStart = query.lastIndexOf("&", at - 1) + 1;
    const id = query.slice(idStart, at - 1).lastIndexOf("cfid=");
    if (end > valueStart && id !== -1) return cut(query, idStart + id, end);
  }
  return query;
}

function lastIndexBefore(text: string, part: string, at: number): number {
  return at === 0 ? -1 : text.lastIndexOf(part, at - 1);
}

/** What stands before the id stays as it is, `&` and all; the `&` after the id goes with it. */
function cut(query: string, start: number, end: number): string {
  return query.slice(0, start) + query.slice(end + 1);
}
