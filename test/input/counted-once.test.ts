import { linkSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { rowsOf } from "../generate/naive-map.ts";
import { folderWith } from "../support/folder-with.ts";
import { type CliResult, runCli } from "../support/run-cli.ts";
import { spawnShell } from "../support/spawn-cli.ts";
import { warcRecord } from "../support/warc-fixture.ts";
import { zipFile } from "../support/zip-fixture.ts";
import { zipNum } from "../support/zipnum-fixture.ts";

const WARC = gzipSync(
  warcRecord({ type: "response", uri: "http://a.com/x", date: "2014-01-01T00:00:00Z" }),
);
const CDXJ =
  'com,a)/x 20140101000000 {"url": "http://a.com/x", "filename": "somewhere/one.warc.gz"}\n';
const CDX =
  " CDX N b a m s k r M S V g\ncom,a)/x 20140101000000 http://a.com/x text/html 200 X - - 9 0 one.warc.gz\n";

function generate(...paths: string[]): Promise<CliResult> {
  return runCli(["generate", "--threads", "1", ...paths]);
}

const ARC =
  "filedesc://a.arc 192.0.2.1 20140101000000 text/plain 70\n1 0 X\n" +
  "URL IP-address Archive-date Content-type Archive-length\n\n" +
  "http://a.com/x 192.0.2.1 20140101000000 text/html 2\nhi\n";
const WACZ = zipFile([
  { name: "archive/one.warc.gz", data: WARC },
  { name: "indexes/index.cdxj", data: Buffer.from(CDXJ) },
]);

describe("a file of records and an index", () => {
  it.each([
    ["CDXJ", { "one.warc.gz": WARC, "i.cdxj": CDXJ }],
    ["CDX", { "one.warc.gz": WARC, "i.cdx": CDX }],
    ["compressed CDXJ", { "one.warc.gz": WARC, "i.cdxj.gz": gzipSync(CDXJ) }],
    ["an ARC file", { "a.arc": ARC, "a.cdx": CDX }],
    ["a WACZ file", { "one.warc.gz": WARC, "a.wacz": WACZ }],
  ])("are refused, by name and in a folder: %s", async (_, files) => {
    const folder = folderWith(files);
    const paths = Object.keys(files).map((name) => join(folder, name));
    for (const inputs of [paths, paths.toReversed(), [folder]]) {
      const { code, stdout, stderr } = await generate(...inputs);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(/may hold the same captures, which would be counted twice/);
    }
  });

  it("are counted once in a collection of pywb", async () => {
    const folder = folderWith({
      "archive/one.warc.gz": WARC,
      "indexes/index.cdxj": CDXJ,
      "metadata.yaml": "x",
    });
    expect(rowsOf((await generate(folder)).stdout)).toEqual(["com,a)/x 1"]);
    renameSync(join(folder, "indexes"), join(folder, "old"));
    mkdirSync(join(folder, "indexes"));
    expect(rowsOf((await generate(folder)).stdout)).toEqual(["com,a)/x 1"]);
  });
});

describe("the same file", () => {
  it.each<[string, (folder: string) => string]>([
    ["by its path", (folder) => join(folder, "i.cdxj")],
    ["by another path", (folder) => `${folder}/./i.cdxj`],
    [
      "by a symbolic link",
      (folder) => {
        symlinkSync("i.cdxj", join(folder, "link"));
        return join(folder, "link");
      },
    ],
    [
      "by a hard link",
      (folder) => {
        linkSync(join(folder, "i.cdxj"), join(folder, "hard"));
        return join(folder, "hard");
      },
    ],
    ["by its folder", (folder) => folder],
  ])("is refused %s", async (_, again) => {
    const folder = folderWith({ "i.cdxj": CDXJ });
    const { code, stderr } = await generate(join(folder, "i.cdxj"), again(folder));
    expect(code).toBe(2);
    expect(stderr).toMatch(/counted twice.* \[MM_USAGE\]/);
  });
});

describe("a file and its compressed copy", () => {
  it.each([
    ["index.cdxj", CDXJ],
    ["index.cdx", CDX],
    ["one.warc", warcRecord({ type: "response", uri: "http://a.com/x" })],
  ])("are refused: %s", async (name, content) => {
    const folder = folderWith({ [name]: content, [`${name}.gz`]: gzipSync(content) });
    const [plain, compressed] = [join(folder, name), join(folder, `${name}.gz`)];
    for (const paths of [[plain, compressed], [compressed, plain], [folder]]) {
      const { code, stdout, stderr } = await generate(...paths);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(/copies of one file, which would be counted twice/);
    }
    expect((await generate(compressed)).code).toBe(0);
  });

  it("may be files of two folders", async () => {
    const folder = folderWith({ "a/index.cdxj": CDXJ, "b/index.cdxj.gz": gzipSync(CDXJ) });
    const paths = ["a/index.cdxj", "b/index.cdxj.gz"].map((name) => join(folder, name));
    expect(rowsOf((await generate(...paths)).stdout)).toEqual(["com,a)/x 2"]);
  });
});

it("standard input that is a file given by name too is refused", async () => {
  const path = join(folderWith({ "index.cdxj": CDXJ }), "index.cdxj");
  const { code, stdout, stderr } = await spawnShell(`mementomap generate - '${path}' < '${path}'`);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("are the same file");
});

describe("a ZipNum cluster", () => {
  const LINES = ["a", "b"].map((name) => `com,${name})/ 20140101000000 {}`);

  it("is found beside its index if that names it by another path", async () => {
    const { data, index } = zipNum(LINES, 1, "/srv/elsewhere/part.cdx.gz");
    const folder = folderWith({ "a.idx": index, "part.cdx.gz": data });
    expect(rowsOf((await generate(folder)).stdout)).toEqual(["com,a)/ 1", "com,b)/ 1"]);
  });

  it.each([
    ["an offset", "9007199254740993\t10"],
    ["a length", "0\t99999999999999999999"],
    ["an end", "9007199254740990\t9007199254740990"],
  ])("is refused for %s beyond safe integers", async (_, numbers) => {
    const { data } = zipNum(LINES, 1, "part");
    const folder = folderWith({
      "a.idx": `com,a)/ 20140101000000\tpart.cdx.gz\t${numbers}\n`,
      "part.cdx.gz": data,
    });
    const { code, stderr } = await generate(folder);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/a\.idx:1: not a line of a ZipNum index/),
    });
  });

  it("is refused for a block that is not there", async () => {
    const { data } = zipNum(LINES, 1, "part");
    const folder = folderWith({
      "a.idx": "com,a)/ 20140101000000\tpart.cdx.gz\t0\t1000000000000\n",
      "part.cdx.gz": data,
    });
    expect(await generate(folder)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/the index does not match the data/),
    });
  });
});

