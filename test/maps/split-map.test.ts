import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemorySource, sourceChunks } from "../../src/bytes/byte-source.ts";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import { pageSource, planPages, type SplitSize } from "../../src/maps/split-map.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { serving } from "../support/serving.ts";
import { anyMap } from "../lookup/any-map-and-questions.ts";
import { lookupSurt, rows } from "../lookup/map-arbitraries.ts";
import { collected, decode, encode, mapText, merged } from "./map-files.ts";
import { cases } from "../support/cases.ts";

const HEADERS = [
  '!context ["https://git.io/mementomap"]',
  '!fields {"keys":["surt"],"values":["frequency"]}',
  '!id {"uri":"https://archive.example.org/"}',
  '!meta {"name":"Example","zone":"z"}',
];

async function split(text: string, size: SplitSize): Promise<string[]> {
  const source = new MemorySource(encode(text), "m.ukvs");
  const plan = await planPages(source, size);
  return Promise.all(
    plan.pages.map(async (page) => {
      return decode(Buffer.concat(await collected(sourceChunks(pageSource(source, plan, page)))));
    }),
  );
}

function recordsOf(page: string): string[] {
  return page.split("\n").filter((line) => line !== "" && !line.startsWith("!"));
}

const headers = fc.constantFrom([], HEADERS, [...HEADERS, '!meta {"more":1}', '!other "x"']);
const size: fc.Arbitrary<SplitSize> = fc.oneof(
  fc.record({ pages: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ maxLines: fc.integer({ min: 1, max: 6 }) }),
);

describe("planPages and pageSource", () => {
  it("give pages that merge into the same bytes, in whatever order they come", async () => {
    await fc.assert(
      fc.asyncProperty(
        rows,
        headers,
        size,
        fc.boolean(),
        async (content, head, asked, isTurned) => {
          const text = mapText(content, head.toSorted());
          const pages = await split(text, asked);
          expect(await merged(...(isTurned ? pages.toReversed() : pages))).toBe(await merged(text));
        },
      ),
    );
  });

  it("give pages of the size asked for, each a map with all headers", async () => {
    await fc.assert(
      fc.asyncProperty(rows, headers, size, async (content, head, asked) => {
        const pages = await split(mapText(content, head), asked);
        const counts = pages.map((page) => recordsOf(page).length);
        const expected =
          "pages" in asked
            ? { count: Math.min(asked.pages, content.length), spread: 1, most: Infinity }
            : {
                count: Math.ceil(content.length / asked.maxLines),
                spread: Infinity,
                most: asked.maxLines,
              };
        expect(pages).toHaveLength(Math.max(1, expected.count));
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(expected.spread);
        expect(Math.max(...counts)).toBeLessThanOrEqual(expected.most);
        for (const [i, page] of pages.entries()) {
          const map = MemoryIndex.build(encode(page));
          const keys = recordsOf(page).map((line) => line.split(" ")[0]);
          expect(map.headers.meta["page"]).toEqual({
            number: i + 1,
            of: pages.length,
            ...(keys.length === 0 ? {} : { first: keys[0], last: keys.at(-1) }),
          });
          expect(head.every((line) => page.includes(`${line}\n`))).toBe(true);
        }
      }),
    );
  });

  it("keep exclusions when the pages are merged with another map", async () => {
    await fc.assert(
      fc.asyncProperty(rows, rows, size, fc.array(lookupSurt), async (a, b, asked, uris) => {
        const pages = await split(mapText(a, HEADERS), asked);
        const other = mapText(b, HEADERS);
        const whole = await merged(mapText(a, HEADERS), other);
        const paged = await merged(...pages, other);
        expect(paged).toBe(whole);
        const index = MemoryIndex.build(encode(paged));
        for (const uri of uris) {
          const parts = [mapText(a), mapText(b)].map((map) => MemoryIndex.build(encode(map)));
          expect(index.lookupSurtSync(uri).present).toBe(
            parts.some((map) => map.lookupSurtSync(uri).present),
          );
        }
      }),
      { numRuns: cases(200) },
    );
  });

  it("keep the parts of two splits apart", async () => {
    const a = await split('!meta {"name":"A"}\ncom,a)/ 1\ncom,b)/ 1\n', { pages: 2 });
    const b = await split('!meta {"name":"B"}\ncom,a)/ 2\ncom,b)/ 2\n', { pages: 2 });
    expect(await merged(...a, ...b)).toBe(
      '!meta {"merged_from":[{"name":"A"},{"name":"B"}]}\ncom,a)/ 3\ncom,b)/ 3\n',
    );
  });

  it("adds the newline that the last line lacks, and keeps long lines whole", async () => {
    const long = `com,b)/${"x".repeat(300_000)} 2`;
    const pages = await split(`com,a)/ 1\n\n${long}\n\ncom,c)/ 3`, { maxLines: 1 });
    expect(pages.map(recordsOf)).toEqual([["com,a)/ 1"], [long], ["com,c)/ 3"]]);
    expect(pages.every((page) => page.endsWith("\n"))).toBe(true);
  });

  it.each<SplitSize>([{ maxLines: 2 }, { pages: 3 }])(
    "keep all rows of a key on one page when asked for %j",
    async (asked) => {
      const fields = '!fields {"keys":["surt","datetime"],"values":["frequency"]}';
      const lines = ["a 1", "b 1", "b 2", "b 3", "c 1", "d 1", "d 2"].map((keys) => {
        const [site, year] = keys.split(" ");
        return `com,${site})/ 200${year} 1`;
      });
      const pages = await split(`${fields}\n${lines.join("\n")}\n`, asked);
      const sites = pages.map((page) =>
        recordsOf(page)
          .map((line) => line.slice(4, 5))
          .join(""),
      );
      expect(sites).toEqual("maxLines" in asked ? ["a", "bbb", "c", "dd"] : ["abbb", "cdd"]);
      expect(await merged(...pages)).toBe(`${fields}\n${lines.join("\n")}\n`);
    },
  );

  it.each([
    ["com,b)/ 1\ncom,a)/ 1\n", { pages: 2 }, "MM_NOT_SORTED"],
    ["com,a)/ 1\n", { pages: 0 }, "MM_USAGE"],
    ["com,a)/ 1\n", { maxLines: 1.5 }, "MM_USAGE"],
    ['!meta {"page":{"number":1,"of":2}}\n', { pages: 2 }, "MM_BAD_INPUT"],
    ["com,a)/ 1\n com,b)/ 1\n", { pages: 2 }, "MM_BAD_LINE"],
  ])("refuse to split %j into %j", async (text, asked, code) => {
    await expect(split(text, asked)).rejects.toMatchObject({ code });
  });
});

