import { htmlInstead, looksLikeHtml, markLength } from "../bytes/bytes.ts";
import { badInput, MementoMapError, quote } from "../errors.ts";
import { guessCdxColumns, parseCdxHeader } from "./cdx.ts";
import { type DetectedFormat, formatNamed, formatOf, type InputFormat } from "./formats.ts";
import { CDXJ_LINE, looksLikeZipNumIndex, startOf } from "./line-kind.ts";
import { tryParseFrequency } from "../ukvs/frequency.ts";

/**
 * Detects the format of an index from its first bytes, decompressed.
 *
 * An input without any row is empty CDXJ.
 *
 * @throws MM_BAD_INPUT when no format fits, naming the line that fits none.
 */
export function detectFormat(
  head: Uint8Array,
  wanted: InputFormat,
  source: string,
): DetectedFormat {
  const text = new TextDecoder("latin1").decode(head.subarray(markLength(head)));
  if (wanted === "warc" || wanted === "arc") return formatNamed(wanted);
  const isAuto = wanted === "auto";
  const records = isAuto ? formatOf("", text) : undefined;
  if (records !== undefined) return formatNamed(records);
  refuse(text, wanted, source);
  const lines = text.split(/\r?\n/);
  const firstAt = lines.findIndex((line) => line.trim() !== "" && !/^[!@]/.test(line));
  if (firstAt === -1) return formatNamed(isAuto || wanted === "cdx" ? "cdxj" : wanted);
  const first = lines[firstAt];
  const position = { source, line: firstAt + 1 };
  // Some have the form of CDXJ, too.
  if (isAuto && looksLikeZipNumIndex(first)) {
    throw badInput(
      source,
      "this is the index of a ZipNum cluster, which needs its data next to it; give it by name",
    );
  }
  const name = isAuto ? formatOf(first, text) : wanted;
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
    const what = isAuto ? "as any format; --format names one" : "as CDX";
    throw new MementoMapError("MM_BAD_INPUT", `cannot read ${quote(first)} ${what}`, { position });
  }
  if (isAuto && name === "surts" && isMapRow(first)) throw mapInstead(source);
  const format = { ...formatNamed(name), ...(columns && { columns }) };
  // An index may say in a header line that it is a sample.
  const isSample = lines.some((line) => /^[!@]meta\s.*"sample":\s*true\b/.test(line));
  return isSample ? { ...format, isSample, repeats: true } : format;
}

/** Rejects what is not an index. */
function refuse(text: string, wanted: InputFormat, source: string): void {
  if (text.startsWith("PK\u0003\u0004") || text.startsWith("PAR1")) {
    throw badInput(
      source,
      "WACZ and Parquet files need random access; give them by name, uncompressed",
    );
  }
  if (looksLikeHtml(text)) throw htmlInstead("an index", source);
  if (looksBinary(text)) {
    throw badInput(
      source,
      "this is binary data, not an index of lines; expected CDX, CDXJ, or a list of SURTs or URIs",
    );
  }
  if (wanted === "zipnum" || wanted === "wacz" || wanted === "parquet") {
    throw new MementoMapError("MM_BAD_INPUT", `${wanted} files can be read by name only, in Node`);
  }
  if (wanted === "auto" && MAP_HEADER.test(text)) throw mapInstead(source);
}

/** A header that only maps have. */
const MAP_HEADER = /^[!@](?:context\s.*mementomap|fields\s.*"frequency"|size\s.*"records")/m;

/**
 * Whether a line that begins with a SURT is a row of a map without headers: a frequency follows, and
 * at most a JSON block. Read as a list, its voids would be held, and its wildcards lost.
 */
function isMapRow(line: string): boolean {
  const [, frequency = ""] = /^\S+[ \t]+(\S+)[ \t]*(?:\{.*)?$/.exec(startOf(line)) ?? [];
  return !DATETIME.test(frequency) && tryParseFrequency(frequency) !== undefined;
}

/** A column of datetimes, which a list may have. */
const DATETIME = /^\d{14}(?:\d{3})?$/;

function mapInstead(source: string): MementoMapError {
  return badInput(
    source,
    "this is a map, not an index; generate --add MAP adds an index to it, and merge joins maps",
  );
}

/**
 * Text has few control characters, and an index a row or two with a URI that has one: those are bad
 * lines, if anything. Of compressed data one byte in eleven is one.
 */
function looksBinary(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are the point
  const controls = text.match(/[\0-\x08\x0e-\x1a]/g)?.length ?? 0;
  return controls > text.length / 200;
}
