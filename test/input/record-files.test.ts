import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MementoMapError } from "../../src/errors.ts";
import { decompressed } from "../../src/files/decompress.ts";
import { generateMap } from "../../src/generate/generate-map.ts";
import type { RowSource } from "../../src/input/rows.ts";
import { arcRows, warcRows } from "../../src/input/warc.ts";
import type { Analysis } from "../../src/study/analyze/analysis.ts";
import { rowsOf as mapRows } from "../generate/naive-map.ts";
import { analyzeIndex } from "../study/analyze/analyze-index.ts";
import type { ArcRecord } from "../support/arc-fixture.ts";
import { arcFile, arcGz, arcRecord, versionBlock } from "../support/arc-fixture.ts";
import { rowTexts } from "../support/batch-text.ts";
import { chunked } from "../support/chunked.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import type { WarcRecord } from "../support/warc-fixture.ts";
import { warcGz, warcRecord } from "../support/warc-fixture.ts";

const WARC_RECORDS: WarcRecord[] = [
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

const WARC_ROWS = [
  "metadata:warcinfo\t20140126200624\t-\t-\t",
  "metadata:request\t20140126200624\t-\t-\t",
  "http://example.com/\t20140126200624\ttext/html\t200\t",
  "http://example.com/moved\t20140126200624\t-\t301\t",
  "http://example.com/\t20150203040506\twarc/revisit\t200\t",
  "http://example.com/logo\t20140126200624\timage/png\t-\t",
  "dns:example.com\t20140126200624\ttext/dns\t-\t",
];

const OK = "HTTP/1.0 200 OK";

const ARC_RECORDS: ArcRecord[] = [
  { uri: "dns:example.com", type: "text/dns", body: "20060102030405\nexample.com. 192.0.2.1\n" },
  {
    uri: "http://example.com/",
    http: `${OK}\ncontent-TYPE: Text/HTML; charset=utf-8`,
    body: "http://example.com/fake 192.0.2.1 20060102030405 text/html 3\nabc\n",
  },
  { uri: "http://example.com/moved", http: "HTTP/1.1 301 Moved\nLocation: /", type: "no-type" },
  { uri: "http://example.com/logo", type: "image/png", http: OK, body: "\u0000\n\n" },
  { uri: "http://example.com/http09", body: "<html>200 years old</html>" },
  { uri: "http://example.com/empty", type: "no-type" },
  { uri: "http://example.com/a b/c", http: OK, date: "200601020304" },
  { uri: "http://example.com/typed", http: OK, type: "text/plain; charset=utf-8" },
  { uri: "http://example.com/both ways", type: "text/html; charset=x", http: "ICY 404 No" },
  { uri: "http://example.com/caf\u00e9", http: OK, type: "" },
  { uri: "ftp://example.com/file", type: "application/zip", body: "PK\n\n" },
];

const ARC_ROWS = [
  "filedesc://test.arc\t0000\t-\t-\t",
  "dns:example.com\t20060102030405\ttext/dns\t-\t",
  "http://example.com/\t20060102030405\ttext/html\t200\t",
  "http://example.com/moved\t20060102030405\t-\t301\t",
  "http://example.com/logo\t20060102030405\timage/png\t200\t",
  "http://example.com/http09\t20060102030405\ttext/html\t-\t",
  "http://example.com/empty\t20060102030405\t-\t-\t",
  "http://example.com/a b/c\t200601020304\ttext/html\t200\t",
  "http://example.com/typed\t20060102030405\ttext/plain\t200\t",
  "http://example.com/both ways\t20060102030405\ttext/html\t404\t",
  "http://example.com/caf%E9\t20060102030405\t-\t200\t",
  "ftp://example.com/file\t20060102030405\tapplication/zip\t-\t",
];

async function rowsOf(
  rows: RowSource,
  bytes: Uint8Array,
  lengths: readonly number[] = [50],
): Promise<string[]> {
  const plain = decompressed(chunked(bytes, lengths), { source: "test" });
  return rowTexts(rows(plain, { source: "test", maxLineBytes: 1 << 20 }));
}

const joined = (...parts: (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));
const WARC_FILE = joined(...WARC_RECORDS.map(warcRecord));
const ARC_PAGE = arcRecord({ uri: "http://a.com/", http: OK });

const FORMATS = {
  warc: {
    source: warcRows,
    plain: WARC_FILE,
    members: warcGz(WARC_RECORDS),
    rows: WARC_ROWS,
    map: ["com,example)/ 2", "com,example)/logo 1", "com,example)/moved 1"],
    counts: { lines: 7, nonWeb: 3, captures: 4, revisits: 1, keyedByColumn: 0 },
    page: (uri: string) => warcRecord({ type: "response", uri, http: OK, body: "x" }),
    faults: [
      ["a record cut short", WARC_FILE.subarray(0, -8), /record 7, at byte \d+ .* truncated/],
      [
        "a header cut short",
        WARC_FILE.subarray(0, 30),
        /record 1, at byte 0 .* unterminated header/,
      ],
      [
        "something else between records",
        joined(WARC_FILE, "rubbish\r\n\r\n"),
        /record 8, at byte \d+ .* begins with "rubbish"/,
      ],
      [
        "a length that is none",
        joined(WARC_FILE.toString().replace(/Content-Length: \d+/, "Content-Length: x")),
        /record 1, at byte 0 .* has an invalid Content-Length: "x"/,
      ],
    ],
  },
  arc: {
    source: arcRows,
    plain: arcFile(ARC_RECORDS),
    members: arcGz(ARC_RECORDS),
    rows: ARC_ROWS,
    map: [
      "com,example)/ 1",
      "com,example)/a%20b/c 1",
      "com,example)/both%20ways 1",
      "com,example)/caf%e9 1",
      "com,example)/empty 1",
      "com,example)/file 1",
      "com,example)/http09 1",
      "com,example)/logo 1",
      "com,example)/moved 1",
      "com,example)/typed 1",
    ],
    counts: { lines: 12, nonWeb: 2, captures: 10, revisits: 0, keyedByColumn: 0 },
    page: (uri: string) => arcRecord({ uri, http: OK, body: "x" }),
    faults: [
      [
        "a record cut short",
        joined(versionBlock(), ARC_PAGE).subarray(0, -8),
        /record 2, at byte 123 .* is truncated: 12 of 19 bytes/,
      ],
      [
        "a first line cut short",
        joined(versionBlock(), "http://a.com/ 192.0"),
        /record 2, at byte \d+ .* has an unterminated header/,
      ],
      [
        "a first line without an end",
        joined(versionBlock(), "x".repeat(2 ** 21)),
        /record 2, at byte \d+ .* has an unterminated header/,
      ],
      [
        "a version block cut short",
        versionBlock().subarray(0, 66),
        /record 1, at byte 0 .* has an unterminated version block/,
      ],
      [
        "other columns than there should be",
        joined("filedesc://x 0.0.0.0 2006 text/plain 9\n1 0 x\na b c\n\n"),
        /record 1, at byte 0 .* names the columns "a b c"; expected "URL IP-address/,
      ],
      [
        "something else between records",
        joined(versionBlock(), ARC_PAGE, "rubbish\n"),
        /record 3, at byte \d+ .* begins with "rubbish", not with "url ip-address/,
      ],
      [
        "a length that is none",
        joined(versionBlock(), "http://a.com/ 192.0.2.1 20060102030405 text/html -1\n"),
        /record 2, at byte \d+ .* has an invalid Archive-length: "-1"/,
      ],
    ],
  },
} as const;

describe.each(["warc", "arc"] as const)("records of a file (%s)", (name) => {
  const { source, plain, members, rows, map, counts, page, faults } = FORMATS[name];

  it("are the same rows however the file is cut and compressed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<Buffer>(plain, members, gzipSync(plain)),
        fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 }),
        async (bytes, lengths) => {
          expect(await rowsOf(source, bytes, lengths)).toEqual(rows);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("make a map and an analysis in memory, with what is not a page counted apart", async () => {
    const input = () => ({ name: "test", chunks: chunked(plain, [64]) });
    const made = await generateMap([input()]);
    expect(mapRows(made.bytes)).toEqual(map);
    expect(made.counts).toMatchObject(counts);
    expect((await analyzeIndex([input()])).index.mementos).toBe(counts.captures);
  });

  it("are named where compressed data is damaged", async () => {
    const all = Array.from({ length: 2000 }, (_, i) => gzipSync(page(`http://a.com/${i}`)));
    all[1500].fill(0xff, 20, 60);
    await expect(rowsOf(source, Buffer.concat(all), [4096])).rejects.toMatchObject({
      code: "MM_BAD_INPUT",
      message: expect.stringMatching(/^record 1\d\d\d: the compressed data is damaged/) as string,
    });
  });

  it.each<readonly [string, Buffer, RegExp]>(faults)(
    "are named where there is %s",
    async (_name, bytes, message) => {
      await expect(rowsOf(source, bytes, [1000])).rejects.toMatchObject({
        code: "MM_BAD_INPUT",
        message: expect.stringMatching(message) as string,
        position: { source: "test" },
      });
    },
  );

  it("are read from files and from standard input, by generate and by analyze", async () => {
    const folder = scratchDir();
    const [file, compressed] = [join(folder, `a.${name}`), join(folder, `b.${name}.gz`)];
    writeFileSync(file, plain);
    writeFileSync(compressed, members);
    const others = [
      runCli(["generate", "-q", file]),
      runCli(["generate", "-q", "--format", name, compressed]),
      runCli(["generate", "-q"], { stdin: members }),
    ];
    for (const other of others) expect(mapRows((await other).stdout)).toEqual(map);
    const { stdout } = await runCli(["analyze", "--json", "-q", file, compressed]);
    const { index } = JSON.parse(stdout) as Analysis;
    expect(index).toMatchObject({ mementos: 2 * counts.captures, keys: map.length });
  });
});

describe("warcRows", () => {
  it("keeps the bytes of a URI that is not UTF-8", async () => {
    const record = warcRecord({
      type: "response",
      uri: "http://a.com/caf\u00e9",
      http: "HTTP/1.1 200 OK",
    });
    const bytes = Buffer.from(record.toString(), "latin1");
    expect(await rowsOf(warcRows, bytes, [40])).toEqual([
      "http://a.com/caf%E9\t20140126200624\t-\t200\t",
    ]);
    expect(await rowsOf(warcRows, record, [40])).toEqual([
      "http://a.com/caf\u00e9\t20140126200624\t-\t200\t",
    ]);
  });
});

describe("arcRows", () => {
  it("finds every record, whatever bytes are in bodies and between blanks of URIs", async () => {
    const word = fc.stringMatching(/^[!-~]{1,12}$/);
    const record = fc.record({
      words: fc.array(word, { minLength: 1, maxLength: 4 }),
      body: fc.uint8Array({ maxLength: 200 }),
      blankLines: fc.integer({ min: 0, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 12 }), async (list) => {
        const parts = list.flatMap(({ words, body, blankLines }) => [
          arcRecord({ uri: `http://a.com/${words.join(" ")}`, http: OK, body }),
          Buffer.from("\n".repeat(blankLines)),
        ]);
        const rows = await rowsOf(arcRows, Buffer.concat([versionBlock(), ...parts]), [7, 64]);
        expect(rows.slice(1).map((row) => row.split("\t")[0])).toEqual(
          list.map(({ words }) => `http://a.com/${words.join(" ")}`),
        );
      }),
      { numRuns: 100 },
    );
  });

  it("goes by the columns that the version block names, and by a later one's", async () => {
    const second = arcRecord({
      uri: "http://a.com/x y",
      more: " 404 12AB http://a.com/z 76 test.arc",
      body: "no header",
    });
    const other = Buffer.from(
      "filedesc://other.arc 0.0.0.0 x 52\n1 1 Test\nurl ip-address archive-date archive-length\n\n" +
        "http://b.com/ - 1996 3\nabc\n",
    );
    expect(await rowsOf(arcRows, Buffer.concat([versionBlock(2), second, other]))).toEqual([
      "filedesc://test.arc\t0000\t-\t-\t",
      "http://a.com/x y\t20060102030405\ttext/html\t404\t",
      "filedesc://other.arc\t0000\t-\t-\t",
      "http://b.com/\t1996\t-\t-\t",
    ]);
  });

  it("bears a version block whose length is off, has metadata, or is not there", async () => {
    const record = arcRecord({ uri: "http://a.com/", http: OK });
    const row = "http://a.com/\t20060102030405\ttext/html\t200\t";
    const short = versionBlock().toString().replace(/\d+\n/, "20\n");
    const metadata = versionBlock(1, "<?xml version='1.0'?>\n\n<arcmetadata/>\n");
    for (const block of [Buffer.from(short), metadata]) {
      const rows = await rowsOf(arcRows, Buffer.concat([block, record]));
      expect(rows).toEqual(["filedesc://test.arc\t0000\t-\t-\t", row]);
    }
    expect(await rowsOf(arcRows, Buffer.concat([record, record]))).toEqual([row, row]);
    expect(await rowsOf(arcRows, Buffer.from(""))).toEqual([]);
  });

  it("holds no body", async () => {
    const head = `http://a.com/big 192.0.2.1 20060102030405 video/x 4294967296\n${OK}\r\n\r\n`;
    const before = process.memoryUsage().arrayBuffers;
    let largest = 0;
    async function* huge(): AsyncGenerator<Uint8Array, void, undefined> {
      yield Buffer.concat([versionBlock(), Buffer.from(head)]);
      const block = new Uint8Array(2 ** 26);
      for (let left = 2 ** 32 - OK.length - 4; left > 0; left -= block.length) {
        yield left < block.length ? block.subarray(0, left) : block;
        largest = Math.max(largest, process.memoryUsage().arrayBuffers - before);
      }
      yield arcRecord({ uri: "http://a.com/next", http: OK });
    }
    const rows = await rowTexts(arcRows(huge(), { source: "huge.arc", maxLineBytes: 1 << 20 }));
    expect(rows.at(-1)).toMatch(/^http:\/\/a\.com\/next\t\d+\ttext\/html\t200\t$/);
    expect(largest).toBeLessThan(2 ** 28);
  });

  it("says the same of any damage, however the file is cut into chunks", async () => {
    const whole = arcFile(ARC_RECORDS);
    const told = async (bytes: Uint8Array, length: number): Promise<{ code: string }> =>
      rowsOf(arcRows, bytes, [length]).then(
        (rows) => ({ code: "read", rows }),
        ({ code, message }: MementoMapError) => ({ code, message }),
      );
    const damage = fc.record({
      at: fc.nat(whole.length - 1),
      bytes: fc.uint8Array({ maxLength: 4 }),
      end: fc.integer({ min: 1, max: whole.length }),
    });
    await fc.assert(
      fc.asyncProperty(damage, fc.integer({ min: 1, max: 99 }), async ({ at, bytes, end }, n) => {
        const broken = Buffer.from(whole);
        broken.set(bytes.subarray(0, whole.length - at), at);
        const plain = broken.subarray(0, end);
        fc.pre(plain[0] === whole[0]); // else it might be taken for compressed
        const found = await told(plain, plain.length);
        expect(await told(plain, n)).toEqual(found);
        expect(["read", "MM_BAD_INPUT"]).toContain(found.code);
      }),
      { numRuns: 200 },
    );
  });

  it("leaves a datetime that is none to who reads the rows, as it can be skipped", async () => {
    const bytes = arcFile([{ uri: "http://a.com/", date: "soon" }, { uri: "http://b.com/" }]);
    const source = { name: "test.arc", chunks: [bytes] };
    await expect(generateMap([source])).rejects.toMatchObject({ code: "MM_BAD_LINE" });
    const { counts } = await generateMap([source], { skipBad: true });
    expect(counts).toMatchObject({ bad: 1, captures: 1, nonWeb: 1 });
  });
});
