import { compareRanges, htmlInstead, LF, looksLikeHtml, markLength } from "../bytes/bytes.ts";
import { isMementoMapError, MementoMapError, quote } from "../errors.ts";
import {
  AccessLogParser,
  CountedRowsParser,
  SurtListParser,
  UriListParser,
} from "./line-formats.ts";
import { Capture, CaptureSurt, isNothing, ROW, type RowNeeds, type RowParser } from "./capture.ts";
import { type CdxColumns, CdxParser, guessCdxColumns, parseCdxHeader } from "./cdx.ts";
import { type CaptureBatch, readCapture } from "./capture-batch.ts";
import { CdxjParser } from "./cdxj.ts";
import {
  ACCESS_LOG_LINE,
  CDXJ_LINE,
  looksLikeArc,
  looksLikeZipNumIndex,
  MEMGATOR_LINE,
} from "./line-kind.ts";
import { tryParseFrequency } from "../ukvs/frequency.ts";
import { surtKeyBytes } from "../surt/key-bytes.ts";
import type { KeyOptions } from "../surt/key.ts";

/** The names that `--format` takes. */
export const INPUT_FORMATS = [
  "auto",
  "cdx",
  "cdxj",
  "json",
  "zipnum",
  "warc",
  "arc",
  "wacz",
  "parquet",
  "urls",
  "surts",
  "log",
  "memgator-log",
  "timemap",
] as const;
export type InputFormat = (typeof INPUT_FORMATS)[number];

/** Whether to trust key columns: where a sample agrees with the URIs, always, or never. */
export const KEY_TRUST = ["auto", "column", "uri"] as const;
export type KeyTrust = (typeof KEY_TRUST)[number];

/** What captures are taken out of; see `captureBatches`. */
type Container =
  | "warc"
  | "arc"
  | "timemap"
  | "memgator-log"
  | "json-array"
  | "json-lines"
  | "parquet";

interface FormatTraits {
  /** Set where rows are not lines of the input itself. */
  readonly container?: Container | undefined;
  /** Set where the input does not list all captures. */
  readonly isSample?: boolean | undefined;
  /** Set where the same capture may be reported more than once. */
  readonly repeats?: boolean | undefined;
  /** Set where keys are made from URIs although there is a key column. */
  readonly isRekeyed?: boolean | undefined;
}

/** A detected format, in a form that can be sent to another thread. */
export type DetectedFormat = FormatTraits &
  (
    | { readonly name: "surts" | "urls" | "log" }
    | { readonly name: "cdxj"; readonly keyedByUri?: boolean | undefined }
    | { readonly name: "cdx"; readonly columns: CdxColumns }
    | { readonly name: "map"; readonly datetimeDigits: number; readonly queries: boolean }
    | CapturesFormat
  );

/** A format of which lines are read. */
type LineFormat = Exclude<DetectedFormat, { readonly name: "captures" }>;

/** A format without lines: its captures come in batches. */
export interface CapturesFormat extends FormatTraits {
  readonly name: "captures";
  readonly container: Container;
  /** What none of its captures has. */
  readonly lacks?: "keys" | "uris" | undefined;
  readonly keyedByUri?: boolean | undefined;
}

