import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { generateMap } from "../../src/generate/generate-map.ts";
import { warcRows } from "../../src/input/warc.ts";
import { decompressed } from "../../src/files/decompress.ts";
import { rowTexts } from "../support/batch-text.ts";
import { chunked } from "../support/chunked.ts";
import type { WarcRecord } from "../support/warc-fixture.ts";
import { warcGz, warcRecord } from "../support/warc-fixture.ts";

const RECORDS: WarcRecord[] = [
  { type: "warcinfo", contentType: "application/warc-fields", body: "software: test\r\n" },
  { type: "request", uri: "http://example.com/", http: "GET / HTTP/1.1\nHost: example.com" },
  {
    type: "response",
    uri: "http://example.com/",
    http: "HTTP/1.1 200 OK\ncontent-TYPE: Text/HTML; charset=utf-8",
    body: "WARC/1.0\r\n\r\nnot a record",
  },
  {
    type: "response",
    uri: "<http://example.com/moved>",
    http: "HTTP/1.0 301 Moved\nLocation: /",
  },
  {
    type: "revisit",
    uri: "http://example.com/",
    date: "2015-02-03T04:05:06.789Z",
    http: "HTTP/1.1 200 OK\nContent-Type: text/html",
  },
  {
    type: "resource",
    uri: "http://example.com/logo",
    contentType: "image/png",
    body: "\u0000\n\n",
  },
  { type: "response", uri: "dns:example.com", contentType: "text/dns", body: "1.2.3.4" },
];

async function rowsOf(bytes: Uint8Array, lengths: readonly number[]): Promise<string[]> {
  const plain = decompressed(chunked(bytes, lengths), { source: "test.warc.gz" });
  return rowTexts(warcRows(plain, { source: "test.warc.gz", maxLineBytes: 1 << 20 }));
}

const EXPECTED = [
  "metadata:warcinfo\t20140126200624\t-\t-\t",
  "metadata:request\t20140126200624\t-\t-\t",
  "http://example.com/\t20140126200624\ttext/html\t200\t",
  "http://example.com/moved\t20140126200624\t-\t301\t",
  "http://example.com/\t20150203040506\twarc/revisit\t200\t",
  "http://example.com/logo\t20140126200624\timage/png\t-\t",
  "dns:example.com\t20140126200624\ttext/dns\t-\t",
];

describe("warcRows", () => {
  it("takes status and type from the HTTP header, however the file is cut and compressed", async () => {
    const plain = Buffer.concat(RECORDS.map(warcRecord));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(plain, warcGz(RECORDS), gzipSync(plain)),
        fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 }),
        async (bytes, lengths) => {
          expect(await rowsOf(bytes, lengths)).toEqual(EXPECTED);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("keeps the bytes of a URI that is not UTF-8", async () => {
    const record = warcRecord({
      type: "response",
      uri: "http://a.com/caf\u00e9",
      http: "HTTP/1.1 200 OK",
    });
    const bytes = Buffer.from(record.toString(), "latin1");
    expect(await rowsOf(bytes, [40])).toEqual(["http://a.com/caf%E9\t20140126200624\t-\t200\t"]);
    expect(await rowsOf(record, [40])).toEqual([
      "http://a.com/caf\u00e9\t20140126200624\t-\t200\t",
    ]);
  });

  it("makes a map in memory, with what is not a page counted apart", async () => {
    const source = {
      name: "test.warc",
      chunks: chunked(Buffer.concat(RECORDS.map(warcRecord)), [64]),
    };
    const { bytes, counts } = await generateMap([source]);
    expect(Buffer.from(bytes).toString().split("\n").slice(4)).toEqual([
      "com,example)/ 2",
      "com,example)/logo 1",
      "com,example)/moved 1",
      "",
    ]);
    expect(counts).toMatchObject({
      lines: 7,
      nonWeb: 3,
      captures: 4,
      revisits: 1,
      keyedByColumn: 0,
    });
  });

  it("names the record in which compressed data is damaged", async () => {
    const members = Array.from({ length: 2000 }, (_, i) =>
      warcGz([{ type: "response", uri: `http://a.com/${i}`, http: "HTTP/1.1 200 OK", body: "x" }]),
    );
    members[1500].fill(0xff, 20, 60);
    await expect(rowsOf(Buffer.concat(members), [4096])).rejects.toMatchObject({
      code: "MM_BAD_INPUT",
      message: expect.stringMatching(/^record 1\d\d\d: the compressed data is damaged/) as string,
    });
  });

  it.each([
    ["a record cut short", (b: Buffer) => b.subarray(0, -8), /record 7, at byte \d+ .* cut short/],
    [
      "a header cut short",
      (b: Buffer) => b.subarray(0, 30),
      /record 1, at byte 0 .* without an end/,
    ],
    [
      "something else between records",
      (b: Buffer) => Buffer.concat([b, Buffer.from("rubbish\r\n\r\n")]),
      /record 8, at byte \d+ .* begins with "rubbish"/,
    ],
    [
      "a length that is none",
      (b: Buffer) =>
        Buffer.from(
          b.toString("latin1").replace(/Content-Length: \d+/, "Content-Length: x"),
          "latin1",
        ),
      /record 1, at byte 0 .* Content-Length that is a number, but "x"/,
    ],
  ])("says where there is %s", async (_name, change, message) => {
    const bytes = change(Buffer.concat(RECORDS.map(warcRecord)));
    await expect(rowsOf(bytes, [50])).rejects.toMatchObject({
      code: "MM_BAD_INPUT",
      message: expect.stringMatching(message) as string,
      position: { source: "test.warc.gz" },
    });
  });
});
