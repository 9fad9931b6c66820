import { isMementoMapError, MementoMapError, quote } from "../errors.ts";
import { ByteCursor } from "./byte-cursor.ts";
import type { HeaderBlock } from "./header-fields.ts";
import { readHeaderBlock } from "./header-fields.ts";
import { RowLines } from "./row-lines.ts";

/** Longer than any header block that is one; a URI may have megabytes, its archive has not. */
const MAX_HEADER_BYTES = 1 << 20;
const MAX_HTTP_HEADER_BYTES = 1 << 18;

/** The record types that hold a capture. */
const CAPTURE_TYPES: ReadonlySet<string> = new Set(["response", "resource", "revisit"]);

/**
 * Reads the records of a WARC file, decompressed, as lines of `ROW_LINE_COLUMNS`, one a record.
 *
 * Responses, resources and revisits are captures; status and MIME type are those of the HTTP header,
 * and a revisit has the type `warc/revisit`. Any other record, such as a request, becomes a row
 * whose URI says so: `metadata:request`. Payloads are skipped. Holds one chunk and one header.
 *
 * @throws MM_BAD_INPUT for what is no WARC record or is cut short, naming record and offset.
 */
export async function* warcRows(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const cursor = new ByteCursor(chunks);
  const lines = new RowLines();
  let number = 1;
  try {
    for (; ; number++) {
      const start = cursor.offset;
      const record = await readHeaderBlock(cursor, MAX_HEADER_BYTES);
      if (record.length === 0) break;
      if (record.isWhole && record.firstLine === "") {
        number--; // a blank line between records
        continue;
      }
      checkHeader(record, number, start, source);
      await readRecord(record, cursor, lines, { number, start, source });
      if (lines.isFull) yield lines.take();
    }
    if (!lines.isEmpty) yield lines.take();
  } catch (error) {
    throw placed(error, number);
  } finally {
    await cursor.close();
  }
}

interface Place {
  readonly number: number;
  readonly start: number;
  readonly source: string;
}

async function readRecord(
  record: HeaderBlock,
  cursor: ByteCursor,
  lines: RowLines,
  place: Place,
): Promise<void> {
  const { fields } = record;
  const type = fields.get("warc-type")?.toLowerCase() ?? "";
  const uri = fields.get("warc-target-uri")?.replace(/^<(.*)>$/, "$1") ?? "";
  const length = contentLength(fields, place);
  const date = (fields.get("warc-date") ?? "").replaceAll(/\D/g, "").slice(0, 14);
  let read = 0;
  if (!CAPTURE_TYPES.has(type)) {
    lines.add({ uri: `metadata:${type}`, date: date === "" ? "0000" : date });
  } else {
    let mime = mediaType(fields.get("content-type"));
    let status = "";
    if (/^application\/http\b/i.test(fields.get("content-type") ?? "")) {
      const http = await readHeaderBlock(cursor, Math.min(length, MAX_HTTP_HEADER_BYTES));
      read = http.length;
      status = /^\S+\s+(\d{3})\b/.exec(http.firstLine)?.[1] ?? "";
      mime = mediaType(http.fields.get("content-type"));
    }
    lines.add({ uri, date, mime: type === "revisit" ? "warc/revisit" : mime, status });
  }
  read += await cursor.skip(length - read);
  if (read < length) {
    throw broken(place, `is cut short: ${read} of ${length} bytes are there`);
  }
}

/** `text/html; charset=utf-8` → `text/html`. */
function mediaType(field: string | undefined): string {
  return (field ?? "").split(/[;\s]/, 1)[0].toLowerCase();
}

function contentLength(fields: ReadonlyMap<string, string>, place: Place): number {
  const text = fields.get("content-length") ?? "";
  const length = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (length >= 0) return length;
  throw broken(place, `has no Content-Length that is a number, but ${quote(text)}`);
}

function checkHeader(record: HeaderBlock, number: number, start: number, source: string): void {
  if (!/^WARC\/\d+\.\d+$/.test(record.firstLine)) {
    throw broken({ number, start, source }, `begins with ${quote(record.firstLine)}, not WARC/1.1`);
  }
  if (!record.isWhole) {
    throw broken({ number, start, source }, "has a header without an end");
  }
}

/** Says in which record a stream broke, for errors that do not know of records. */
function placed(error: unknown, number: number): unknown {
  if (!isMementoMapError(error) || error.message.startsWith("record ")) return error;
  return new MementoMapError(error.code, `record ${number}: ${error.message}`, {
    position: error.position,
    cause: error,
  });
}

function broken({ number, start, source }: Place, what: string): MementoMapError {
  return new MementoMapError(
    "MM_BAD_INPUT",
    `record ${number}, at byte ${start} of the decompressed file, ${what}`,
    { position: { source } },
  );
}