const WARC: DetectedFormat = { name: "captures", container: "warc" };
const ARC: DetectedFormat = { name: "captures", container: "arc" };
const TIMEMAP: DetectedFormat = {
  name: "captures",
  container: "timemap",
  isSample: true,
  repeats: true,
};
const ACCESS_LOG: DetectedFormat = { name: "log", isSample: true, repeats: true };
const MEMGATOR_LOG: DetectedFormat = {
  name: "captures",
  container: "memgator-log",
  lacks: "keys",
  isSample: true,
};

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
  if (wanted === "warc" || (wanted === "auto" && /^WARC\/\d/.test(text))) return WARC;
  if (wanted === "arc" || (wanted === "auto" && looksLikeArc(text))) return ARC;
  refuse(text, wanted, source);
  const lines = text.split(/\r?\n/);
  const firstAt = lines.findIndex((line) => line.trim() !== "" && !/^[!@]/.test(line));
  if (firstAt === -1) return emptyFormat(wanted);
  const first = lines[firstAt];
  const lineNumber = firstAt + 1;
  if (wanted === "auto") return withTraits(guess(first, text, lineNumber, source), lines);
  if (wanted !== "cdx") return withTraits(namedFormat(wanted, text), lines);
  const columns = cdxHeader(first, lineNumber, source) ?? guessCdxColumns(first);
  if (columns === undefined || CDXJ_LINE.test(first))
    throw unknownFormat(first, lineNumber, source, "as CDX");
  return { name: "cdx", columns };
}

function emptyFormat(wanted: InputFormat): DetectedFormat {
  return wanted === "auto" || wanted === "cdx" ? { name: "cdxj" } : namedFormat(wanted, "");
}

function namedFormat(wanted: Exclude<InputFormat, "auto" | "cdx">, text: string): DetectedFormat {
  switch (wanted) {
    case "cdxj":
    case "surts":
    case "urls":
      return { name: wanted };
    case "log":
      return ACCESS_LOG;
    case "memgator-log":
      return MEMGATOR_LOG;
    case "timemap":
      return TIMEMAP;
    case "warc":
      return WARC;
    case "arc":
      return ARC;
    case "json":
      return jsonFormat(text.trimStart().startsWith("["));
    case "zipnum":
    case "wacz":
    case "parquet":
      throw new MementoMapError(
        "MM_BAD_INPUT",
        `${wanted} files can be read by name only, in Node`,
      );
  }
}

function jsonFormat(isArray: boolean): DetectedFormat {
  return { name: "captures", container: isArray ? "json-array" : "json-lines" };
}

