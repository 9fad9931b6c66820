import { quote } from "../errors.ts";
import type { DamageLog } from "../bytes/damage.ts";
import type { HeaderBlock } from "./header-fields.ts";
import { readHeaderBlock } from "./header-fields.ts";
import { mediaType, readHttpHead } from "./http-head.ts";
import type { RecordFormat, RecordPlace } from "./record-rows.ts";
import {
  brokenRecord,
  MAX_HEADER_BYTES,
  recordRows,
  skipBody,
  statedLength,
} from "./record-rows.ts";

const VERSION_LINE = /^WARC\/\d+\.\d+$/;
/** The record types that hold a capture. */
const CAPTURE_TYPES: ReadonlySet<string> = new Set(["response", "resource", "revisit"]);

/**
 * Reads the records of a WARC file, decompressed, as lines of `ROW_LINE_COLUMNS`, one a record.
 *
 * Responses, resources and revisits are captures; status and MIME type are those of the HTTP header,
 * and a revisit has the type `warc/revisit`. Any other record, such as a request, becomes a row
 * whose URI says so: `metadata:request`. Payloads are skipped. Holds one chunk and one header.
 *
 * @param damage where to note what is no WARC record or is cut short, and to go on with the next.
 * @throws MM_BAD_INPUT for it otherwise, naming record and offset.
 */
export function warcRows(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
  damage?: DamageLog,
): AsyncGenerator<Uint8Array, void, undefined> {
  return recordRows(chunks, source, { read, startsRecord }, damage);
}

function startsRecord(line: string, isAfterBlank: boolean): boolean {
  return isAfterBlank && VERSION_LINE.test(line);
}

const read: RecordFormat["read"] = async (cursor, place) => {
  const record = await readHeaderBlock(cursor, MAX_HEADER_BYTES);
  if (record.length === 0) return "end";
  if (record.isWhole && record.firstLine === "") return "blank";
  checkHeader(record, place);
  const { fields } = record;
  const type = fields.get("warc-type")?.toLowerCase() ?? "";
  const uri = fields.get("warc-target-uri")?.replace(/^<(.*)>$/s, "$1") ?? "";
  const length = contentLength(fields, place);
  const date = (fields.get("warc-date") ?? "").replaceAll(/\D/g, "").slice(0, 14);
  if (!CAPTURE_TYPES.has(type)) {
    await skipBody(cursor, 0, length, place);
    return { uri: `metadata:${type}`, date: date === "" ? "0000" : date };
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

function checkHeader(record: HeaderBlock, place: RecordPlace): void {
  if (!VERSION_LINE.test(record.firstLine)) {
    throw brokenRecord(place, `begins with ${quote(record.firstLine)}, not WARC/1.1`);
  }
  if (!record.isWhole) throw brokenRecord(place, "has a header without an end");
}

function contentLength(fields: ReadonlyMap<string, string>, place: RecordPlace): number {
  const text = fields.get("content-length") ?? "";
  const length = statedLength(text);
  if (length !== undefined) return length;
  throw brokenRecord(place, `has no Content-Length that is a number, but ${quote(text)}`);
}
