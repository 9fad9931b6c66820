import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import {
  DATETIME_FIELDS,
  datetimeRows,
  lookupSurt,
  rows,
  type Row,
  time,
} from "../lookup/map-arbitraries.ts";
import { encode, mapText, merged, mergedWith } from "./map-files.ts";
import { cases } from "../support/cases.ts";

/** URIs that the keys of maps are about: the page itself, and pages below and beside it. */
function urisNear(maps: readonly (readonly Row[])[]): string[] {
  const near = maps.flat().flatMap(({ key }) => {
    const page = key
      .replace(",*)", ")")
      .replace(/\/?\*$/, "")
      .replace(/,$/, ")");
    const full = page.includes(")") ? page : `${page})`;
    const below = full.replace(")", ",a)");
    return [full, `${full}/a`, `${full}/a/b`, below, `${below}/a`, `${below}/b`];
  });
  // Keys are of few parts, and most of these are the same.
  return [...new Set(near)];
}

function presence(map: string, uris: readonly string[]): boolean[] {
  const index = MemoryIndex.build(encode(map));
  return uris.map((uri) => index.lookupSurtSync(uri).present);
}

/** The URIs about which a merged map says something else than its maps together. */
async function misjudged(maps: readonly string[], uris: readonly string[]): Promise<string[]> {
  const parts = maps.map((map) => presence(map, uris));
  const union = presence(await merged(...maps), uris);
  return uris.filter((_, i) => union[i] !== parts.some((part) => part[i]));
}

function withSlashes(map: readonly Row[]): Row[] {
  return map.filter(({ key }) => !key.endsWith(")"));
}

/** No map has a page under two spellings: it is one row then. */
const maps = (least: number, most: number): fc.Arbitrary<Row[][]> =>
  fc.array(rows.map(inOneSpelling), { minLength: least, maxLength: most });
const timedMaps = fc.array(datetimeRows.map(inOneSpelling), { minLength: 2, maxLength: 3 });

function inOneSpelling(map: readonly Row[]): Row[] {
  const keys = new Set(map.map(({ key }) => key));
  return map.filter(({ key }) => !keys.has(`${key}/`));
}

/** Rows of these maps in the form of writers. */
function asWritten(text: string): string {
  return text.replaceAll(" -\n", " /\n");
}

