import { gzipSync } from "node:zlib";

export interface WarcRecord {
  readonly type: string;
  readonly uri?: string;
  readonly date?: string;
  /** The HTTP header, without its blank line; makes it an HTTP record. */
  readonly http?: string;
  readonly contentType?: string;
  readonly body?: string | Uint8Array;
}

/** A WARC 1.1 record. */
export function warcRecord(record: WarcRecord): Buffer {
  const { type, uri, date = "2014-01-26T20:06:24Z", http, body = "" } = record;
  const head = http === undefined ? "" : `${http.replaceAll("\n", "\r\n")}\r\n\r\n`;
  const block = Buffer.concat([Buffer.from(head), Buffer.from(body)]);
  const contentType =
    record.contentType ?? (http === undefined ? "text/plain" : "application/http;msgtype=response");
  const fields = [
    "WARC/1.1",
    `WARC-Type: ${type}`,
    ...(uri === undefined ? [] : [`WARC-Target-URI: ${uri}`]),
    `WARC-Date: ${date}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${block.length}`,
  ];
  return Buffer.concat([
    Buffer.from(`${fields.join("\r\n")}\r\n\r\n`),
    block,
    Buffer.from("\r\n\r\n"),
  ]);
}

/** Records compressed individually, as archives store them. */
export function warcGz(records: readonly WarcRecord[]): Buffer {
  return Buffer.concat(records.map((record) => gzipSync(warcRecord(record))));
}
