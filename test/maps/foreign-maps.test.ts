import { join } from "node:path";
import { existsSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { folderWith } from "../support/folder-with.ts";
import { runCli } from "../support/run-cli.ts";

const MAP = '!fields {"keys":["surt"],"values":["frequency"]}\ncom,a)/ 1\n';
const CDXJ = 'com,a)/ 20150101000000 {"url": "http://a.com/"}\ncom,b)/ 20150101000000 {}\n';
const CDX_ROW = "com,a)/ 20150101000000 http://a.com/ text/html 200 AAAA - - 10 0 x.warc.gz\n";
const PAGE = "<!DOCTYPE html>\n<html><head><title>Log in</title></head></html>\n";

/** What people give by mistake in place of a map, and what is said. */
const PLAIN: Readonly<Record<string, readonly [content: string, says: string]>> = {
  "page.html": [PAGE, "this is an HTML page, not a map"],
  "bare.html": ["\n  <html><body>http://a.com/ 5\n", "this is an HTML page, not a map"],
  "index.cdxj": [CDXJ, "this is a CDXJ index, not a map"],
  "headed.cdxj": [`!meta {"name":"x"}\n${CDXJ}`, "this is a CDXJ index, not a map"],
  "headed.cdx": [` CDX N b a m s k r M S V g\n${CDX_ROW}`, "this is a CDX index, not a map"],
  "index.cdx": [CDX_ROW, "this is a CDX index, not a map"],
  "a.warc": [
    "WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
    "this is a WARC file, not a map",
  ],
  "a.arc": [
    "filedesc://a.arc 0.0.0.0 20150101000000 text/plain 2\n1 0\n\n",
    "this is an ARC file, not a map",
  ],
};
interface Foreign {
  readonly content: string | Uint8Array;
  readonly says: string;
}
const FOREIGN: Readonly<Record<string, Foreign>> = Object.fromEntries(
  Object.entries(PLAIN).flatMap(([name, [content, says]]) => [
    [name, { content, says }],
    [`${name}.gz`, { content: gzipSync(content), says }],
  ]),
);

const COMMANDS = [
  "compact @FOREIGN -o @out",
  "compact @FOREIGN --max-lines 20 -o @out",
  "lookup @FOREIGN http://a.com/",
  "lookup @FOREIGN --batch @uris.txt",
  "merge @FOREIGN @map.ukvs -o @out",
  "merge @map.ukvs @FOREIGN -o @out",
  "diff @FOREIGN @map.ukvs",
  "diff @map.ukvs @FOREIGN",
  "split @FOREIGN --max-lines 10 -o @out",
  "page @FOREIGN -o @out",
  "serve @FOREIGN --port 0",
  "evaluate @FOREIGN --truth @map.ukvs --lookups @uris.txt",
  "generate @more.cdxj --add @FOREIGN -o @out",
  "fit @FOREIGN",
];

let folder = "";
const words = (line: string, name: string): string[] =>
  line
    .replace("FOREIGN", name)
    .split(" ")
    .map((word) => (word.startsWith("@") ? join(folder, word.slice(1)) : word));

beforeEach(() => {
  folder = folderWith({
    ...Object.fromEntries(Object.entries(FOREIGN).map(([name, { content }]) => [name, content])),
    "map.ukvs": MAP,
    "more.cdxj": CDXJ,
    "uris.txt": "http://a.com/\nhttp://b.com/\n",
  });
});

describe.each(Object.entries(FOREIGN))("%s in place of a map", (name, { says }) => {
  it.each(COMMANDS)("is refused by %s", async (line) => {
    const { code, stdout, stderr } = await runCli(words(line, name));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`${join(folder, name)}: ${says}`);
    expect(stderr).toContain("[MM_BAD_INPUT]");
    expect(existsSync(join(folder, "out"))).toBe(false);
  });

  it("is one fault to validate, not one for each row", async () => {
    const { code, stdout, stderr } = await runCli(["validate", join(folder, name)]);
    expect(code).toBe(1);
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`error: ${says}`);
    expect(lines[0]).toMatch(/\[not-a-map\]$/);
    expect(stderr).toBe("1 error, 0 warnings\n");
  });

  it("leaves an archive without a map, and route says why", async () => {
    const list = [{ id: "a", name: "A", timemap: "http://127.0.0.1:9/timemap/", mementomap: name }];
    const archives = folderWith({
      "archives.json": JSON.stringify(list),
      [name]: FOREIGN[name].content,
    });
    const { stderr } = await runCli([
      "route",
      "--archives",
      join(archives, "archives.json"),
      "http://a.com/",
    ]);
    expect(stderr).toContain(says);
  });
});
