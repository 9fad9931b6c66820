import { readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, it } from "vitest";
import { sampleIndex } from "../../src/study/sample/sample-archive.ts";
import { rowsOf } from "../generate/naive-map.ts";
import type { Files } from "../support/folder-with.ts";
import { folderWith } from "../support/folder-with.ts";
import { runCli } from "../support/run-cli.ts";
import { warcGz } from "../support/warc-fixture.ts";
import { zipFile } from "../support/zip-fixture.ts";
import { zipNum } from "../support/zipnum-fixture.ts";

const LINES = Buffer.concat([...sampleIndex({ lines: 3000 })])
  .toString()
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("!"));
const TEXT = LINES.map((line) => `${line}\n`).join("");

/** The rows made of one input of a folder with these files. */
async function rows(
  files: Files,
  input: string,
  options: readonly string[] = [],
): Promise<string[]> {
  const result = await run(files, input, options);
  expect(result).toMatchObject({ code: 0, stderr: "" });
  return rowsOf(Buffer.from(result.stdout));
}

function run(files: Files, input: string, options: readonly string[] = []) {
  const path = join(folderWith(files), input);
  return runCli(["generate", "-q", "--threads", "1", ...options, path]);
}

const expected = await (async () => {
  const { stdout } = await runCli(["generate", "-q", "--threads", "1"], { stdin: TEXT });
  return rowsOf(Buffer.from(stdout));
})();

describe("ZipNum clusters", () => {
  const { data, index, waczIndex } = zipNum(LINES, 100, "cdx-00000");
  const half = LINES.length / 2;
  const first = zipNum(LINES.slice(0, half), 70, "part-0.cdx.gz");
  const second = zipNum(LINES.slice(half), 70, "part-1.cdx.gz");

  it.each<[string, Files, string]>([
    ["by their index", { "a.idx": index, "cdx-00000.cdx.gz": data }, "a.idx"],
    ["by their folder", { "c/a.idx": index, "c/cdx-00000.gz": data }, "c"],
    ["in the form of WACZ", { "index.idx": waczIndex, "cdx-00000": data }, "index.idx"],
    [
      "with a list of locations",
      { "c/a.idx": index, "c/a.loc": "cdx-00000\tdata/x.gz\n", "c/data/x.gz": data },
      "c/a.idx",
    ],
    [
      "with a list of locations that have moved here",
      { "c/a.idx": index, "c/b.loc": "cdx-00000\t/gone/x.gz\n", "c/x.gz": data },
      "c",
    ],
    [
      "of several parts",
      {
        "c/a.idx": first.index + second.index,
        "c/part-0.cdx.gz": first.data,
        "c/part-1.cdx.gz": second.data,
      },
      "c",
    ],
    [
      "with a list of locations of another name",
      { "c/a.idx": index, "c/b.loc": "cdx-00000\tdata/x.gz\n", "c/data/x.gz": data },
      "c/a.idx",
    ],
    [
      "with a list of locations for each",
      {
        "c/a.idx": first.index.replaceAll("part-0.cdx.gz", "part"),
        "c/a.loc": "part\tdata/a.gz\n",
        "c/b.idx": second.index.replaceAll("part-1.cdx.gz", "part"),
        "c/b.loc": "part\tdata/b.gz\n",
        "c/data/a.gz": first.data,
        "c/data/b.gz": second.data,
      },
      "c",
    ],
    ["without their index", { "cdx-00000.cdx.gz": data }, "cdx-00000.cdx.gz"],
    ["by a compressed index", { "a.idx.gz": gzipSync(index), "cdx-00000.gz": data }, "a.idx.gz"],
    ["whose index is compressed", { "c/a.idx.gz": gzipSync(index), "c/cdx-00000.gz": data }, "c"],
  ])("are read %s", async (_name, files, input) => {
    expect(await rows(files, input)).toEqual(expected);
  });

  it.each<[string, Files, string, RegExp]>([
    [
      "begins in the middle of a member",
      { "a.idx": index.replace(/\t0\t(\d+)\t1\n/, "\t1\t$1\t1\n"), "cdx-00000": data },
      "MM_BAD_INPUT",
      /a\.idx: the index does not match the data: the block of ".*" begins at 1 /,
    ],
    [
      "ends early",
      { "a.idx": index.split("\n").slice(0, 5).join("\n"), "cdx-00000": data },
      "MM_BAD_INPUT",
      /it describes \d+ bytes of .*cdx-00000, which has \d+/,
    ],
    [
      "has a line that is none",
      { "a.idx": `${index}rubbish\n`, "cdx-00000": data },
      "MM_BAD_LINE",
      /a\.idx:31: not a line of a ZipNum index: "rubbish"/,
    ],
    [
      "names a file that is not there",
      { "a.idx": index },
      "MM_IO",
      /a\.idx: no file found for part "cdx-00000"/,
    ],
  ])("whose index %s are refused", async (_name, files, code, message) => {
    const result = await run(files, "a.idx");
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toMatch(message);
    expect(result.stderr).toContain(`[${code}]`);
  });

  it("cannot be read from standard input, and are neither a list of SURTs nor CDXJ", async () => {
    for (const stdin of [index, waczIndex, waczIndex.replace(/^!meta.*\n/, "")]) {
      const result = await runCli(["generate", "--threads", "1"], { stdin });
      expect(result).toMatchObject({ code: 2, stdout: "" });
      expect(result.stderr).toMatch(
        /stdin: this is the index of a ZipNum cluster.*\[MM_BAD_INPUT\]/,
      );
    }
  });

  it("are refused where a member is damaged", async () => {
    const damaged = Buffer.from(data);
    const [, offset = "0"] = /\t(\d+)\t\d+\t17\n/.exec(index) ?? [];
    damaged.fill(0xff, Number(offset) + 30, Number(offset) + 60);
    const result = await run({ "a.idx": index, "cdx-00000": damaged }, "a.idx");
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toMatch(/cdx-00000: the compressed data is damaged/);
  });

  it("do not let a block grow without limit", async () => {
    const bomb = gzipSync(Buffer.concat([Buffer.from("com,a)/ 2014\n"), Buffer.alloc(2 ** 27)]));
    const bombIndex = `com,a)/ 2014\tx.gz\t0\t${bomb.length}\t1\n`;
    const result = await run({ "a.idx": bombIndex, "x.gz": bomb }, "a.idx", ["--format", "zipnum"]);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/binary data is not an index/);
  });
});

