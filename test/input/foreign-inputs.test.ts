import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { folderWith } from "../support/folder-with.ts";
import { runCli } from "../support/run-cli.ts";

const CDXJ = 'com,z)/ 20150101000000 {"url": "http://z.com/"}\n';
const PAGE = '!meta {"page":{"number":1,"of":2,"first":"com,a)/","last":"com,b)/"}}\ncom,a)/ 1\n';

/** Runs a line in which `@name` is a file of the folder. */
function run(folder: string, line: string): ReturnType<typeof runCli> {
  return runCli(
    line.split(" ").map((word) => (word.startsWith("@") ? join(folder, word.slice(1)) : word)),
  );
}

describe("one page of a map in place of the map", () => {
  it.each([
    ["evaluate @map.ukvs --truth @page.ukvs --lookups @uris.txt"],
    ["evaluate @page.ukvs --truth @map.ukvs --lookups @uris.txt"],
    ["evaluate --sweep paper --truth @page.ukvs --lookups @uris.txt"],
    ["compact @page.ukvs"],
    ["compact @page.ukvs --max-lines 1"],
    ["fit @page.ukvs"],
    ["lookup @page.ukvs http://c.com/"],
    ["lookup @page.ukvs --batch @uris.txt"],
  ])("is refused: %s", async (line) => {
    const folder = folderWith({
      "new.cdxj": CDXJ,
      "page.ukvs": PAGE,
      "page.ukvs.gz": gzipSync(PAGE),
      "map.ukvs": "com,a)/ 1\ncom,c)/ 1\n",
      "uris.txt": "http://c.com/\n",
    });
    const { code, stdout, stderr } = await run(folder, line);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("this is page 1 of 2");
    expect(stderr).toContain("[MM_PAGE]");
  });
});

describe("a map in place of an index", () => {
  const rows = "com,a)/ 5\ncom,b)/* 3\ncom,b)/x 0\n";
  it.each([
    ["without headers", rows],
    ["compressed", gzipSync(rows)],
    ["with a size only", `!size {"bytes":32,"records":3}\n${rows}`],
    [
      "with a datetime",
      '!fields {"keys":["surt","datetime"],"values":["frequency"]}\ncom,a)/ : 5\n',
    ],
    ["with a frequency of two counts", "com,a)/ 5/2\n"],
    ["with a JSON block", 'com,a)/ 10 {"datetime":{"2015":"5"}}\n'],
  ])("is refused, as its wildcards would be lost: %s", async (_what, map) => {
    const folder = folderWith({ "map.ukvs": map, "new.cdxj": CDXJ });
    for (const line of [
      "generate @map.ukvs",
      "generate @new.cdxj @map.ukvs",
      "analyze @map.ukvs",
    ]) {
      const { code, stdout, stderr } = await run(folder, line);
      expect({ line, code, stdout }).toEqual({ line, code: 2, stdout: "" });
      expect(stderr).toContain("this is a map, not an index");
    }
  });

  it.each([
    ["a datetime", "com,a)/ 20150101000000\n"],
    ["a URI", "com,a)/ http://a.com/\n"],
    ["nothing", "com,a)/\n"],
  ])("is not what a list of SURTs with %s is", async (_what, list) => {
    const { code, stdout } = await run(folderWith({ "list.txt": list }), "generate @list.txt");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^com,a\)\/ 1$/m);
  });
});

describe("a map that is added to", () => {
  const cut = gzipSync(`com,a)/ 1\n${"com,b)/x 1\n".repeat(9)}`).subarray(0, -9);
  it.each([
    ["one page of two", PAGE, /page 2 of 2 is missing/],
    ["a line that is not a record", "com,a)/ 1\nx\n", /m\.ukvs:2: /],
    ["damage", cut, /m\.ukvs: .*truncated/],
  ])("loses no row to --skip-bad: %s", async (_what, map, message) => {
    const folder = folderWith({ "new.cdxj": CDXJ, "m.ukvs": map });
    for (const skip of ["", " --skip-bad"]) {
      const result = await run(folder, `generate @new.cdxj --add @m.ukvs${skip}`);
      expect(result).toMatchObject({ code: 2, stdout: "" });
      expect(result.stderr).toMatch(message);
      expect(result.stderr).not.toContain("--skip-bad");
    }
  });
});
