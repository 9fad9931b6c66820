import type { Position } from "../errors.ts";
import { MementoMapError, quote } from "../errors.ts";

/**
 * The part of a line to match against patterns: some take quadratic time, and a line may be a megabyte
 * long.
 */
export function startOf(line: string): string {
  return line.slice(0, 4096);
}

/** A line of a MemGator log; `BENCHMARK` was `PROFILE` until May 2016. */
export const MEMGATOR_LINE = /^(?:INFO|ERROR|BENCHMARK|PROFILE): \d{4}\/\d\d\/\d\d /;

/** A line of an access log, in the common or the combined format. */
export const ACCESS_LOG_LINE = /^\S+ \S+ [^[]*\[[^[\]]+\] "(?:[^"\\]|\\.)*" \d{3} /;

/** The start of a CDXJ row: a key, a datetime, and a JSON block. */
export const CDXJ_LINE = /^\S+[ \t]+\d{4,17}[ \t]+\{/;

/** The start of a JSON array of rows; not `[2001:db8::1])/`, which may start a CDX row. */
export const JSON_ROWS = /^\s*\[\s*[[{]/;

/** A header of the index of a ZipNum cluster. */
export const ZIPNUM_META = /^!meta\s+(?:\d+\s+)?(\{.*\})$/s;

/** `urlkey datetime TAB part TAB offset TAB length [TAB number]`, as in pywb and OpenWayback. */
export const ZIPNUM_TAB_LINE = /^([^\t]+)\t([^\t]+)\t(\d+)\t(\d+)(?:\t\d+)?$/;
/** `urlkey datetime {"offset": …, "length": …}`, as in WACZ files. */
export const ZIPNUM_JSON_LINE = /^(\S+ \d+) (\{.*\})$/s;

/** Whether a line may belong to a ZipNum index. */
export function looksLikeZipNumIndex(whole: string): boolean {
  const line = startOf(whole);
  if (ZIPNUM_TAB_LINE.test(line)) return true;
  if (ZIPNUM_META.test(line)) return /"format":\s*"cdxj?-gzip/.test(line);
  const json = ZIPNUM_JSON_LINE.exec(line)?.[2];
  if (json === undefined || !/"offset":\s*\d+\D/.test(json)) return false;
  // Captures have an offset too, but into a WARC file.
  return !/"(?:url|original|mime|status)|\.w?arc\b/.test(json);
}

/** Whether a text is the beginning of an ARC file, rather than of an index that names one. */
export function looksLikeArc(text: string): boolean {
  return /^filedesc:\/\/[^\n]*(?:\n\d|\n?$)/.test(text);
}

/** `*`, `com,*`, `com,a)/*`, `com,a)/b/*`. */
const WILDCARD_KEY = /^\s*(?:[^\s?#()]*,|[^\s?#()]*\)\/(?:\S*\/)?)?\*(?:\s|$)/;

/** Describes the kind of file a line comes from, for messages; undefined if it may be a list. */
export function foreignKind(whole: string): string | undefined {
  const line = startOf(whole);
  // oxlint-disable-next-line no-control-regex -- control characters are the point
  if (/[\0-\x08\x0e-\x1f]/.test(line)) return "binary data";
  if (/^\s*<[!?/a-z]/i.test(line)) return "HTML or XML";
  if (/^[!@][a-z]+\s/i.test(line)) return "a map, or an index with headers";
  if (MEMGATOR_LINE.test(line)) return "a MemGator log";
  if (ACCESS_LOG_LINE.test(line)) return "an access log";
  if (/^ ?CDX(?: [A-Za-z])+\s*$/.test(line)) return "a CDX file";
  if (/^WARC\/\d/.test(line)) return "a WARC file";
  if (/^\s*[[{]/.test(line)) return "JSON";
  if (/^\s*\d{4,}(?:\s|$)/.test(line) || /^\s*\d{4}-\d\d(?:-\d\d|\b)/.test(line)) {
    return "a list that begins with timestamps";
  }
  if (WILDCARD_KEY.test(line)) return "a compacted map: it has wildcards";
  return undefined;
}

/**
 * Rejects a line that cannot belong to a list of URIs or SURTs.
 *
 * @throws MM_BAD_INPUT
 */
export function refuseForeignLine(line: string, position: Position): void {
  const kind = foreignKind(line);
  if (kind !== undefined) throw notAList(line, `this looks like ${kind}`, position);
}

/** The error for a line that does not belong in a list of URIs. */
export function notAList(line: string, what: string, position: Position): MementoMapError {
  return new MementoMapError(
    "MM_BAD_INPUT",
    `${what}: ${quote(line)}; expected a list of URIs or SURTs, one per line`,
    { position },
  );
}

const URI = /^[a-z][a-z\d+.-]*:\/\/\S/i;
/** URIs without an authority, as in lists of links. Most of them are in no archive. */
const OPAQUE_URI =
  /^(?:about|blob|data|dns|file|filedesc|ftp|geo|javascript|magnet|mailto|metadata|news|sms|tel|urn|view-source|warcinfo|whois):\S/i;
/** Unlike a URI, a SURT has a `)` before any slash. */
const SURT = /^[^\s/?#()]*[^\s/?#(),]\)(?:[/?]|$)/;
const BARE_HOST =
  /^(?:(?:[\p{L}\p{N}\p{M}_-]+\.)+[\p{L}\p{N}\p{M}-]*\p{L}[\p{L}\p{N}\p{M}-]*\.?|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?(?:[/?#]\S*)?$/u;

/**
 * Whether a line of a list begins with a URI or a SURT. A host without a scheme, `example.org/a`,
 * counts only if nothing or a number follows: prose may begin with a host name.
 */
export function beginsWithLookup(line: string): boolean {
  const [, word = "", rest = ""] = /^\s*(\S*)\s*([^]*)/.exec(startOf(line)) ?? [];
  if (URI.test(word) || OPAQUE_URI.test(word) || SURT.test(word)) return true;
  return BARE_HOST.test(word) && (rest === "" || /^\d/.test(rest));
}