describe("WACZ files", () => {
  const { data, waczIndex } = zipNum(LINES, 100, "index.cdx.gz");
  const warc = warcGz([
    { type: "response", uri: "http://example.com/", http: "HTTP/1.1 200 OK", body: "x" },
  ]);
  const entry = (name: string, content: string | Uint8Array, isDeflated = false) => ({
    name,
    data: Buffer.from(content),
    isDeflated,
  });

  it.each([
    [
      "by the ZipNum index",
      [
        entry("archive/a.warc.gz", warc),
        entry("indexes/index.idx", waczIndex, true),
        entry("indexes/index.cdx.gz", data),
      ],
    ],
    ["by a plain index", [entry("archive/a.warc.gz", warc), entry("indexes/index.cdxj", TEXT)]],
    ["by an index that is deflated", [entry("indexes/index.cdx", TEXT, true)]],
  ])("are read %s", async (_name, entries) => {
    expect(await rows({ "a.wacz": zipFile(entries) }, "a.wacz")).toEqual(expected);
  });

  it("without index are read by their WARC files", async () => {
    const zip = zipFile([entry("datapackage.json", "{}"), entry("archive/a.warc.gz", warc)]);
    expect(await rows({ "a.wacz": zip }, "a.wacz")).toEqual(["com,example)/ 1"]);
  });

  it.each<[string, Uint8Array, RegExp]>([
    ["that are no ZIP file", Buffer.from("PK\u0003\u0004 rubbish"), /invalid ZIP file/],
    [
      "without index and WARC",
      zipFile([entry("a.txt", "x")]),
      /no index in .* is it a WACZ file\?/,
    ],
    [
      "whose entries hold more than they say",
      zipFile([{ ...entry("indexes/index.cdx", TEXT, true), claimedSize: 1000 }]),
      /index\.cdx: more than the stated 1000 bytes \[MM_LIMIT\]/,
    ],
  ])("%s are refused", async (_name, zip, message) => {
    const result = await run({ "a.wacz": zip }, "a.wacz");
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toMatch(message);
  });
});

