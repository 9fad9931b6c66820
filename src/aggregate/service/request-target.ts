import { isMementoMapError } from "../../errors.ts";
import { originalUri } from "../original-uri.ts";
import { parsePaddedDatetime } from "../../memento/datetime.ts";
import type { TimeMapFormat } from "../../memento/timemap-document.ts";

/** What there is to know about the service itself; also the paths it is at. */
export type StatusName =
  | "about"
  | "about.json"
  | "archives.json"
  | "monitor"
  | "health"
  | "metrics"
  | "openapi.json";

/** What a request target asks for. The original is as sent, but for `http://` where it has none. */
export type AggregatorTarget =
  | {
      readonly name: "timemap";
      readonly format: TimeMapFormat;
      /** Counted from 1; undefined for the whole, or its first page where it is too long. */
      readonly page: number | undefined;
      readonly original: string;
    }
  | { readonly name: "timegate"; readonly original: string }
  | { readonly name: "memento"; readonly datetime: number; readonly original: string }
  | {
      readonly name: "description";
      readonly format: TimeMapFormat;
      readonly datetime: number;
      readonly original: string;
    }
  | { readonly name: "proxy"; readonly datetime: number; readonly original: string }
  | { readonly name: "summary"; readonly original: string }
  | { readonly name: "route"; readonly original: string }
  | { readonly name: StatusName }
  | { readonly name: "malformed"; readonly detail: string }
  | { readonly name: "unknown" };

const TIMEMAP_HELP =
  "write /timemap/FORMAT/URI or /timemap/FORMAT/PAGE/URI, where FORMAT is link, json or cdxj";
const MEMENTO_HELP =
  "write /memento/DATETIME/URI, /memento/FORMAT/DATETIME/URI or /memento/proxy/DATETIME/URI, where FORMAT is link, json or cdxj and DATETIME is YYYY[MM[DD[hh[mm[ss]]]]]";
const UNKNOWN: AggregatorTarget = { name: "unknown" };
/** A page is at most six digits, so that hosts that are numbers are not taken for one. */
const MAX_PAGE_DIGITS = 6;

/**
 * Reads a request target behind the service's root, which it begins without a slash:
 * `timemap/link/http://example.org/`.
 *
 * The original is the raw rest. Slices, and decodes nothing.
 */
export function aggregatorTarget(target: string): AggregatorTarget {
  const slash = target.indexOf("/");
  const head = slash === -1 ? target : target.slice(0, slash);
  const rest = slash === -1 ? "" : target.slice(slash + 1);
  switch (head) {
    case "timemap":
      return timeMapTarget(rest);
    case "timegate":
      return withOriginal(rest, "write /timegate/URI", (original) => ({ name: head, original }));
    case "memento":
    case "api":
      return mementoTarget(rest);
    case "route":
    case "summary":
      return withOriginal(rest, `write /${head}/URI`, (original) => ({ name: head, original }));
    default:
      return plainTarget(target);
  }
}

function plainTarget(target: string): AggregatorTarget {
  const mark = target.indexOf("?");
  const path = mark === -1 ? target : target.slice(0, mark);
  switch (path) {
    case "":
    case "about":
      return { name: "about" };
    case "about.json":
    case "archives.json":
    case "monitor":
    case "health":
    case "metrics":
    case "openapi.json":
      return { name: path };
    default:
      return UNKNOWN;
  }
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
