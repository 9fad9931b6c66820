import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, it } from "vitest";
import { surt } from "../../src/surt/uri-to-surt.ts";
import { rowsOf } from "../generate/naive-map.ts";
import { runCli, SMALL_MEMORY } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { zipFile } from "../support/zip-fixture.ts";
import { zipNum } from "../support/zipnum-fixture.ts";

const HOSTS = [
  "example.com",
  "www.example.com",
  "EXAMPLE.org",
  "münchen.de",
  "xn--mnchen-3ya.de",
  "127.0.0.1",
  "[2001:db8::1]",
  "localhost",
  "user:pw@host.net",
  "host.net:8080",
  "host.net:80",
  "foo_bar.com",
  "a.com.",
  "www2.x.org",
];
const PATHS = [
  "",
  "/",
  "/a/",
  "/A/B.html",
  "/a//b",
  "/a/../b",
  "/a;jsessionid=0123456789ABCDEF0123456789ABCDEF",
  "/%7Euser/",
  "/~user",
  "/é/ü",
  "/%E9",
  "/a%20b",
  "/x_(y)",
  "/a,b)/c",
  "/robots.txt",
  "/*",
  "/a?",
  "/(S(4hqa0555fwsecu455xqckv45))/mileg.aspx",
  "/a?b=2&a=1",
  "?q=1",
];
const TYPES = ["text/html", "image/png", "warc/revisit", "text/html;charset=utf-8"];
const STATUSES = ["200", "301", "404"];

interface Row {
  readonly key: string;
  readonly date: string;
  readonly uri: string;
  readonly mime: string;
  readonly status: string;
}

const ROWS: readonly Row[] = HOSTS.flatMap((host, h) =>
  PATHS.flatMap((path, p) =>
    [0, 1, 1].map((n) => {
      const uri = `${p % 2 === 0 ? "http" : "HTTPS"}://${host}${path}`;
      const date = `20${10 + ((h + p) % 9)}0${1 + n}01000000`;
      const mime = TYPES[(h + p + n) % TYPES.length] ?? "";
      const status = STATUSES[(h * 3 + p + n) % STATUSES.length] ?? "";
      return { key: surt(uri), date, uri, mime, status };
    }),
  ),
).sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));

const lines = (line: (row: Row) => string): string => ROWS.map((row) => `${line(row)}\n`).join("");
const cdx = ({ key, date, uri, mime, status }: Row): string =>
  `${key} ${date} ${uri} ${mime} ${status} X - - 1 2 f.warc.gz`;
const cdxj = (row: Row, json: unknown): string => `${row.key} ${row.date} ${JSON.stringify(json)}`;
const pywb = (row: Row): string =>
  cdxj(row, { url: row.uri, mime: row.mime, status: row.status, filename: "f.warc.gz" });
const ascii = (text: string): string =>
  text.replaceAll(
    /[^\0-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
const cluster = zipNum(
  ROWS.map((row) => pywb(row)),
  50,
  "part.cdx.gz",
);

type Files = Readonly<Record<string, string | Uint8Array>>;

/** The same captures as different tools write them down; the first file is the input. */
const FORMS: Readonly<Record<string, Files>> = {
  CDX: { a: ` CDX N b a m s k r M S V g\n${lines(cdx)}` },
  "CDX without header": { a: lines(cdx) },
  "CDX without SURTs": {
    a: lines((row) => cdx({ ...row, key: row.uri.replace(/^.*?\/\/(?:[^/]*@)?/, "") })),
  },
  "CDX of Wget": {
    a: ` CDX a b a m s k r M V g u\n${lines((row) => cdx({ ...row, key: row.uri }))}`,
  },
  CDXJ: { a: lines(pywb) },
  "CDXJ in any order": { a: ROWS.toReversed().map(pywb).join("\n") },
  "CDXJ in ASCII": { a: lines((row) => ascii(pywb(row))) },
  "CDXJ with CR and a byte order mark": { a: `\uFEFF${lines(pywb).replaceAll("\n", "\r\n")}` },
  "CDXJ of the Internet Archive": {
    a: lines((row) =>
      cdxj(row, { statuscode: row.status, mimetype: row.mime, original: row.uri, digest: "x" }),
    ),
  },
  "CDXJ with numbers": {
    a: lines((row) => cdxj(row, { url: row.uri, status: Number(row.status), mime: row.mime })),
  },
  "CDXJ in another dialect": {
    a: lines((row) => pywb({ ...row, key: row.key.replace(")", ",)") })),
  },
  "CDXJ, compressed": { a: gzipSync(lines(pywb)) },
  "JSON rows": {
    a: JSON.stringify([
      ["urlkey", "timestamp", "original", "mimetype", "statuscode"],
      ...ROWS.map(({ key, date, uri, mime, status }) => [key, date, uri, mime, status]),
    ]),
  },
  "JSON objects": {
    a: lines(({ key, date, uri, mime, status }) =>
      JSON.stringify({ urlkey: key, timestamp: date, url: uri, mime, status }),
    ),
  },
  ZipNum: { "a.idx": cluster.index, "part.cdx.gz": cluster.data },
  "ZipNum in the form of WACZ": { "a.idx": cluster.waczIndex, "part.cdx.gz": cluster.data },
  WACZ: {
    a: zipFile([
      { name: "indexes/index.idx", data: Buffer.from(cluster.waczIndex) },
      { name: "indexes/part.cdx.gz", data: cluster.data },
    ]),
  },
  "WACZ, deflated": {
    a: zipFile([{ name: "indexes/a.cdxj", data: Buffer.from(lines(pywb)), isDeflated: true }]),
  },
  Parquet: {
    a: new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          { name: "url_surtkey", data: ROWS.map((row) => row.key), type: "STRING" },
          { name: "url", data: ROWS.map((row) => row.uri), type: "STRING" },
          { name: "fetch_time", data: ROWS.map((row) => row.date), type: "STRING" },
          { name: "fetch_status", data: ROWS.map((row) => Number(row.status)), type: "INT32" },
          { name: "content_mime_type", data: ROWS.map((row) => row.mime), type: "STRING" },
        ],
      }),
    ),
  },
};

async function rowsOfForm(name: string, options: readonly string[]): Promise<string[]> {
  const folder = scratchDir();
  const files = Object.entries(FORMS[name] ?? {});
  for (const [file, content] of files) writeFileSync(join(folder, file), content);
  const input = join(folder, files[0]?.[0] ?? "");
  const result = await runCli([
    "generate",
    "-q",
    "--threads",
    "1",
    ...SMALL_MEMORY,
    ...options,
    input,
  ]);
  expect(result).toMatchObject({ code: 0, stderr: "" });
  return rowsOf(result.stdout);
}

describe.each([
  [[]],
  [["--status", "200"]],
  [["--mime", "text/html"]],
  [["--originals"]],
  [["--distinct"]],
  [["--by", "datetime:year"]],
  [["--revisits", "skip"]],
  [["--from", "2012", "--to", "201501"]],
  [["--exclude", "/[ab]"]],
])("the same captures in every format, with %j", (options) => {
  it("give the same rows", async () => {
    const expected = await rowsOfForm("CDX", options);
    expect(expected.length).toBeGreaterThan(40);
    for (const name of Object.keys(FORMS)) {
      expect({ name, rows: await rowsOfForm(name, options) }).toEqual({ name, rows: expected });
    }
  });
});
