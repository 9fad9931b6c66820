import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { rowsOf } from "../generate/naive-map.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { warcGz, warcRecord } from "../support/warc-fixture.ts";

const INFO = "INFO: 2016/06/09 12:00:00.123456";

async function rows(
  files: Readonly<Record<string, string | Uint8Array>>,
  options: readonly string[] = [],
): Promise<string[]> {
  const folder = scratchDir();
  const paths = Object.keys(files).map((name) => join(folder, name));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const result = await runCli(["generate", "-q", "--threads", "1", ...options, ...paths]);
  expect(result).toMatchObject({ code: 0, stderr: "" });
  return rowsOf(Buffer.from(result.stdout));
}

const record = {
  type: "response",
  uri: "http://example.com/a",
  http: "HTTP/1.1 200 OK\nContent-Type: text/html",
};
const JSON_ROWS = JSON.stringify([
  ["urlkey", "timestamp", "original"],
  ["com,example)/a", "20140126200624", "http://example.com/a"],
]);
const ACCESS_LOG =
  'h - - [09/Jun/2016:12:00:00 +0000] "GET /web/20140126200624/http://example.com/a HTTP/1.1" 200 5\n';

describe("inputs that are not lines of an index", () => {
  it.each<[string, string | Uint8Array, string]>([
    ["a WARC file", warcRecord(record), "1"],
    ["a compressed WARC file", warcGz([record, { ...record, type: "revisit" }]), "2"],
    ["an answer in JSON", JSON_ROWS, "1"],
    ["an access log", ACCESS_LOG + ACCESS_LOG, "1+"],
  ])("are read from files and from standard input: %s", async (_name, content, count) => {
    const expected = [`com,example)/a ${count}`];
    expect(await rows({ input: content })).toEqual(expected);
    const bytes = Buffer.from(content);
    const zipped = bytes[0] === 0x1f ? bytes : gzipSync(bytes);
    expect(await rows({ "input.gz": zipped })).toEqual(expected);
    const { stdout } = await runCli(["generate", "-q", "--threads", "1"], {
      stdin: bytes,
    });
    expect(rowsOf(Buffer.from(stdout))).toEqual(expected);
  });

  it("are filtered like any other", async () => {
    const warc = Buffer.concat([
      warcRecord(record),
      warcRecord({ ...record, http: "HTTP/1.1 404 Not Found", date: "2015-01-01T00:00:00Z" }),
    ]);
    expect(await rows({ "a.warc": warc })).toEqual(["com,example)/a 2"]);
    expect(await rows({ "a.warc": warc }, ["--status", "404"])).toEqual(["com,example)/a 1"]);
    expect(await rows({ "a.warc": warc }, ["--by", "datetime:year"])).toEqual([
      "com,example)/a 2014 1",
      "com,example)/a 2015 1",
    ]);
  });
});

describe("MemGator logs", () => {
  it("tell of the same mementos, which are not added up over files", async () => {
    const log = (mementos: number): string =>
      `${INFO} Aggregating Mementos for http://example.com/a\n${INFO} ia => Success: ${mementos} mementos`;
    const files = { "1.log": log(3), "2.log.gz": gzipSync(log(7)), "3.log": log(0) };
    expect(await rows(files)).toEqual(["com,example)/a 7+"]);
    expect(await rows(files, ["--archive", "ia"])).toEqual(["com,example)/a 7+"]);
  });
});
