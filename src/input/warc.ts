import { quote } from "../errors.ts";
import {
  type ByteCursor,
  headerLine,
  mediaType,
  readHeaderBlock,
  readHttpHead,
} from "./byte-cursor.ts";
import {
  brokenRecord,
  MAX_HEADER_BYTES,
  type RecordFormat,
  type RecordPlace,
  recordRows,
  skipBody,
  statedLength,
} from "./records.ts";
import { LF } from "../bytes/bytes.ts";
import type { RowSource } from "./rows.ts";

const VERSION_LINE = /^WARC\/\d+\.\d+$/;
/** The record types that count as captures. */
const CAPTURE_TYPES: ReadonlySet<string> = new Set(["response", "resource", "revisit"]);

/**
 * Reads the records of a decompressed WARC file as captures, one per record.
 *
 * Responses, resources and revisits are captures; status and MIME type come from the HTTP header, and
 * a revisit has the type `warc/revisit`. Any other record, such as a request, becomes a capture with
 * a non-web URI: `metadata:request`. Payloads are skipped. Holds one chunk and one header.
 *
 * @throws MM_BAD_INPUT for broken records unless damage is skipped, naming record and offset.
 */
export const warcRows: RowSource = (parts, options) =>
  recordRows(parts, options, { read: readWarcRecord, startsRecord: startsWarcRecord });

function startsWarcRecord(line: string, isAfterBlank: boolean): boolean {
  return isAfterBlank && VERSION_LINE.test(line);
}

const readWarcRecord: RecordFormat["read"] = async (cursor, place) => {
  const record = await readHeaderBlock(cursor, MAX_HEADER_BYTES);
  if (record.length === 0) return "end";
  if (record.isWhole && record.firstLine === "") return "blank";
  if (!VERSION_LINE.test(record.firstLine)) {
    throw brokenRecord(place, `begins with ${quote(record.firstLine)}, not WARC/1.1`);
  }
  if (!record.isWhole) throw brokenRecord(place, "has an unterminated header");
  const { fields } = record;
  const lengthText = fields.get("content-length") ?? "";
  const length = statedLength(lengthText);
  if (length === undefined) {
    throw brokenRecord(place, `has an invalid Content-Length: ${quote(lengthText)}`);
  }
  const type = fields.get("warc-type")?.toLowerCase() ?? "";
  const uri = fields.get("warc-target-uri")?.replace(/^<(.*)>$/s, "$1") ?? "";
  const date = (fields.get("warc-date") ?? "").replaceAll(/\D/g, "").slice(0, 14);
  if (!CAPTURE_TYPES.has(type)) {
    await skipBody(cursor, 0, length, place);
    return { uri: `metadata:${type}`, date: date === "" ? "0000" : date, mime: "", status: "" };
  }
  let mime = mediaType(fields.get("content-type"));
  let status = "";
  let headLength = 0;
  if (/^application\/http\b/i.test(fields.get("content-type") ?? "")) {
    ({ status, mime, length: headLength } = await readHttpHead(cursor, length));
  }
  await skipBody(cursor, headLength, length, place);
  return { uri, date, mime: type === "revisit" ? "warc/revisit" : mime, status };
};

/*
 * An ARC file, the predecessor of WARC:
 *
 *     filedesc://name.arc 0.0.0.0 19961001000000 text/plain 76
 *     1 0 InternetArchive
 *     URL IP-address Archive-date Content-type Archive-length
 *
 *     http://example.com/ 192.0.2.1 19961001000102 text/html 202
 *     HTTP/1.0 200 OK
 *     …
 *
 * The lines after `filedesc:` state the version and the columns of the record lines; version 2 has
 * more columns. In real files the length of the version block is often off by one, and URIs and types
 * contain blanks.
 */

const VERSION_1 = "URL IP-address Archive-date Content-type Archive-length";
const VERSION_BLOCK = "filedesc://";
/** The first line of a record: a URI, then address and datetime, and a length at the end. */
const RECORD_LINE: readonly RegExp[] = [
  /^[a-z][a-z\d+.-]*:/i,
  / (?:\d{1,3}\.){3}\d{1,3} (?:19|20)\d{10,12} /,
  / \d{1,15}$/,
];
/** Placeholder for responses without a type. */
const NO_TYPE = "no-type";

