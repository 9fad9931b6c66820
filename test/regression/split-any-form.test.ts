import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyMap } from "../support/any-map.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { serving } from "../support/serving.ts";
import { cases } from "../support/cases.ts";

const HEAD = '!fields {"keys":["surt"],"values":["frequency"]}';

/** The paths of the pages that `split` makes of a map. */
async function pagesOf(path: string, folder: string, ...options: string[]): Promise<string[]> {
  const split = await runCli(["split", "-q", path, ...options, "-o", folder]);
  expect(split).toEqual({ code: 0, stdout: "", stderr: "" });
  const pages = options.includes("--html") ? join(folder, "pages") : folder;
  return readdirSync(pages)
    .filter((name) => name.endsWith(".ukvs"))
    .map((name) => join(pages, name));
}

async function mergedMap(...paths: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(["merge", "-q", ...paths]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

describe("split of a map that is not in the form of writers", () => {
  it.each([
    ["CRLF", `${HEAD}\r\ncom,a)/ 1\r\ncom,b)/ 2\r\ncom,c)/ 3\r\n`],
    ["CRLF and no last line end", `${HEAD}\r\ncom,a)/ 1\r\ncom,b)/ 2\r\ncom,c)/ 3`],
    ["a byte order mark", `\uFEFF${HEAD}\ncom,a)/ 1\ncom,b)/ 2\n`],
    ["tabs", `${HEAD}\ncom,a)/\t1\ncom,b)/ \t2\n`],
    ["blank lines", `${HEAD}\ncom,a)/ 1\n\n \t\ncom,b)/ 2\n\n`],
    ["quoted values", `${HEAD}\ncom,a)/ "1"\ncom,b)/ "2"\n`],
    ["older home pages", `${HEAD}\ncom,a) 1\ncom,b) 5/\n`],
    ["a * that is not a wildcard", `${HEAD}\ncom,a)/b(1) 1\ncom,a)/b*c 2\n`],
  ])("gives pages without a warning: %s", async (_, text) => {
    for (const options of [
      ["--pages", "2"],
      ["--max-lines", "1"],
      ["--pages", "2", "--html"],
    ]) {
      const folder = scratchDir();
      const path = join(folder, "map.ukvs");
      writeFileSync(path, text);
      const pages = await pagesOf(path, join(folder, "pages"), ...options);
      expect(pages.length).toBeGreaterThan(1);
      for (const page of pages) {
        const { code, stdout } = await runCli(["validate", page]);
        expect([code, stdout]).toEqual([0, ""]);
      }
      expect(await mergedMap(...pages.toReversed())).toBe(await mergedMap(path));
    }
  });

  it("publishes a site whose map has no warning either", async () => {
    const folder = scratchDir();
    const path = join(folder, "map.ukvs");
    writeFileSync(path, `\uFEFF${HEAD}\r\ncom,a)\t1\r\ncom,b)/ 2\r\n`);
    await pagesOf(path, join(folder, "site"), "--pages", "2", "--html");
    const map = join(folder, "site", ".well-known", "mementomap");
    expect(readFileSync(map, "utf8")).toBe(await mergedMap(path));
  });

  it("gives pages that merge to what the map alone does, and have no other errors", async () => {
    const folder = scratchDir();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(anyMap(2), fc.integer({ min: 1, max: 4 }), async ({ bytes }, count) => {
        const own = join(folder, String(run++));
        mkdirSync(own);
        const path = join(own, "map.ukvs");
        writeFileSync(path, bytes);
        const alone = await runCli(["merge", "-q", path]);
        const options = ["--pages", String(count), "-o", join(own, "pages")];
        const split = await runCli(["split", "-q", path, ...options]);
        expect(split.code).toBe(alone.code);
        if (split.code !== 0) return;
        const pages = readdirSync(join(own, "pages")).map((name) => join(own, "pages", name));
        expect(await mergedMap(...pages)).toBe(alone.stdout);
        const isValid = async (map: string, stdin = ""): Promise<boolean> =>
          (await runCli(["validate", "-q", map], { stdin })).code === 0;
        const areValid = await Promise.all(pages.map((page) => isValid(page)));
        expect(areValid.every(Boolean)).toBe(await isValid("-", alone.stdout));
      }),
      { numRuns: cases(60) },
    );
  });
});

it.each([
  ["CRLF", `${HEAD}\r\ncom,a)/ 1\r\ncom,b)/ 2\r\n`],
  ["a byte order mark", `\uFEFF${HEAD}\ncom,a)/ 1\ncom,b)/ 2\n`],
])("serve gives valid pages of a map with %s", async (_, text) => {
  const { url } = await serving(text, { pageRecords: 1 });
  const folder = scratchDir();
  const paths: string[] = [];
  for (const number of [1, 2]) {
    const response = await fetch(`${url}/maps/map?page=${number}`);
    expect(response.status).toBe(200);
    const path = join(folder, `${number}.ukvs`);
    writeFileSync(path, await response.text());
    expect(await runCli(["validate", "-q", path])).toMatchObject({ code: 0 });
    paths.push(path);
  }
  const whole = join(folder, "map.ukvs");
  writeFileSync(whole, text);
  expect(await mergedMap(...paths)).toBe(await mergedMap(whole));
});
