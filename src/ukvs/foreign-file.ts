import { LF } from "../bytes/ascii.ts";
import { markLength } from "../bytes/byte-order-mark.ts";
import { MementoMapError } from "../errors.ts";
import { htmlInstead, looksLikeHtml } from "../bytes/html.ts";
import { type Header, namesFields } from "./header.ts";

/** The kind of a file is decided by so much of its first row. */
const START_BYTES = 16 * 1024;
const DECODER = new TextDecoder("latin1");

/** Files that `generate` makes a map of, by their first row. */
const INDEXES: readonly (readonly [kind: string, firstRow: RegExp])[] = [
  ["a WARC file", /^WARC\/\d/],
  ["an ARC file", /^filedesc:\/\/\S+ /],
  // oxlint-disable-next-line no-control-regex -- ZIP files begin so
  ["a WACZ file", /^PK\u0003\u0004/],
  ["a Parquet file", /^PAR1/],
  // The count of a key never looks like a datetime of 14 digits.
  ["a CDXJ index", /^\S+[ \t]+(?:19|20)\d{12}(?:\d{3})?[ \t]+\{/],
  ["a CDX index", /^ ?CDX(?: [A-Za-z])+\s*$|^\S+[ \t]+(?:19|20)\d{12}(?:\d{3})?[ \t]/],
];

/**
 * Refuses what is not a map by the first row behind its headers: web pages, indexes, WARC files.
 *
 * Every reader of maps asks this first: a search would otherwise say "absent" of everything, and
 * other readers complain about each row. A file that names its fields says what it is.
 *
 * @param bytes from the first row on; the line is found here.
 * @throws MM_BAD_INPUT
 */
export function refuseForeignFile(
  bytes: Uint8Array,
  headers: readonly Header[],
  source: string,
): void {
  if (namesFields(headers)) return;
  const start = bytes.subarray(markLength(bytes), START_BYTES);
  const end = start.indexOf(LF);
  const row = DECODER.decode(end === -1 ? start : start.subarray(0, end)).trimEnd();
  if (looksLikeHtml(`${row} `)) throw htmlInstead("a map", source);
  const [kind] = INDEXES.find(([, firstRow]) => firstRow.test(`${row} `)) ?? [];
  if (kind === undefined) return;
  throw new MementoMapError(
    "MM_BAD_INPUT",
    `this is ${kind}, not a map; make a map with mementomap generate`,
    { position: { source } },
  );
}