/**
 * Reads the records of a decompressed ARC file as captures, one per record.
 *
 * All records are captures except for version blocks and non-web records such as `dns:`. Status and
 * MIME type come from the HTTP header or, without one, from the first line of the record. Bodies are
 * skipped. Holds one chunk and one header.
 *
 * @throws MM_BAD_INPUT for broken records unless damage is skipped, naming record and offset.
 */
export const arcRows: RowSource = (parts, options) => {
  let columns = arcColumns(VERSION_1);
  const read: RecordFormat["read"] = async (cursor, place) => {
    const line = await readLine(cursor, place);
    if (line === undefined) return "end";
    if (line === "") return "blank";
    if (line.startsWith(VERSION_BLOCK)) {
      const start = cursor.offset;
      columns = await readVersionBlock(cursor, place);
      const { uri, length } = parseRecord(line, columns, place);
      const blockLength = cursor.offset - start;
      await skipBody(cursor, blockLength, Math.max(blockLength, length), place);
      return { uri, date: "0000", mime: "", status: "" }; // not a capture, whatever its date
    }
    const { uri, date, type, result, length } = parseRecord(line, columns, place);
    const http = await readHttpHead(cursor, length);
    await skipBody(cursor, http.length, length, place);
    const stated = type === NO_TYPE ? "" : type;
    return http.isHttp
      ? { uri, date, mime: http.mime === "" ? stated : http.mime, status: http.status }
      : { uri, date, mime: stated, status: result };
  };
  return recordRows(parts, options, { read, startsRecord: startsArcRecord });
};

/** Strict, so that lines of bodies do not match. */
function startsArcRecord(line: string): boolean {
  return line.startsWith(VERSION_BLOCK) || RECORD_LINE.every((part) => part.test(line));
}

/** Reads a line, or undefined at the end of the file. */
async function readLine(cursor: ByteCursor, place: RecordPlace): Promise<string | undefined> {
  const bytes = await cursor.readThrough(LF, MAX_HEADER_BYTES);
  if (bytes.length === 0) return undefined;
  if (bytes.at(-1) !== LF) throw brokenRecord(place, "has an unterminated header");
  return headerLine(bytes);
}

/** Reads the two lines of a version block; returns the column names. */
async function readVersionBlock(cursor: ByteCursor, place: RecordPlace): Promise<string[]> {
  const version = await readLine(cursor, place);
  const names = await readLine(cursor, place);
  if (version === undefined || names === undefined) {
    throw brokenRecord(place, "has an unterminated version block");
  }
  const columns = arcColumns(names);
  // URIs with blanks require the URI to come first, and the length to come last.
  const isUsable = columns[0] === "url" && columns.at(-1) === "archive-length";
  if (isUsable && columns.includes("archive-date")) return columns;
  throw brokenRecord(
    place,
    `has a version block that names the columns ${quote(names)}; expected ${quote(VERSION_1)}`,
  );
}

function arcColumns(names: string): string[] {
  return names.trim().toLowerCase().split(/\s+/);
}

/** The first line of a record; absent values are empty. */
interface RecordLine {
  readonly uri: string;
  readonly date: string;
  readonly type: string;
  readonly result: string;
  readonly length: number;
}

function parseRecord(line: string, columns: readonly string[], place: RecordPlace): RecordLine {
  const words = line.split(" ");
  const extra = words.length - columns.length;
  if (extra < 0) {
    throw brokenRecord(place, `begins with ${quote(line)}, not with ${quote(columns.join(" "))}`);
  }
  const lengthText = words.at(-1) ?? "";
  const length = statedLength(lengthText);
  if (length === undefined) {
    throw brokenRecord(place, `has an invalid Archive-length: ${quote(lengthText)}`);
  }
  const shift = blanksInUri(words, columns.indexOf("archive-date"), extra);
  const column = (name: string): string => {
    const at = columns.indexOf(name);
    return at === -1 ? "" : words[at + shift];
  };
  return {
    uri: words.slice(0, shift + 1).join(" "),
    date: column("archive-date").replaceAll(/\D/g, "").slice(0, 14),
    type: mediaType(column("content-type")),
    result: shift === extra ? column("result-code") : "",
    length,
  };
}

/** How many of the surplus blanks are in the URI rather than after the datetime. */
function blanksInUri(words: readonly string[], date: number, extra: number): number {
  for (let blanks = extra; blanks > 0; blanks--) {
    if (/^(?:19|20)\d{10,16}$/.test(words[date + blanks])) return blanks;
  }
  return /^\d{4,}$/.test(words[date]) ? 0 : extra;
}