describe("Parquet files", () => {
  const captures = LINES.map((line) => {
    const [key = "", date = ""] = line.split(" ");
    const json = JSON.parse(line.slice(key.length + date.length + 2)) as Partial<
      Record<string, string>
    >;
    return { key, date, url: json["url"], status: json["status"], mime: json["mime"] };
  });
  const timeOf = (digits: string): Date =>
    new Date(digits.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/, "$1-$2-$3T$4:$5:$6Z"));
  const column = (
    name: string,
    value: (capture: (typeof captures)[number]) => unknown,
    type: "STRING" | "TIMESTAMP" | "INT32" = "STRING",
  ) => ({ name, data: captures.map(value), type });
  const parquet = (...columnData: ReturnType<typeof column>[]): Buffer =>
    Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: 700 }));
  const commonCrawl = parquet(
    column("url_surtkey", ({ key }) => key),
    column("url", ({ url }) => url),
    column("url_host_name", () => "x"),
    column("fetch_time", ({ date }) => timeOf(date), "TIMESTAMP"),
    column("fetch_status", ({ status = 0 }) => Number(status), "INT32"),
    column("content_mime_type", ({ mime = "" }) => mime),
  );

  it("are read with Common Crawl's columns", async () => {
    expect(await rows({ "a.parquet": commonCrawl }, "a.parquet")).toEqual(expected);
  });

  it("are read by their SURTs where they have no URIs", async () => {
    const keys = parquet(column("url_surtkey", ({ key }) => key));
    expect(await rows({ "a.parquet": keys }, "a.parquet")).toEqual(expected);
  });

  it("are filtered by time and status like any index", async () => {
    const options = ["--status", "200", "--to", "2005", "--by", "datetime:year"];
    const wanted = await runCli(["generate", "-q", "--threads", "1", ...options], { stdin: TEXT });
    expect(await rows({ "a.parquet": commonCrawl }, "a.parquet", options)).toEqual(
      rowsOf(Buffer.from(wanted.stdout)),
    );
  });

  it("without a column of URIs, or damaged, are refused", async () => {
    const other = parquet(column("x", () => "y"));
    const noUri = await run({ "a.parquet": other }, "a.parquet");
    expect(noUri).toMatchObject({ code: 2, stdout: "" });
    expect(noUri.stderr).toMatch(/no column of URIs or SURTs: .* found x \[MM_BAD_INPUT\]/);
    const cut = await run({ "a.parquet": commonCrawl.subarray(0, 5000) }, "a.parquet");
    expect(cut.code).toBe(2);
    expect(cut.stderr).toMatch(/invalid Parquet file .*\[MM_BAD_INPUT\]/);
  });
});

describe("gzip files", () => {
  it("that are damaged in one member among many are refused, and leave nothing", async () => {
    const { data } = zipNum(LINES, 1, "x");
    data.fill(0xff, data.length / 2, data.length / 2 + 100);
    const folder = folderWith({ "a.cdxj.gz": data, "b.cdxj.gz": gzipSync(TEXT) });
    const output = join(folder, "map.ukvs");
    const paths = ["a.cdxj.gz", "b.cdxj.gz"].map((name) => join(folder, name));
    const options = ["-q", "--threads", "1", "--tmp", folder, "-o", output];
    const result = await runCli(["generate", ...options, ...paths]);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/a\.cdxj\.gz: the compressed data is damaged .*\[MM_BAD_INPUT\]/);
    expect(readdirSync(folder).sort()).toEqual(["a.cdxj.gz", "b.cdxj.gz"]);
  });
});