describe("a damaged WARC file", () => {
  const CUT = warcRecord({ type: "response", uri: "http://a.com/x" }).subarray(0, -30);

  it("that is cut names --skip-bad", async () => {
    const { code, stderr } = await generate(join(folderWith({ "x.warc": CUT }), "x.warc"));
    expect(code).toBe(2);
    expect(stderr).toMatch(/use --skip-bad to skip damaged records/);
  });

  it("makes no map if nothing can be read, unless that is insisted on", async () => {
    const damaged = Buffer.from(WARC);
    damaged[40] ^= 0xff;
    const folder = folderWith({ "x.warc.gz": damaged, "map.ukvs": "com,a)/x 1\n" });
    const map = join(folder, "map.ukvs");
    const fresh = join(folder, "new.ukvs");
    const run = (...more: string[]): Promise<CliResult> =>
      generate(join(folder, "x.warc.gz"), "--skip-bad", ...more);
    for (const output of [map, fresh]) {
      const { code, stderr } = await run("-o", output);
      expect({ code, stderr }).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/MM_EMPTY/),
      });
    }
    expect((await runCli(["lookup", map, "http://a.com/x"])).stdout).toMatch(/present/);
    expect((await run("-o", fresh, "--force")).code).toBe(0);
  });

  it("is reported in records", async () => {
    const folder = folderWith({
      "x.warc": Buffer.concat([
        warcRecord({ type: "response", uri: "http://a.com/x" }),
        warcRecord({ type: "request", uri: "http://a.com/x" }),
      ]),
    });
    const { stderr } = await generate(join(folder, "x.warc"));
    expect(stderr).toMatch(/^ *records +2/m);
    expect(stderr).toMatch(/not web content +1 +requests, warcinfo, metadata/);
  });
});
