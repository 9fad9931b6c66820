import { htmlInstead, looksLikeHtml, markLength } from "../bytes/bytes.ts";
import { badInput, MementoMapError, quote } from "../errors.ts";
import { guessCdxColumns, parseCdxHeader } from "./cdx.ts";
import { type DetectedFormat, formatNamed, formatOf, type InputFormat } from "./formats.ts";
import { CDXJ_LINE, looksLikeZipNumIndex, startOf } from "./line-kind.ts";
import { tryParseFrequency } from "../ukvs/frequency.ts";

/**
 * Detects the format of an index from its first bytes, decompressed.
 *
 * An input without rows is treated as empty CDXJ.
 *
 * @throws MM_BAD_INPUT when no format matches, naming the line.
 */
export function detectFormat(
  head: Uint8Array,
  requested: InputFormat,
  source: string,
): DetectedFormat {
  const text = new TextDecoder("latin1").decode(head.subarray(markLength(head)));
  if (requested === "warc" || requested === "arc") return formatNamed(requested);
  const isAuto = requested === "auto";
  const records = isAuto ? formatOf("", text) : undefined;
  if (records !== undefined) return formatNamed(records);
  rejectUnreadable(text, requested, source);
  const lines = text.split(/\r?\n/);
  const firstAt = lines.findIndex((line) => line.trim() !== "" && !/^[!@]/.test(line));
  if (firstAt === -1) return formatNamed(isAuto || requested === "cdx" ? "cdxj" : requested);
  const first = lines[firstAt];
  const position = { source, line: firstAt + 1 };
  // Before the formats: some ZipNum lines also match CDXJ.
  if (isAuto && looksLikeZipNumIndex(first)) {
    throw badInput(
      source,
      "this is the index of a ZipNum cluster, which needs its data files; pass its path instead",
    );
  }
  const name = isAuto ? formatOf(first, text) : requested;
  const header = name === "cdx" ? parseCdxHeader(first) : undefined;
  if (header?.key === -1 && header.uri === -1) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `the header names no column of keys (N, A) or URIs (a): ${quote(first)}`,
      { position },
    );
  }
  const columns = header ?? (name === "cdx" ? guessCdxColumns(first) : undefined);
  const isCdx = columns !== undefined && !CDXJ_LINE.test(first);
  if (name === undefined || (name === "cdx" && !isCdx)) {
    const message = isAuto
      ? `unknown format: ${quote(first)}; specify one with --format`
      : `not a line of CDX: ${quote(first)}`;
    throw new MementoMapError("MM_BAD_INPUT", message, { position });
  }
  if (isAuto && name === "surts" && isMapRow(first)) throw mapInstead(source);
  const format = { ...formatNamed(name), ...(columns && { columns }) };
  // An index may declare itself a sample in a header line.
  const isSample = lines.some((line) => /^[!@]meta\s.*"sample":\s*true\b/.test(line));
  return isSample ? { ...format, isSample, repeats: true } : format;
}

/** Rejects inputs that are not an index, or that must be read by path. */
function rejectUnreadable(text: string, requested: InputFormat, source: string): void {
  if (text.startsWith("PK\u0003\u0004") || text.startsWith("PAR1")) {
    throw badInput(
      source,
      "WACZ and Parquet files need random access; pass the path of an uncompressed file",
    );
  }
  if (looksLikeHtml(text)) throw htmlInstead("an index", source);
  if (looksBinary(text)) {
    throw badInput(
      source,
      "binary data is not an index; expected CDX, CDXJ, or a list of SURTs or URIs",
    );
  }
  if (requested === "zipnum" || requested === "wacz" || requested === "parquet") {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      `files of the format ${requested} can only be read by path, in Node`,
    );
  }
  if (requested === "auto" && MAP_HEADER.test(text)) throw mapInstead(source);
}

/** Headers that occur only in maps. */
const MAP_HEADER = /^[!@](?:context\s.*mementomap|fields\s.*"frequency"|size\s.*"records")/m;

/**
 * Whether a line that begins with a SURT is a row of a map without headers: a frequency follows,
 * optionally with a JSON block. Read as a list, voids would count as held and wildcards would be lost.
 */
function isMapRow(line: string): boolean {
  const [, frequency = ""] = /^\S+[ \t]+(\S+)[ \t]*(?:\{.*)?$/.exec(startOf(line)) ?? [];
  return !DATETIME.test(frequency) && tryParseFrequency(frequency) !== undefined;
}

/** Lists may have a column of datetimes. */
const DATETIME = /^\d{14}(?:\d{3})?$/;

function mapInstead(source: string): MementoMapError {
  return badInput(
    source,
    "this is a map, not an index; use generate --add MAP to add an index to it, or merge to join maps",
  );
}

/**
 * Whether more than one byte in 200 is a control character. An index may contain a few, in bad URIs;
 * in compressed data it is one byte in eleven.
 */
function looksBinary(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are the point
  const controls = text.match(/[\0-\x08\x0e-\x1a]/g)?.length ?? 0;
  return controls > text.length / 200;
}