function guess(line: string, text: string, lineNumber: number, source: string): DetectedFormat {
  // Some have the form of CDXJ, too.
  if (looksLikeZipNumIndex(line)) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      "this is the index of a ZipNum cluster, which needs its data next to it; give it by name",
      { position: { source } },
    );
  }
  if (CDXJ_LINE.test(line)) return { name: "cdxj" };
  const header = cdxHeader(line, lineNumber, source);
  if (header !== undefined) return { name: "cdx", columns: header };
  if (/^\d{14} \{/.test(line)) return TIMEMAP;
  if (MEMGATOR_LINE.test(line)) return MEMGATOR_LOG;
  if (ACCESS_LOG_LINE.test(line)) return ACCESS_LOG;
  if (/^\s*<[^>\s]*>\s*;/.test(line)) return TIMEMAP;
  if (/^\s*\{/.test(line)) return /"original_uri"/.test(text) ? TIMEMAP : jsonFormat(false);
  if (/^\s*\[\s*\[?/.test(line)) return jsonFormat(true);
  const columns = guessCdxColumns(line);
  if (columns !== undefined) return { name: "cdx", columns };
  if (/^[a-z][a-z0-9+.-]*:\/\/\([^)]+,[^)]*\)/i.test(line)) return { name: "surts" };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(line)) return { name: "urls" };
  if (/^[^\s/?)]*[^\s/?),],?\)(?:[/?]\S*)?(?:\s|$)/.test(line)) {
    if (isMapRow(line)) throw mapInstead(source);
    return { name: "surts" };
  }
  if (/^\s*[\w-]+(\.[\w-]+)+(:\d+)?([/?#]\S*)?\s*$/.test(line)) return { name: "urls" };
  throw unknownFormat(line, lineNumber, source, "as any format; --format names one");
}

function cdxHeader(line: string, lineNumber: number, source: string): CdxColumns | undefined {
  const columns = parseCdxHeader(line);
  if (columns === undefined || columns.key !== -1 || columns.uri !== -1) return columns;
  throw new MementoMapError(
    "MM_BAD_INPUT",
    `the header names no column of keys (N, A) or URIs (a): ${quote(line)}`,
    { position: { source, line: lineNumber } },
  );
}

/** An index that says in a header line that it is a sample: `!meta {"sample": true}`. */
function withTraits(format: DetectedFormat, lines: readonly string[]): DetectedFormat {
  const isSample = lines.some((line) => /^[!@]meta\s.*"sample":\s*true\b/.test(line));
  return isSample ? { ...format, isSample, repeats: true } : format;
}

/** Rejects what is not an index. */
function refuse(text: string, wanted: InputFormat, source: string): void {
  if (text.startsWith("PK\u0003\u0004") || text.startsWith("PAR1")) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      "WACZ and Parquet files need random access; give them by name, uncompressed",
      { position: { source } },
    );
  }
  if (looksLikeHtml(text)) throw htmlInstead("an index", source);
  if (looksBinary(text)) {
    throw new MementoMapError(
      "MM_BAD_INPUT",
      "this is binary data, not an index of lines; expected CDX, CDXJ, or a list of SURTs or URIs",
      { position: { source } },
    );
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
  const [, frequency = ""] = /^\S+[ \t]+(\S+)[ \t]*(?:\{.*)?$/.exec(line) ?? [];
  return !DATETIME.test(frequency) && tryParseFrequency(frequency) !== undefined;
}

/** A column of datetimes, which a list may have. */
const DATETIME = /^\d{14}(?:\d{3})?$/;

function mapInstead(source: string): MementoMapError {
  return new MementoMapError(
    "MM_BAD_INPUT",
    "this is a map, not an index; --add adds an index to a map, and merge joins maps",
    { position: { source } },
  );
}

function unknownFormat(line: string, at: number, source: string, what: string): MementoMapError {
  return new MementoMapError("MM_BAD_INPUT", `cannot read ${quote(line)} ${what}`, {
    position: { source, line: at },
  });
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

/** The parser of a format of lines. */
export function rowParser(format: LineFormat, needs: RowNeeds): RowParser {
  switch (format.name) {
    case "cdx":
      return new CdxParser(format.columns);
    case "cdxj":
      return new CdxjParser(needs, format.keyedByUri);
    case "surts":
      return new SurtListParser();
    case "urls":
      return new UriListParser();
    case "log":
      return new AccessLogParser();
    case "map":
      return new CountedRowsParser(format.datetimeDigits, format.queries);
  }
}

/** The same format with keys made from URIs; undefined where it has no key column, or no URIs. */
export function keyedByUri(format: DetectedFormat): DetectedFormat | undefined {
  if (format.name === "cdxj" || (format.name === "captures" && format.lacks === undefined)) {
    return format.keyedByUri === true
      ? undefined
      : { ...format, keyedByUri: true, isRekeyed: true };
  }
  if (format.name !== "cdx") return undefined;
  const { columns } = format;
  if (columns.key === -1 || columns.uri === -1) return undefined;
  return { ...format, columns: { ...columns, key: -1, spareKey: columns.key }, isRekeyed: true };
}

/** No percent-encoded key is longer than this many times its SURT. */
const KEY_GROWTH = 3;
/** More would delay every start, and one row in a thousand is looked at later anyhow. */
const ROWS_TO_CHECK = 256;

/**
 * Compares the key column of rows with the SURT of their URI.
 *
 * Both are compared as keys of a map: queries matter where it is one with queries.
 */
export class KeyCheck {
  readonly #parser: RowParser | undefined;
  readonly #capture = new Capture();
  readonly #surt = new CaptureSurt();
  readonly #options: KeyOptions;

  constructor(format: DetectedFormat, options: KeyOptions) {
    this.#options = options;
    const needs = { uri: true, status: false, mime: false };
    this.#parser = format.name === "captures" ? undefined : rowParser(format, needs);
  }

  /** Whether the line `bytes[start, end)` has the key we make; undefined if it lacks key or URI. */
  agrees(bytes: Uint8Array, start: number, end: number): boolean | undefined {
    const capture = this.#capture;
    capture.knownKeyBytes = 0;
    capture.reset();
    if (this.#parser?.parse(bytes, start, end, capture) !== ROW.capture) return undefined;
    return this.captureAgrees(bytes, capture);
  }

  /** The same of a capture that was read with its URI. */
  captureAgrees(bytes: Uint8Array, capture: Capture): boolean | undefined {
    const { keyStart, keyEnd, uriStart, uriEnd } = capture;
    if (keyStart === -1 || isNothing(bytes, uriStart, uriEnd)) return undefined;
    const surtEnd = this.#surtEnd(bytes, capture);
    if (surtEnd === -1) return undefined;
    const ours = new Uint8Array(surtEnd * KEY_GROWTH + 1);
    const oursEnd = surtKeyBytes(this.#surt.bytes, 0, surtEnd, ours, 0, this.#options);
    const theirs = new Uint8Array((keyEnd - keyStart) * KEY_GROWTH + 1);
    const theirsEnd = surtKeyBytes(bytes, keyStart, keyEnd, theirs, 0, this.#options);
    return compareRanges(ours, 0, oursEnd, theirs, 0, theirsEnd) === 0;
  }

  /** Makes the SURT of the capture; -1 for the contrived host name whose SURT does not fit. */
  #surtEnd(bytes: Uint8Array, capture: Capture): number {
    try {
      return this.#surt.make(bytes, capture);
    } catch (error) {
      if (isMementoMapError(error)) return -1; // such a row says nothing about the others
      throw error;
    }
  }
}

/**
 * The format to read an index with: keyed by its key column where that can be trusted, and by the
 * URIs otherwise.
 *
 * @param sample whole lines of the index, or some of its captures.
 */
export function trustedFormat(
  format: DetectedFormat,
  sample: Uint8Array | CaptureBatch,
  trust: KeyTrust,
  options: KeyOptions,
): DetectedFormat {
  const rekeyed = trust === "column" ? undefined : keyedByUri(format);
  if (rekeyed === undefined || trust === "uri") return rekeyed ?? format;
  if (!(sample instanceof Uint8Array)) {
    return capturesAgree(format, sample, options) ? format : rekeyed;
  }
  return format.name === "captures" || keysAgree(format, sample, options) ? format : rekeyed;
}

/** Whether the keys of captures can be trusted, as {@link keysAgree} has it. */
function capturesAgree(format: DetectedFormat, sample: CaptureBatch, options: KeyOptions): boolean {
  const check = new KeyCheck(format, options);
  const capture = new Capture();
  const step = Math.max(1, Math.ceil(sample.length / ROWS_TO_CHECK));
  for (let i = 0; i < sample.length; i += step) {
    if (readCapture(sample, i, capture, false) !== ROW.capture) continue;
    if (check.captureAgrees(sample.bytes, capture) === false) return false;
  }
  return true;
}

/**
 * Whether the key column of an index can be trusted: no row of a sample of whole lines disagrees.
 * Looks at up to 256 rows, evenly spread over the sample.
 */
function keysAgree(format: DetectedFormat, sample: Uint8Array, options: KeyOptions): boolean {
  const check = new KeyCheck(format, options);
  const starts: number[] = [];
  for (let at = markLength(sample); at < sample.length; at = lineEnd(sample, at) + 1)
    starts.push(at);
  const step = Math.max(1, Math.ceil(starts.length / ROWS_TO_CHECK));
  for (let i = 0; i < starts.length; i += step) {
    let end = lineEnd(sample, starts[i]);
    if (sample[end - 1] === 0x0d) end--;
    if (end > starts[i] && check.agrees(sample, starts[i], end) === false) return false;
  }
  return true;
}

function lineEnd(bytes: Uint8Array, from: number): number {
  const end = bytes.indexOf(LF, from);
  return end === -1 ? bytes.length : end;
}
