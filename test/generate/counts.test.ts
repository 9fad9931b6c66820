import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, it } from "vitest";
import type { IndexCounts } from "../../src/generate/index-counts.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { warcGz } from "../support/warc-fixture.ts";
import { zipFile } from "../support/zip-fixture.ts";
import { zipNum } from "../support/zipnum-fixture.ts";

const CDXJ = [
  '!meta {"x": 1}',
  'com,a)/ 20140101000000 {"url": "http://a.com/", "mime": "text/html", "status": "200"}',
  'com,a)/ 20140101000000 {"url": "http://a.com/", "mime": "text/html", "status": "200"}',
  'com,a)/b 20150101000000 {"url": "http://a.com/b", "mime": "warc/revisit", "status": "200"}',
  'com,a)/b 20160101000000 {"url": "http://a.com/b", "mime": "text/html", "status": "404"}',
  'com,a)/c 20160101000000 {"url": "http://a.com/c", "mime": "image/png", "status": "200"}',
  "",
  'dns:a.com 20160101000000 {"url": "dns:a.com", "mime": "text/dns"}',
  "what?",
];
const CDX = [
  " CDX N b a m s k r M S V g",
  "com,a)/ 20140101000000 http://a.com/ text/html 200 A - - 1 2 x.warc.gz",
  "com,a)/b 20140101000000 http://a.com/b warc/revisit - A - - 1 2 x.warc.gz",
  "dns:a.com 20140101000000 dns:a.com text/dns - A - - 1 2 x.warc.gz",
  "com,a)/c 2014 http://a.com/c",
  "",
];
const SORTED = CDXJ.filter((line) => line.startsWith("com"));
const { data, waczIndex } = zipNum(SORTED, 2, "index.cdx.gz");
const requests = (...targets: string[]): string =>
  targets
    .map((target) => `::1 - - [1/Jan/2020:00:00:00 +0000] "GET ${target} HTTP/1.1" 200 1\n`)
    .join("");

type Content = string | Uint8Array;

/** Inputs of every format, with rows that count and rows that do not. */
const INPUTS: readonly (readonly [name: string, content: Content])[] = [
  ["cdxj", CDXJ.join("\n")],
  ["cdx", CDX.join("\r\n")],
  [
    "json-array",
    '[["urlkey","timestamp","original","statuscode"],["com,a)/","2014","http://a.com/","404"],["x"],["com,a)/","2014","http://a.com/","200"],[]]',
  ],
  ["json-lines", '{"urlkey":"com,a)/","timestamp":"2014","status":"200"}\n\nnull\n{}\n'],
  [
    "warc",
    warcGz([
      { type: "warcinfo" },
      { type: "request", uri: "http://a.com/" },
      {
        type: "response",
        uri: "http://a.com/",
        http: "HTTP/1.1 200 OK\nContent-Type: text/html",
      },
      { type: "revisit", uri: "http://a.com/", http: "HTTP/1.1 200 OK" },
      { type: "response", uri: "dns:a.com", contentType: "text/dns" },
    ]),
  ],
  [
    "wacz",
    zipFile([
      { name: "indexes/index.idx", data: Buffer.from(waczIndex) },
      { name: "indexes/index.cdx.gz", data },
    ]),
  ],
  [
    "parquet",
    new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          { name: "url", data: ["http://a.com/", "dns:a.com", "http://a.com/b"] },
          { name: "fetch_status", data: [200, 0, 404], type: "INT32" },
          { name: "fetch_time", data: ["20140101000000", "20140101000000", "when?"] },
        ],
      }),
    ),
  ],
  ["urls", "http://a.com/\n\n  \nhttp://a.com/?b\ndns:a.com\n"],
  ["surts", "com,a)/\ncom,a,)/B\n\nwhat?\ndns:a.com\n"],
  ["log", `${requests("/", "/web/2014/http://a.com/", "/web/2014/http://a.com/")}what?\n`],
  [
    "timemap",
    '<http://a.com/>; rel="original",\n<http://x/web/20140101000000/http://a.com/>; rel="memento"; datetime="Wed, 01 Jan 2014 00:00:00 GMT"\n',
  ],
];

async function countsOf(argv: readonly string[]): Promise<IndexCounts & { rows: number }> {
  const { code, stderr } = await runCli(["generate", "--json", "--threads", "1", ...argv]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "") as IndexCounts & { rows: number };
}

function expectToAddUp(counts: IndexCounts): void {
  const { lines, blank, headers, nonWeb, bad, unproven, filtered, counted } = counts;
  const leftOut = Object.values(filtered).reduce((sum, count) => sum + count, 0);
  expect(blank + headers + nonWeb + bad + unproven + leftOut + counted).toBe(lines);
}

describe("the counts of the summary", () => {
  it.each(INPUTS)("add up to all lines: %s", async (name, content) => {
    const path = join(scratchDir(), name);
    writeFileSync(path, content);
    for (const options of [
      [],
      ["--status", "200"],
      ["--mime", "text/html"],
      ["--from", "2015", "--exclude", "/c"],
      ["--revisits", "skip"],
      ["--distinct"],
    ]) {
      const counts = await countsOf(["--skip-bad", ...options, path]);
      expectToAddUp(counts);
      expect(counts.captures).toBe(counts.counted);
    }
  });

  it("add up for logs of MemGator, whose lines tell of many captures, or of none", async () => {
    const path = join(scratchDir(), "log");
    const info = (text: string): string => `INFO: 2016/06/09 12:00:00.123456 ${text}\n`;
    const asked = (uri: string, outcome: string): string =>
      info(`Aggregating Mementos for ${uri}`) + info(outcome);
    writeFileSync(
      path,
      asked("http://a.com/", "ia => Success: 42 mementos") +
        asked("http://b.com/", "ia => Response error: 404 Not Found") +
        asked("http://b.com/?q", "ia => Response error: 404 Not Found") +
        asked("http://c.com/", "loc => Success: 1 mementos") +
        "what?\n",
    );
    const counts = await countsOf(["--archive", "ia", path]);
    expectToAddUp(counts);
    expect(counts).toMatchObject({ lines: 9, unproven: 7, counted: 2, captures: 42, rows: 2 });
  });
});
