import type { Position } from "../errors.ts";
import { MementoMapError, quote } from "../errors.ts";

/**
 * What of a line is given to patterns: some take time that is the square of its length, and a line may
 * have a megabyte.
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

/** The start of an array of rows in JSON; that of a CDX row may be `[2001:db8::1])/`. */
export const JSON_ROWS = /^\s*\[\s*[[{]/;

/** A header of the index of a ZipNum cluster. */
export const ZIPNUM_META = /^!meta\s+(?:\d+\s+)?(\{.*\})$/s;

/** `urlkey datetime TAB part TAB offset TAB length [TAB number]`, as pywb and OpenWayback have it. */
export const ZIPNUM_TAB_LINE = /^([^\t]+)\t([^\t]+)\t(\d+)\t(\d+)(?:\t\d+)?$/;
/** `urlkey datetime {"offset": …, "length": …}`, as in WACZ files. */
export const ZIPNUM_JSON_LINE = /^(\S+ \d+) (\{.*\})$/s;

/** Whether a line could be one of a ZipNum index. */
export function looksLikeZipNumIndex(whole: string): boolean {
  const line = startOf(whole);
  if (ZIPNUM_TAB_LINE.test(line)) return true;
  if (ZIPNUM_META.test(line)) return /"format":\s*"cdxj?-gzip/.test(line);
  const json = ZIPNUM_JSON_LINE.exec(line)?.[2];
  if (json === undefined || !/"offset":\s*\d+\D/.test(json)) return false;
  // A capture has an offset too, but in a WARC file.
  return !/"(?:url|original|mime|status)|\.w?arc\b/.test(json);
}

/** Whether a text is the beginning of an ARC file, and not of an index that names one. */
export function looksLikeArc(text: string): boolean {
  return /^filedesc:\/\/[^\n]*(?:\n\d|\n?$)/.test(text);
}

/** `*`, `com,*`, `com,a)/*`, `com,a)/b/*`. */
const WILDCARD_KEY = /^\s*(?:[^\s?#()]*,|[^\s?#()]*\)\/(?:\S*\/)?)?\*(?:\s|$)/;

/** What a file is that has this line, in words for a message; undefined for what may be a list. */
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
 * Refuses a line that shows that a file is not a list of URIs or SURTs.
 *
 * @throws MM_BAD_INPUT
 */
export function refuseForeignLine(line: string, position: Position): void {
  const kind = foreignKind(line);
  if (kind !== undefined) throw notAList(line, `this looks like ${kind}`, position);
}

/** What to say of a line that is not what a list of URIs has. */
export function notAList(line: string, what: string, position: Position): MementoMapError {
  return new MementoMapError(
    "MM_BAD_INPUT",
    `${what}: ${quote(line)}; expected a list of URIs or SURTs, one on each line`,
    { position },
  );
}

const URI = /^[a-z][a-z\d+.-]*:\/\/\S/i;
/** URIs without an authority that lists of links have. No archive holds most of them. */
const OPAQUE_URI =
  /^(?:about|blob|data|dns|file|filedesc|ftp|geo|javascript|magnet|mailto|metadata|news|sms|tel|urn|view-source|warcinfo|whois):\S/i;
/** A SURT has its `)` before any slash; a URI has none there. */
const SURT = /^[^\s/?#()]*[^\s/?#(),]\)(?:[/?]|$)/;
const BARE_HOST =
  /^(?:(?:[\p{L}\p{N}\p{M}_-]+\.)+[\p{L}\p{N}\p{M}-]*\p{L}[\p{L}\p{N}\p{M}-]*\.?|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?(?:[/?#]\S*)?$/u;

/**
 * Whether a line of a list begins with a URI or a SURT. A host without a scheme, `example.org/a`,
 * counts where only a number follows: prose may begin with one.
 */
export function beginsWithLookup(line: string): boolean {
  const [, word = "", rest = ""] = /^\s*(\S*)\s*([^]*)/.exec(startOf(line)) ?? [];
  if (URI.test(word) || OPAQUE_URI.test(word) || SURT.test(word)) return true;
  return BARE_HOST.test(word) && (rest === "" || /^\d/.test(rest));
}
