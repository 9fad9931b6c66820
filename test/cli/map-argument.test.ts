import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";

const CDXJ = 'com,a)/ 20130727042553 {"url": "http://a.com/", "status": "200"}\n';
const INDEXES = {
  CDXJ: CDXJ,
  "CDXJ with headers": `!meta {"sample": true}\n\n${CDXJ}`,
  "CDXJ, compressed": gzipSync(CDXJ),
  CDX: " CDX N b a m s k r M S V g\ncom,a)/ 20130727042553 http://a.com/ text/html 200 A - - 1 0 x\n",
  "CDX without a header": "com,a)/ 20130727042553 http://a.com/ text/html 200 A - - 1 0 x\n",
};
function fileOf(content: string | Uint8Array): string {
  const path = join(scratchDir(), "file");
  writeFileSync(path, content);
  return path;
}

describe("a file that is named as a map", () => {
  it.each(Object.entries(INDEXES))("is refused if it is an index: %s", async (_, content) => {
    const path = fileOf(content);
    const map = fileOf("com,a)/ 1\n");
    for (const argv of [
      ["lookup", path, "http://a.com/"],
      ["lookup", path, "--batch", path],
      ["merge", map, path],
      ["split", path, "--pages", "1", "-o", join(scratchDir(), "pages")],
      ["diff", map, path],
      ["compact", path],
      ["fit", path],
      ["evaluate", path, "--truth", map, "--lookups", map],
      ["evaluate", map, "--truth", path, "--lookups", map],
      ["generate", "--add", path, map],
      ["serve", path, "--port", "0"],
    ]) {
      expect({ argv, ...(await runCli(argv)) }).toEqual({
        argv,
        code: 2,
        stdout: "",
        stderr: `mementomap: ${path}: this is an index, not a map; make a map of it with mementomap generate [MM_BAD_INPUT]\n`,
      });
    }
  });

  it("is not said to lack a URI if it is a web page", async () => {
    const path = fileOf("<!doctype html>\n<title>404</title>\n");
    expect(await runCli(["lookup", path, "http://a.com/"])).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/file:1: .*\[MM_BAD_FREQUENCY\]\n$/) as string,
    });
  });

  it("comes before the URIs", async () => {
    const { code, stderr } = await runCli(["lookup", "https://a.com/", fileOf("com,a)/ 1\n")]);
    expect(code).toBe(2);
    expect(stderr).toContain('the map comes first, then URIs, and "https://a.com/" is no file');
  });
});
