import { isMementoMapError, MementoMapError, quote } from "../../errors.ts";
import { parsePaddedDatetime } from "../../memento/datetime.ts";
import type { TimeMapFormat } from "../../memento/timemap-document.ts";
import type { ViewName } from "../../page/page-data.ts";

/** What there is to know about the service itself; also the paths it is at. */
export type StatusName =
  | "about"
  | "about.json"
  | "archives.json"
  | "history.json"
  | "monitor"
  | "health"
  | "metrics"
  | "openapi.json"
  | "opensearch.xml";

/** What archives are asked for. The original is as sent, except for `http://` where it has none. */
export type AggregationTarget =
  | {
      readonly name: "timemap";
      readonly format: TimeMapFormat;
      /** Counted from 1; undefined for the whole, or its first page where it is too long. */
      readonly page: number | undefined;
      readonly original: string;
    }
  | { readonly name: "timegate"; readonly datetime: number; readonly original: string }
  | { readonly name: "memento"; readonly datetime: number; readonly original: string }
  | {
      readonly name: "description";
      readonly format: TimeMapFormat;
      readonly datetime: number;
      readonly original: string;
    }
  | { readonly name: "proxy"; readonly datetime: number; readonly original: string }
  | { readonly name: "summary"; readonly original: string };

/** Mementos as they come. */
interface StreamTarget {
  readonly name: "stream";
  readonly original: string;
}

export type AskedTarget = AggregationTarget | StreamTarget;

/** What a request target asks for. */
export type AggregatorTarget =
  | Exclude<AggregationTarget, { readonly name: "timegate" }>
  /** Its moment is in `Accept-Datetime`. */
  | { readonly name: "timegate"; readonly original: string }
  | { readonly name: "route"; readonly original: string }
  | StreamTarget
  /** At the root, browsers get the first page of the application. */
  | { readonly name: StatusName; readonly isRoot?: boolean | undefined }
  /** A page of the application. */
  | { readonly name: "view"; readonly view: Exclude<ViewName, "about"> }
  /** Maps of what was learnt: the list, or one of them. */
  | { readonly name: "maps"; readonly path: string }
  /** A file of the application. */
  | { readonly name: "asset"; readonly file: string }
  | { readonly name: "malformed"; readonly detail: string }
  | { readonly name: "unknown" };

const TIMEMAP_HELP =
  "write /timemap/FORMAT/URI or /timemap/FORMAT/PAGE/URI, where FORMAT is link, json or cdxj";
const MEMENTO_HELP =
  "write /memento/DATETIME/URI, /memento/FORMAT/DATETIME/URI or /memento/proxy/DATETIME/URI, where FORMAT is link, json or cdxj and DATETIME is YYYY[MM[DD[hh[mm[ss]]]]]";
/** A page is at most six digits, so that hosts that are numbers are not taken for one. */
const MAX_PAGE_DIGITS = 6;

/** Paths that end in an original, by their first segment. */
const ORIGINAL_PATHS: ReadonlyMap<string, (rest: string) => AggregatorTarget> = new Map([
  ["timemap", timeMapTarget],
  ["timegate", (rest) => namedTarget("timegate", rest)],
  ["memento", mementoTarget],
  ["api", mementoTarget],
  ["summary", (rest) => namedTarget("summary", rest)],
  ["route", (rest) => namedTarget("route", rest)],
  ["stream", (rest) => namedTarget("stream", rest)],
]);

/** The other paths, whole. */
const STATUS_PATHS: ReadonlyMap<string, StatusName> = new Map([
  ["about", "about"],
  ["about.json", "about.json"],
  ["archives.json", "archives.json"],
  ["history.json", "history.json"],
  ["monitor", "monitor"],
  ["health", "health"],
  ["metrics", "metrics"],
  ["openapi.json", "openapi.json"],
  ["opensearch.xml", "opensearch.xml"],
]);

/** The pages of the application besides `/about`. */
const VIEW_PATHS = ["find", "time", "explore", "compare"] as const;

/**
 * Reads a request target behind the service's root, which it begins without a slash:
 * `timemap/link/http://example.org/`.
 *
 * The original is the raw rest. Slices, and decodes nothing.
 */
export function aggregatorTarget(target: string): AggregatorTarget {
  const slash = target.indexOf("/");
  const read = ORIGINAL_PATHS.get(slash === -1 ? target : target.slice(0, slash));
  if (read !== undefined) return read(slash === -1 ? "" : target.slice(slash + 1));
  const [path = ""] = target.split("?", 1);
  const name = STATUS_PATHS.get(path);
  if (name !== undefined) return { name };
  if (path === "") return { name: "about", isRoot: true };
  if (path === "maps" || path.startsWith("maps/")) return { name: "maps", path: `/${path}` };
  const view = VIEW_PATHS.find((each) => each === path);
  if (view !== undefined) return { name: "view", view };
  const [, file] = /^page\/([\w.-]+)$/.exec(path) ?? [];
  return file === undefined ? { name: "unknown" } : { name: "asset", file };
}

