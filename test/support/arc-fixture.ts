import { gzipSync } from "node:zlib";

export interface ArcRecord {
  readonly uri: string;
  readonly date?: string;
  /** The Content-type column; `text/html` by default. */
  readonly type?: string;
  /** The HTTP header, without its blank line. */
  readonly http?: string;
  readonly body?: string | Uint8Array;
  /** The fields of version 2 between Content-type and Archive-length. */
  readonly more?: string;
}

const NAMES = {
  1: "URL IP-address Archive-date Content-type Archive-length",
  2:
    "URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename " +
    "Archive-length",
};

/** The version block, with metadata after the column names, as written by Heritrix. */
export function versionBlock(version: 1 | 2 = 1, metadata = ""): Buffer {
  const block = `${version} 0 Test\n${NAMES[version]}\n${metadata}`;
  const more = version === 1 ? "" : " 200 - - 0 test.arc";
  const line = `filedesc://test.arc 0.0.0.0 20060101000000 text/plain${more} ${block.length}`;
  return Buffer.from(`${line}\n${block}\n`, "latin1");
}

/** A record; URIs may contain Latin-1 bytes. */
export function arcRecord(record: ArcRecord): Buffer {
  const { uri, date = "20060102030405", type = "text/html", http, body = "", more = "" } = record;
  const head = http === undefined ? "" : `${http.replaceAll("\n", "\r\n")}\r\n\r\n`;
  const block = Buffer.concat([Buffer.from(head), Buffer.from(body)]);
  const line = `${uri} 192.0.2.1 ${date} ${type}${more} ${block.length}\n`;
  return Buffer.concat([Buffer.from(line, "latin1"), block, Buffer.from("\n")]);
}

/** A file of version 1. */
export function arcFile(records: readonly ArcRecord[]): Buffer {
  return Buffer.concat([versionBlock(), ...records.map(arcRecord)]);
}

/** The same, compressed record by record, as archives store it. */
export function arcGz(records: readonly ArcRecord[]): Buffer {
  const parts = [versionBlock(), ...records.map(arcRecord)];
  return Buffer.concat(parts.map((part) => gzipSync(part)));
}
