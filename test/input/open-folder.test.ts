import { execFileSync } from "node:child_process";
import { symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { rowsOf } from "../generate/naive-map.ts";
import type { Files } from "../support/folder-with.ts";
import { folderWith } from "../support/folder-with.ts";
import { runCli } from "../support/run-cli.ts";
import { zipNum } from "../support/zipnum-fixture.ts";

const LINES = ["a", "b", "c", "d"].map((name) => `com,${name})/ 20140101000000 {}`);
const { data, index } = zipNum(LINES, 2, "part.cdx.gz");
const CLUSTER = { "a.idx": index, "part.cdx.gz": data };
const ALL = LINES.map((line) => `${line.split(" ", 1)[0]} 1`);

function generate(folder: string) {
  return runCli(["generate", "-q", "--threads", "1", folder]);
}

async function rows(folder: string): Promise<string[]> {
  const result = await generate(folder);
  expect(result).toMatchObject({ code: 0, stderr: "" });
  return rowsOf(result.stdout);
}

describe("a folder", () => {
  it.each<[string, Files]>([
    ["a ZipNum cluster", CLUSTER],
    [
      "a cluster, and files that are not an index",
      { ...CLUSTER, "README.md": "x", "part.md5": "x" },
    ],
    ["index files", { "a.cdxj": LINES[0], "b.cdxj.gz": gzipSync(LINES.slice(1).join("\n")) }],
    [
      "names with blanks and line ends",
      { "a b.cdxj": LINES[0], "c\nd.cdxj": LINES.slice(1).join("\n") },
    ],
    ["an index file that is empty", { "a.cdxj": LINES.join("\n"), "b.cdx": "" }],
    [
      "sub-folders, which are not looked into",
      { ...CLUSTER, "more/b.cdxj": LINES[0], "x.cdx/b.cdxj": LINES[0] },
    ],
  ])("stands for what it holds: %s", async (_what, files) => {
    expect(await rows(folderWith(files))).toEqual(ALL);
  });

  it("has changed when a file in it has", async () => {
    const folder = folderWith({ "a.cdxj": LINES[0] });
    utimesSync(join(folder, "a.cdxj"), 0, Date.UTC(2040, 0, 2) / 1000);
    const { stdout } = await generate(folder);
    expect(stdout).toContain('"updated_at":"2040-01-02T00:00:00Z"');
  });

  it("does not lead around in circles", async () => {
    const folder = folderWith(CLUSTER);
    symlinkSync(".", join(folder, "loop.cdx"));
    symlinkSync("..", join(folder, "up.idx"));
    expect(await rows(folder)).toEqual(ALL);
  });

  it.each<[string, Files, RegExp]>([
    ["no index", { "README.txt": "x" }, /no index in this folder: no \.idx, /],
    [
      "a cluster and another index",
      { ...CLUSTER, "other.cdxj": LINES[0] },
      /: "a\.idx" and "other\.cdxj" may hold the same captures, which would be counted twice; pass /,
    ],
    [
      "WARC files and the index of them, as Wget leaves them",
      { "crawl.cdx": " CDX a b a\n", "crawl.warc.gz": gzipSync("WARC/1.0\r\n") },
      /"crawl\.cdx" and "crawl\.warc\.gz" may hold the same captures/,
    ],
    ["an index of no cluster", { "a.idx": "what?\n" }, /a\.idx:1: not a line of a ZipNum index/],
  ])("is refused where it holds %s", async (_what, files, message) => {
    const { code, stderr } = await generate(folderWith(files));
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
  });

  it("is refused where it holds a link to nowhere", async () => {
    const folder = folderWith(CLUSTER);
    symlinkSync("gone", join(folder, "x.cdx"));
    const { code, stderr } = await generate(folder);
    expect(code).toBe(2);
    expect(stderr).toMatch(/x\.cdx: no such file or folder; check the path \[MM_IO\]/);
  });

  it.skipIf(process.platform === "win32")("is refused where it holds a pipe", async () => {
    const folder = folderWith(CLUSTER);
    execFileSync("mkfifo", [join(folder, "x.cdx")]);
    const { code, stderr } = await generate(folder);
    expect(code).toBe(2);
    expect(stderr).toMatch(/x\.cdx: not a regular file; pass its path to read it/);
  });
});

describe("standard input", () => {
  it("cannot be read twice", async () => {
    const { code, stderr } = await runCli(["generate", "-", "-"], { stdin: LINES.join("\n") });
    expect(code).toBe(2);
    expect(stderr).toMatch(/standard input can be read only once/);
  });
});

describe("the parts of a cluster", () => {
  const part = zipNum(
    ['org,secret)/private 20200101000000 {"url":"http://secret.org/private"}'],
    1,
    "x",
  );

  it.each<[string, Files]>([
    ["a name with dots", { "cluster/a.idx": part.index.replaceAll("\tx\t", "\t../hidden/x\t") }],
    ["a location", { "cluster/a.idx": part.index, "cluster/a.loc": "x\t../hidden/x\n" }],
  ])("are not read from outside its folder: %s", async (_what, files) => {
    const folder = folderWith({ ...files, "hidden/x": part.data });
    const result = await generate(join(folder, "cluster/a.idx"));
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain("no file found for part");
  });

  it("are read from folders below it", async () => {
    const folder = folderWith({
      "a.idx": part.index,
      "a.loc": "x\tparts/x\n",
      "parts/x": part.data,
    });
    expect(await rows(join(folder, "a.idx"))).toEqual(["org,secret)/private 1"]);
  });
});
