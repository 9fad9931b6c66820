import { badInput, MementoMapError, quote } from "../errors.ts";

/** Which captures to ask a CDX server for. */
export interface CdxQuery {
  readonly url: string;
  /** How far beyond the URL to go; exactly this URL by default. */
  readonly match?: CdxMatch | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export const CDX_MATCHES = ["exact", "prefix", "host", "domain"] as const;
type CdxMatch = (typeof CDX_MATCHES)[number];

/**
 * How a server gives a long answer: bit by bit with a key to go on from (Internet Archive), as
 * numbered pages (pywb on a ZipNum index, Common Crawl), or in one stream (pywb, OutbackCDX).
 */
export const CDX_PAGINGS = ["resume", "pages", "stream"] as const;
export type CdxPaging = (typeof CDX_PAGINGS)[number];

/** Lines to ask a server with resume keys for. */
const DEFAULT_LINES_PER_PAGE = 10_000;

/** Where a harvest goes on. */
export type CdxCursor =
  | { readonly paging: "resume"; readonly key: string | undefined }
  | {
      readonly paging: "pages";
      readonly page: number;
      readonly pages: number;
      /** The most rows of a page that is known to be whole. */
      readonly checkedRows?: number | undefined;
    }
  | { readonly paging: "stream" };

/**
 * More rows than any server sends. Without a limit some stop at one of their own (pywb at 100,000)
 * and do not say so.
 */
const NO_LIMIT = 1_000_000_000;

/**
 * The request that finds out how a server pages; see {@link cursorOfProbe}.
 *
 * Servers without pages answer it with captures and some of them ignore the limit (pywb), so it
 * names a page that no archive holds.
 */
export function probeUrl(api: string, { url }: CdxQuery): string {
  const host = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:\*\.)?([^/?#*]+)/i.exec(url)?.[1] ?? url;
  const probe = { url: `${host}/mementomap-asks-how-this-server-pages` };
  return requestUrl(api, probe, { showNumPages: "true", limit: "1" });
}

/** The request for the number of pages, of a server that has some. */
export function pageCountUrl(api: string, query: CdxQuery): string {
  return requestUrl(api, query, { showNumPages: "true", limit: "1" });
}

/** The request for the last row of what a cursor asks for. */
export function lastRowUrl(api: string, query: CdxQuery, cursor: CdxCursor): string {
  const page = cursor.paging === "pages" ? String(cursor.page) : undefined;
  return requestUrl(api, query, { page, sort: "reverse", limit: "1" });
}

/** Detects from the answer to {@link probeUrl} how a server pages, and where to begin. */
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
    return undefined; // a line of an index may begin with a brace too
  }
}

/** The next request of a harvest; undefined when there is none left. */
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

/** The rows to ask for at a time. */
export function limitOf({ paging }: CdxCursor, linesPerPage: number | undefined): number {
  if (paging === "pages") return NO_LIMIT; // the server decides what a page is
  return linesPerPage ?? (paging === "resume" ? DEFAULT_LINES_PER_PAGE : NO_LIMIT);
}

/**
 * What follows a page: where to go on, or undefined at the end.
 *
 * @param source the address of the page.
 * @throws MM_BAD_INPUT when the resume key leads back to where the harvest was.
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
        `the server returns the resume key ${quote(resumeKey)} again, so the answer would never end`,
      );
    case "pages":
      return cursor.page + 1 < cursor.pages ? { ...cursor, page: cursor.page + 1 } : undefined;
    case "stream":
      return undefined;
  }
}

/** What ends an answer that is not the last. */
interface ResumeEnd {
  readonly key: string;
  /** Characters of the answer that are not of the index. */
  readonly length: number;
  /** Lines of the answer that are not of the index. */
  readonly lines: number;
}

/**
 * Finds the resume key that may end an answer: a blank line, then the key.
 *
 * @param tail the last bytes of the answer, each as a character, from the start of the answer or from
 *   before its last two lines; the last line has its end.
 */
export function resumeEnd(tail: string): ResumeEnd | undefined {
  const [, end, key] = /(?:^|\n)(\r?\n(\S+)\s*)$/.exec(tail) ?? [];
  if (end === undefined || key === undefined) return undefined;
  // A key is percent-encoded as it must be sent; encoding it again would change it.
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

/** An address of a server with these parameters, but for those that are undefined. */
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
 * The address of a server that a harvest asks.
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
    `not the URL of a server: ${quote(api)}; write https://example.org/cdx`,
  );
}

/** What to try where a server answers with a page for people. */
export function whereTheApiIs(address: string): string {
  const { origin, pathname } = serverAddress(address);
  const [collection = ""] = pathname.split("/").filter((part) => part !== "" && part !== "cdx");
  const guess = collection === "" ? "" : `, here perhaps ${origin}/${collection}/cdx`;
  return `the CDX API of pywb is at /COLLECTION/cdx${guess}`;
}

/** The error about a server that answers with a page for people. */
export function htmlAnswer(source: string): MementoMapError {
  return badInput(
    source,
    `the server answers with a page in HTML, not with an index; ${whereTheApiIs(source)}`,
  );
}