describe("mergeMaps", () => {
  it("says present exactly where a map does", { timeout: 240_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(maps(2, 4), fc.array(lookupSurt), async (maps, uris) => {
        expect(
          await misjudged(
            maps.map((map) => mapText(map)),
            [...uris, ...urisNear(maps)],
          ),
        ).toEqual([]);
      }),
      { numRuns: cases(3000) },
    );
  });

  it("says so when rows have datetimes", async () => {
    await fc.assert(
      fc.asyncProperty(timedMaps, fc.array(lookupSurt), async (maps, uris) => {
        const texts = maps.map((map) => mapText(map, [DATETIME_FIELDS]));
        expect(await misjudged(texts, [...uris, ...urisNear(maps)])).toEqual([]);
      }),
      { numRuns: cases(500) },
    );
  });

  it("says present at every time at which a map does", { timeout: 240_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        timedMaps,
        fc.array(lookupSurt),
        fc.array(time, { minLength: 1, maxLength: 3 }),
        async (maps, uris, times) => {
          const texts = maps.map((map) => mapText(map, [DATETIME_FIELDS]));
          const union = MemoryIndex.build(encode(await merged(...texts)));
          const parts = texts.map((text) => MemoryIndex.build(encode(text)));
          const lost = [...uris, ...urisNear(maps)].flatMap((surt) =>
            times
              .filter((at) => parts.some((part) => part.lookupSurtSync(surt, { at }).present))
              .filter((at) => !union.lookupSurtSync(surt, { at }).present)
              .map((at) => [surt, at]),
          );
          expect(lost).toEqual([]);
        },
      ),
      { numRuns: cases(1000) },
    );
  });

  it("does not mind the order of the maps", async () => {
    await fc.assert(
      fc.asyncProperty(rows, rows, rows, async (a, b, c) => {
        const [first, second, third] = [a, b, c].map((map) => mapText(map));
        expect(await merged(first, second, third)).toBe(await merged(third, first, second));
      }),
    );
  });

  it("keeps the records of one map as they are", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          rows.map(withSlashes).filter((map) => map.length > 0),
          datetimeRows
            .map((map) => withSlashes(map.filter((row) => row.json === undefined)))
            .filter((map) => map.length > 0),
        ),
        async (map) => {
          const text = mapText(
            map,
            map.some((row) => row.datetime !== undefined)
              ? [
                  DATETIME_FIELDS.replaceAll(": [", ":[")
                    .replaceAll('", "', '","')
                    .replace("], ", "],"),
                ]
              : [],
          );
          expect(await merged(text)).toBe(asWritten(text));
        },
      ),
    );
  });

  it.each([
    [
      "an exclusion goes where another map is present",
      ["com,a)/* 5\ncom,a)/x 0\n", "com,* 9\n"],
      "com,* 9\ncom,a)/* 5\n",
    ],
    [
      "and stays where all are absent",
      ["com,a)/* 5\ncom,a)/x 0\n", "com,b)/ 9\n"],
      "com,a)/* 5\ncom,a)/x 0\ncom,b)/ 9\n",
    ],
    ["counts are added", ["com,a)/ 5/2\n", "com,a)/ 3+\n", "com,a)/ 0\n"], "com,a)/ 8+/2+\n"],
    ["zeros too", ["com,a)/ 0/2\n", "com,a)/ 0/3\n"], "com,a)/ 0/5\n"],
    ["totals are added", ["* 5\n", "* 3/1\n"], "* 8/1+\n"],
    ["home pages become one", ["com,a) 5\n", "com,a)/ 0\n"], "com,a)/ 5\n"],
    [
      "a spread key reaches into another map's exclusion",
      ["com,a)/* 0\n", "com,*)/q 7\n"],
      "com,*)/q 7\ncom,a)/* 0\ncom,a)/q 7-\n",
    ],
    [
      "and its exclusion into what only seems present",
      ["com,* 9\ncom,a)/* 0\n", "com,* 7\ncom,*)/q 0\n"],
      "com,* 16\ncom,a)/q 0\n",
    ],
    [
      "and into that of a query",
      ["com,a)/* 0\n", "com,*)/q 7\n", "com,a)/q?x 0\n"],
      "com,*)/q 7\ncom,a)/* 0\ncom,a)/q 7-\ncom,a)/q?x 7-\n",
    ],
    ["equal JSON stays", ['com,a)/ 1 {"x":1}\n', 'com,a)/ 2 {"x": 1}\n'], 'com,a)/ 3 {"x":1}\n'],
    [
      "counts by time are added",
      ['com,a)/ 5 {"datetime":{"2014":"2","2015":"3"}}\n', 'com,a)/ 2 {"datetime":{"2014":"2"}}\n'],
      'com,a)/ 7 {"datetime":{"2014":"4","2015":"3"}}\n',
    ],
    ["different JSON goes", ['com,a)/ 1 {"x":1}\n', 'com,a)/ 2 {"x":2}\n'], "com,a)/ 3\n"],
    [
      "rows are written in one form",
      ["com,a)\t1/ {x: 1}\r\n", 'com,b)/x*y "2"\ncom,b)/x+ 1\n'],
      'com,a)/ 1 {"x":1}\ncom,b)/x%2ay 2\ncom,b)/x+ 1\n',
    ],
    ["keys that no lookup asks for stay", ["com,a)/b/ 0\n", "com,* 1\n"], "com,* 1\ncom,a)/b/ 0\n"],
    [
      "maps that state to be empty add nothing",
      ['!size {"bytes":0,"records":0}\n', "com,a)/ 1\n"],
      "com,a)/ 1\n",
    ],
  ])("%s", async (_, maps, expected) => {
    expect(await merged(...maps)).toBe(expected);
  });

  it("passes rows by datetime through, and adds those of the same time", async () => {
    const fields = '!fields {"keys":["surt","datetime"],"values":["frequency"]}\n';
    expect(
      await merged(
        `${fields}com,a)/ 2014 5\ncom,a)/ 2016 0\n`,
        `${fields}com,a)/ 2014 1\ncom,a)/ 2015 2\n`,
      ),
    ).toBe(`${fields}com,a)/ 2014 6\ncom,a)/ 2015 2\ncom,a)/ 2016 0\n`);
  });

  it.each([
    [
      "a row in place of a void does not hide the void of a spread key",
      ["com,* 2014 1\ncom,*)/ : 0\n", "com,a,* 2014 0\n"],
    ],
    [
      "a void for all time stays under the other spelling",
      ["com)/a/* 2014 1\n", "com) : 0\ncom)/ 2014 0\ncom,* 2014 1\n"],
    ],
  ])("adds nothing where rows are of times: %s", async (_, maps) => {
    const texts = maps.map((map) => `${DATETIME_FIELDS}\n${map}`);
    const uris = ["com)/", "com)/a", "com,a)/", "com,a)/b", "com,a,b)/", "com,b)/"];
    expect(await misjudged(texts, uris)).toEqual([]);
  });

  const TIMES = '!fields {"keys":["surt","datetime"],"values":["frequency"]}\n';

  it.each([
    ["sorts", "com,b)/ 1\ncom,a)/ 1\n", "com,a)/ 1\ncom,b)/ 1\n"],
    [
      "adds up a key that occurs twice",
      "com,a)/x 2\ncom,a)/ 1\ncom,a)/x 3\n",
      "com,a)/ 1\ncom,a)/x 5\n",
    ],
    ["adds up two spellings of a home page", "com,a) 5+\ncom,a)/ 1\n", "com,a)/ 6+\n"],
    [
      "escapes what is not ASCII, and sorts it",
      "com,a)/b 2\ncom,a)/é 1\n",
      "com,a)/%c3%a9 1\ncom,a)/b 2\n",
    ],
    ["escapes a star", "c%2am,a*b)/ 1\nc*m,a%2ab)/ 5\n", "c%2am,a%2ab)/ 6\n"],
    [
      "lets no void of one row hide what another holds",
      "com,a)/é 0\ncom,a)/b 2\ncom,a)/é 3\n",
      "com,a)/%c3%a9 3\ncom,a)/b 2\n",
    ],
    [
      "nor a void of some time",
      `${TIMES}com) 2014 1 {"datetime":{"201406":"0","2015":"4"}}\ncom)/ 2014 1\n`,
      `${TIMES}com)/ 2014 2 {"datetime":{"2015":"4"}}\n`,
    ],
    ["keeps voids beside other keys", "com,b)/x 0\ncom,b)/* 5\n", "com,b)/* 5\ncom,b)/x 0\n"],
  ])("of a map of another tool, %s", async (_, map, expected) => {
    expect(await merged(map)).toBe(expected);
  });

  it("sorts a map of another tool before it merges it", async () => {
    expect(await merged("com,b)/ 1\ncom,a) 1\n", "com,a)/é 0\n", "com,* 3\n")).toBe(
      "com,* 3\ncom,a)/ 1\ncom,b)/ 1\n",
    );
  });

  it("sorts what does not fit in memory", async () => {
    const rows = Array.from({ length: 2000 }, (_, i) => `com,h${(i * 7919) % 500})/ 1\n`);
    const lines = (await mergedWith({ memoryBytes: 10_000 }, rows.join(""))).split("\n");
    expect(lines.slice(0, -1)).toEqual(
      Array.from({ length: 500 }, (_, i) => `com,h${i})/ 4`).toSorted(),
    );
  });

  it.each(["com,a)b)/x", "com,a,)/x", ")/x"])("refuses the host of %s", async (key) => {
    await expect(merged("com,* 3\n", `${key} 0\n`)).rejects.toMatchObject({
      code: "MM_BAD_KEY",
      position: { source: "map 2", line: 1 },
    });
  });

  it.each([
    [
      "a map with queries beside one without",
      ['!fields {"keys":["surt"],"values":["frequency"],"queries":true}\n', "com,a)/ 1\n"],
      "MM_BAD_INPUT",
      "map 2",
    ],
    [
      "other columns",
      ["com,a)/ 1\n", `${DATETIME_FIELDS}\ncom,a)/ 2014 1\n`],
      "MM_BAD_INPUT",
      "map 2",
    ],
    ["other context", ['!context ["a"]\n', '!context ["b"]\n'], "MM_BAD_INPUT", "map 2"],
    [
      "a missing page",
      ['!meta {"page":{"number":1,"of":2}}\n', "com,a)/ 1\n"],
      "MM_BAD_INPUT",
      "map 1",
    ],
    [
      "a page given twice",
      ['!meta {"page":{"number":1,"of":1}}\n', '!meta {"page":{"number":1,"of":1}}\n'],
      "MM_BAD_INPUT",
      "map 2",
    ],
    ["an empty map", ["com,a)/ 1\n", "!meta {}\n"], "MM_EMPTY", "map 2"],
    ["a page that is none", ['!meta {"page":7}\n'], "MM_BAD_HEADER", "map 1"],
  ])("refuses %s", async (_, maps, code, source) => {
    const merging = mergedWith({ checkSize: code === "MM_EMPTY" }, ...maps);
    await expect(merging).rejects.toMatchObject({ code, position: { source } });
  });

  it("refuses to merge nothing", async () => {
    await expect(merged()).rejects.toMatchObject({ code: "MM_USAGE" });
  });

  it.each([
    [
      "a void of a time",
      [`${DATETIME_FIELDS}\ncom,a)/ : 5\n`, `${DATETIME_FIELDS}\ncom,a)/ 2014 0\n`],
    ],
    ["a byte order mark", ["\uFEFFcom,a)/ 1\ncom,b)/ 2\n"]],
    ["a key twice", ["com,a)/ 1\ncom,a)/ 0\n"]],
  ])("makes absent nothing that is held: %s", async (_, maps) => {
    const map = MemoryIndex.build(encode(await merged(...maps)));
    expect(map.lookupSync("http://a.com/", { at: "2014" })).toMatchObject({ present: true });
  });

  it("writes rows as writers do, and those of one key as one, whatever they were", async () => {
    const map = 'com,a)\t5/\r\ncom,b)/  "7"  {a:1}\r\ncom,c)/x*y 1\r\n';
    expect(await merged(map)).toBe('com,a)/ 5\ncom,b)/ 7 {"a":1}\ncom,c)/x%2ay 1\n');
    expect(await merged("\uFEFFcom,a)/ 1\ncom,a)/ 2\n")).toMatch(/^com,a\)\/ 3$/m);
  });
});