const FIELDS = '!fields {"keys":["surt"],"values":["frequency"]}';

/** The paths of the pages that `split` makes of a map. */
async function pagesOf(path: string, folder: string, ...options: string[]): Promise<string[]> {
  const split = await runCli(["split", "-q", path, ...options, "-o", folder]);
  expect(split).toEqual({ code: 0, stdout: "", stderr: "" });
  return readdirSync(folder).map((name) => join(folder, name));
}

async function mergedMap(...paths: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(["merge", "-q", ...paths]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
}

describe("split of a map that is not in the form of writers", () => {
  it.each([
    ["CRLF", `${FIELDS}\r\ncom,a)/ 1\r\ncom,b)/ 2\r\ncom,c)/ 3\r\n`],
    ["CRLF and no last line end", `${FIELDS}\r\ncom,a)/ 1\r\ncom,b)/ 2\r\ncom,c)/ 3`],
    ["a byte order mark", `\uFEFF${FIELDS}\ncom,a)/ 1\ncom,b)/ 2\n`],
    ["tabs", `${FIELDS}\ncom,a)/\t1\ncom,b)/ \t2\n`],
    ["blank lines", `${FIELDS}\ncom,a)/ 1\n\n \t\ncom,b)/ 2\n\n`],
    ["quoted values", `${FIELDS}\ncom,a)/ "1"\ncom,b)/ "2"\n`],
    ["older home pages", `${FIELDS}\ncom,a) 1\ncom,b) 5/\n`],
    ["a * that is not a wildcard", `${FIELDS}\ncom,a)/b(1) 1\ncom,a)/b*c 2\n`],
  ])("gives pages without a warning: %s", async (_, text) => {
    for (const options of [
      ["--pages", "2"],
      ["--max-lines", "1"],
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

  it("gives pages that merge to what the map alone does, and have no other errors", async () => {
    const folder = scratchDir();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(anyMap, fc.integer({ min: 1, max: 4 }), async ({ text }, count) => {
        const own = join(folder, String(run++));
        mkdirSync(own);
        const path = join(own, "map.ukvs");
        writeFileSync(path, text);
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
  ["CRLF", `${FIELDS}\r\ncom,a)/ 1\r\ncom,b)/ 2\r\n`],
  ["a byte order mark", `\uFEFF${FIELDS}\ncom,a)/ 1\ncom,b)/ 2\n`],
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
