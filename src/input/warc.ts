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
/** The record types that hold a capture. */
const CAPTURE_TYPES: ReadonlySet<string> = new Set(["response", "resource", "revisit"]);

/**
 * Reads the records of a WARC file, decompressed, as captures, one a record.
 *
 * Responses, resources and revisits are captures; status and MIME type are those of the HTTP header,
 * and a revisit has the type `warc/revisit`. Any other record, such as a request, becomes a capture
 * whose URI says so: `metadata:request`. Payloads are skipped. Holds one chunk and one header.
 *
 * @throws MM_BAD_INPUT for broken records, which are skipped where damage may be, naming record and offset.
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
  if (!record.isWhole) throw brokenRecord(place, "has a header without an end");
  const { fields } = record;
  const lengthText = fields.get("content-length") ?? "";
  const length = statedLength(lengthText);
  if (length === undefined) {
    throw brokenRecord(place, `has no Content-Length that is a number, but ${quote(lengthText)}`);
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
 * An ARC file, which is what archives wrote before WARC:
 *
 *     filedesc://name.arc 0.0.0.0 19961001000000 text/plain 76
 *     1 0 InternetArchive
 *     URL IP-address Archive-date Content-type Archive-length
 *
 *     http://example.com/ 192.0.2.1 19961001000102 text/html 202
 *     HTTP/1.0 200 OK
 *     …
 *
 * The lines behind `filedesc:` give the version and name the columns of the lines that begin
 * records; version 2 has more of them. In real files the length of the version block is often off
 * by one, and URIs and types have blanks in them.
 */

const VERSION_1 = "URL IP-address Archive-date Content-type Archive-length";
const VERSION_BLOCK = "filedesc://";
/** How a record begins: a URI, then address and datetime, and a length at the end. */
const RECORD_LINE: readonly RegExp[] = [
  /^[a-z][a-z\d+.-]*:/i,
  / (?:\d{1,3}\.){3}\d{1,3} (?:19|20)\d{10,12} /,
  / \d{1,15}$/,
];
/** What archives wrote for responses without a type. */
const NO_TYPE = "no-type";

/**
 * Reads the records of an ARC file, decompressed, as captures, one a record.
 *
 * All records are captures except for version blocks and what is not of the web, such as `dns:`. Status
 * and MIME type are those of the HTTP header; where there is none, those of the record's first line.
 * Bodies are skipped. Holds one chunk and one header.
 *
 * @throws MM_BAD_INPUT for broken records, which are skipped where damage may be, naming record and offset.
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

/** Strict, as a line of a body must not be taken for one. */
function startsArcRecord(line: string): boolean {
  return line.startsWith(VERSION_BLOCK) || RECORD_LINE.every((part) => part.test(line));
}

/** Reads a line; undefined at the end of the file. */
async function readLine(cursor: ByteCursor, place: RecordPlace): Promise<string | undefined> {
  const bytes = await cursor.readThrough(LF, MAX_HEADER_BYTES);
  if (bytes.length === 0) return undefined;
  if (bytes.at(-1) !== LF) throw brokenRecord(place, "has a header without an end");
  return headerLine(bytes);
}

/** Reads the two lines that every version block has; returns the names of columns. */
async function readVersionBlock(cursor: ByteCursor, place: RecordPlace): Promise<string[]> {
  const version = await readLine(cursor, place);
  const names = await readLine(cursor, place);
  if (version === undefined || names === undefined) {
    throw brokenRecord(place, "has a version block without an end");
  }
  const columns = arcColumns(names);
  // A URI may have blanks only if it comes first, and the length must be found without the others.
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

/** What the first line of a record says; an empty text stands for nothing. */
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
    throw brokenRecord(place, `has no Archive-length that is a number, but ${quote(lengthText)}`);
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

/** How many of the blanks too many are in the URI, and not behind the datetime. */
function blanksInUri(words: readonly string[], date: number, extra: number): number {
  for (let blanks = extra; blanks > 0; blanks--) {
    if (/^(?:19|20)\d{10,16}$/.test(words[date + blanks])) return blanks;
  }
  return /^\d{4,}$/.test(words[date]) ? 0 : extra;
}