function namedTarget(
  name: "timegate" | "summary" | "route" | "stream",
  rest: string,
): AggregatorTarget {
  return withOriginal(rest, `write /${name}/URI`, (original) => ({ name, original }));
}

function timeMapTarget(text: string): AggregatorTarget {
  const format = formatOf(text);
  if (format === undefined) return malformed(TIMEMAP_HELP);
  let rest = text.slice(5);
  const digits = digitsBefore(rest);
  let page: number | undefined;
  if (digits > 0 && digits <= MAX_PAGE_DIGITS) {
    page = Number(rest.slice(0, digits));
    rest = rest.slice(digits + 1);
    if (page === 0) return malformed("pages are counted from 1");
  }
  return withOriginal(rest, TIMEMAP_HELP, (original) => ({
    name: "timemap",
    format,
    page,
    original,
  }));
}

function mementoTarget(text: string): AggregatorTarget {
  const format = formatOf(text);
  const isProxy = text.startsWith("proxy/");
  const rest = format === undefined ? (isProxy ? text.slice(6) : text) : text.slice(5);
  const slash = rest.indexOf("/");
  if (slash === -1) return malformed(MEMENTO_HELP);
  let datetime: number;
  try {
    datetime = parsePaddedDatetime(rest.slice(0, slash));
  } catch (error) {
    if (isMementoMapError(error)) return malformed(error.message);
    throw error;
  }
  return withOriginal(rest.slice(slash + 1), MEMENTO_HELP, (original) => {
    if (format !== undefined) return { name: "description", format, datetime, original };
    return { name: isProxy ? "proxy" : "memento", datetime, original };
  });
}

/** The format that a path begins with; all have four letters. */
function formatOf(text: string): TimeMapFormat | undefined {
  if (text.startsWith("link/")) return "link";
  if (text.startsWith("json/")) return "json";
  return text.startsWith("cdxj/") ? "cdxj" : undefined;
}

/** How many digits a text begins with, if a slash and more follows; else 0. */
function digitsBefore(text: string): number {
  let at = 0;
  while (at < text.length && text.charCodeAt(at) >= 0x30 && text.charCodeAt(at) <= 0x39) at += 1;
  return text.charCodeAt(at) === 0x2f && at + 1 < text.length ? at : 0;
}

function withOriginal(
  raw: string,
  help: string,
  make: (original: string) => AggregatorTarget,
): AggregatorTarget {
  if (raw === "") return malformed(help);
  try {
    return make(originalUri(raw));
  } catch (error) {
    if (isMementoMapError(error)) return malformed(error.message);
    throw error;
  }
}

function malformed(detail: string): AggregatorTarget {
  return { name: "malformed", detail };
}

/** Longer URIs are refused: no archive is known to hold one, and every archive would be bothered. */
export const MAX_ORIGINAL_LENGTH = 8192;

const ENCODED_SCHEME = /^https?%3A%2F%2F/i;
/**
 * What is left of `http://` behind proxies that make one slash of several, as nginx does by default.
 * It can be nothing else: a host `http` with an empty port is not what anybody asks for.
 */
const MERGED_SLASHES = /^(https?):\/([^/].*)$/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

/**
 * The original URI that a client names, as archives are asked for it: as sent, with `http://` in
 * front where it has no scheme. Nothing is decoded, normalised or collapsed; but a URI that begins
 * with `http%3A%2F%2F` was encoded as a whole by the client's library, and is decoded once: no URI
 * that was sent as it is begins like that. And `http:/a` is `http://a` whose slashes a proxy merged.
 *
 * @throws MM_BAD_URI for an empty, an overlong, or one with blanks or control characters in it.
 */
export function originalUri(raw: string): string {
  if (raw === "")
    throw new MementoMapError("MM_BAD_URI", "the URI is missing; write it at the end");
  if (raw.length > MAX_ORIGINAL_LENGTH) {
    throw new MementoMapError(
      "MM_BAD_URI",
      `the URI has ${raw.length} characters; at most ${MAX_ORIGINAL_LENGTH} are accepted`,
    );
  }
  if (raw.startsWith("http%") || raw.startsWith("https%")) return originalUri(decodedOnce(raw));
  for (let i = 0; i < raw.length; i++) {
    const code = raw.charCodeAt(i);
    if (code <= 0x20 || code === 0x7f) {
      throw new MementoMapError(
        "MM_BAD_URI",
        `${quote(raw)} contains a blank or a control character; write %${code.toString(16).padStart(2, "0").toUpperCase()}`,
      );
    }
  }
  // By far the most are written so, and need no pattern.
  if (raw.startsWith("http://") || raw.startsWith("https://")) return raw;
  if (SCHEME.test(raw)) return raw;
  const [, scheme, rest] = MERGED_SLASHES.exec(raw) ?? [];
  return scheme === undefined ? `http://${raw}` : `${scheme}://${rest}`;
}

function decodedOnce(raw: string): string {
  try {
    if (ENCODED_SCHEME.test(raw)) return decodeURIComponent(raw);
  } catch {
    // What encodes no text was not encoded; see below.
  }
  return `http://${raw}`;
}
