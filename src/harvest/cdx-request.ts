import { badInput, MementoMapError, quote } from "../errors.ts";

/** A query to a CDX server. */
export interface CdxQuery {
  readonly url: string;
  /** The scope of the match; exactly this URL by default. */
  readonly match?: CdxMatch | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export const CDX_MATCHES = ["exact", "prefix", "host", "domain"] as const;
type CdxMatch = (typeof CDX_MATCHES)[number];

/**
 * How a server pages long responses: with resume keys (Internet Archive), as numbered pages (pywb on
 * a ZipNum index, Common Crawl), or not at all, in one stream (pywb, OutbackCDX).
 */
export const CDX_PAGINGS = ["resume", "pages", "stream"] as const;
export type CdxPaging = (typeof CDX_PAGINGS)[number];

/** Lines per request to servers with resume keys. */
const DEFAULT_LINES_PER_PAGE = 10_000;

/** The position at which a harvest continues. */
export type CdxCursor =
  | { readonly paging: "resume"; readonly key: string | undefined }
  | {
      readonly paging: "pages";
      readonly page: number;
      readonly pages: number;
      /** The maximum number of rows of a page verified to be complete. */
      readonly checkedRows?: number | undefined;
    }
  | { readonly paging: "stream" };

/**
 * More rows than any server sends. Without a limit, some silently stop at their own (pywb at
 * 100,000).
 */
const NO_LIMIT = 1_000_000_000;

/**
 * The request that detects how a server pages; see {@link cursorOfProbe}.
 *
 * Servers without pages return captures, and some of them ignore the limit (pywb), so it requests a
 * page that is in no archive.
 */
export function probeUrl(api: string, { url }: CdxQuery): string {
  const host = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:\*\.)?([^/?#*]+)/i.exec(url)?.[1] ?? url;
  const probe = { url: `${host}/mementomap-asks-how-this-server-pages` };
  return requestUrl(api, probe, { showNumPages: "true", limit: "1" });
}

/** The request for the number of pages. */
export function pageCountUrl(api: string, query: CdxQuery): string {
  return requestUrl(api, query, { showNumPages: "true", limit: "1" });
}

/** The request for the last row at a cursor. */
export function lastRowUrl(api: string, query: CdxQuery, cursor: CdxCursor): string {
  const page = cursor.paging === "pages" ? String(cursor.page) : undefined;
  return requestUrl(api, query, { page, sort: "reverse", limit: "1" });
}

/** Detects from the response to {@link probeUrl} how a server pages, and returns the first cursor. */
export function cursorOfProbe(answer: string): CdxCursor {
  if (/^\s*\d+\s*$/.test(answer)) return { paging: "resume", key: undefined };
  const pages = pagesOf(answer);
  return pages === undefined ? { paging: "stream" } : { paging: "pages", page: 0, pages };
}

function pagesOf(answer: string): number | undefined {
  if (!/^\s*\{/.test(answer)) return undefined;
  try {
    const { pages } = JSON.parse(answer) as { pages?: unknown };
    const isCount = typeof pages === "number" && Number.isSafeInteger(pages) && pages >= 0;
    return isCount ? pages : undefined;
  } catch {
    return undefined; // index lines may also begin with a brace
  }
}

/** The next request of a harvest; undefined at the end. */
export function pageUrl(
  api: string,
  query: CdxQuery,
  cursor: CdxCursor,
  linesPerPage: number | undefined,
): string | undefined {
  const limit = String(limitOf(cursor, linesPerPage));
  switch (cursor.paging) {
    case "resume":
      return requestUrl(api, query, { limit, showResumeKey: "true", resumeKey: cursor.key });
    case "pages":
      return cursor.page < cursor.pages
        ? requestUrl(api, query, { page: String(cursor.page), limit })
        : undefined;
    case "stream":
      return requestUrl(api, query, { limit });
  }
}

/** The number of rows per request. */
export function limitOf({ paging }: CdxCursor, linesPerPage: number | undefined): number {
  if (paging === "pages") return NO_LIMIT; // the server determines the page size
  return linesPerPage ?? (paging === "resume" ? DEFAULT_LINES_PER_PAGE : NO_LIMIT);
}

/**
 * The cursor after a page, or undefined at the end.
 *
 * @param source the URL of the page.
 * @throws MM_BAD_INPUT when the server repeats the resume key.
 */
export function nextCursor(
  cursor: CdxCursor,
  resumeKey: string | undefined,
  source: string,
): CdxCursor | undefined {
  switch (cursor.paging) {
    case "resume":
      if (resumeKey === undefined) return undefined;
      if (resumeKey !== cursor.key) return { paging: "resume", key: resumeKey };
      throw badInput(
        source,
        `the server repeats the resume key ${quote(resumeKey)}, so the harvest would never end`,
      );
    case "pages":
      return cursor.page + 1 < cursor.pages ? { ...cursor, page: cursor.page + 1 } : undefined;
    case "stream":
      return undefined;
  }
}

/** The end of a response that is not the last one. */
interface ResumeEnd {
  readonly key: string;
  /** Characters of the response that are not part of the index. */
  readonly length: number;
  /** Lines of the response that are not part of the index. */
  readonly lines: number;
}

/**
 * Finds the resume key at the end of a response: a blank line, then the key.
 *
 * @param tail the last bytes of the response, one character each, including its last two lines or all
 *   of it; the last line must be terminated.
 */
export function resumeEnd(tail: string): ResumeEnd | undefined {
  const [, end, key] = /(?:^|\n)(\r?\n(\S+)\s*)$/.exec(tail) ?? [];
  if (end === undefined || key === undefined) return undefined;
  // The key is already percent-encoded; encoding it again would change it.
  return { key: decodeKey(key), length: end.length, lines: end.split("\n").length - 1 };
}

function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

function requestUrl(
  api: string,
  { url, match, from, to }: CdxQuery,
  more: Readonly<Record<string, string | undefined>>,
): string {
  const matchType = match === "exact" ? undefined : match;
  return withParameters(api, { url, matchType, from, to, ...more });
}

/** A server URL with these query parameters, except for undefined ones. */
export function withParameters(
  api: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const address = serverAddress(api);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) address.searchParams.set(name, value);
  }
  return address.href;
}

/**
 * Parses the HTTP URL of a server.
 *
 * @throws MM_USAGE for anything else.
 */
export function serverAddress(api: string): URL {
  if (URL.canParse(api)) {
    const url = new URL(api);
    if (url.protocol === "http:" || url.protocol === "https:") return url;
  }
  throw new MementoMapError(
    "MM_USAGE",
    `not an HTTP URL: ${quote(api)}; expected a URL such as https://example.org/cdx`,
  );
}

/** A hint for servers that return an HTML page. */
export function whereTheApiIs(address: string): string {
  const { origin, pathname } = serverAddress(address);
  const [collection = ""] = pathname.split("/").filter((part) => part !== "" && part !== "cdx");
  const guess = collection === "" ? "" : `, perhaps ${origin}/${collection}/cdx`;
  return `the CDX API of pywb is at /COLLECTION/cdx${guess}`;
}

/** The error for a server that returns an HTML page. */
export function htmlAnswer(source: string): MementoMapError {
  return badInput(
    source,
    `the server returned an HTML page, not an index; ${whereTheApiIs(source)}`,
  );
}
