import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemorySource } from "../../../src/bytes/byte-source.ts";
import type { MapLookup } from "../../../src/map/lookup/map-lookup.ts";
import { MapSearch } from "../../../src/map/lookup/map-search.ts";
import { MemoryIndex } from "../../../src/map/lookup/memory-index.ts";
import { lookupKeys } from "../../../src/surt/key.ts";
import { surt } from "../../../src/surt/uri-to-surt.ts";
import { LinearReading } from "../../support/linear-reading.ts";
import {
  DATETIME_FIELDS,
  datetimeRows,
  layout,
  lookupSurt,
  mapBytes,
  rows,
  time,
} from "./map-arbitraries.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** One suite for every lookup; small blocks make the search cross their borders. */
const implementations: [string, (bytes: Uint8Array) => Promise<MapLookup>][] = [
  ["MapSearch", (bytes) => MapSearch.open(new MemorySource(bytes))],
  [
    "MapSearch, 16-byte blocks",
    (bytes) => MapSearch.open(new MemorySource(bytes), { blockBytes: 16, maxBlocks: 3 }),
  ],
  ["MemoryIndex", async (bytes) => MemoryIndex.build(bytes)],
];

describe.each(implementations)("%s", (_, open) => {
  it("answers as a linear scan does", async () => {
    await fc.assert(
      fc.asyncProperty(
        rows,
        layout,
        fc.array(lookupSurt, { minLength: 1 }),
        async (content, form, surts) => {
          const bytes = mapBytes(content, form);
          const map = await open(bytes);
          const linear = new LinearReading(bytes);
          for (const asked of surts) {
            const { distance, ...answer } = await map.lookupSurt(asked);
            expect(answer).toEqual(linear.lookup(asked));
            const key = lookupKeys(asked).find(
              (k) => k.key === answer.key || k.key === `${answer.key}/`,
            );
            expect(distance).toBe(key?.distance);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("answers as a linear scan does when rows have datetimes", async () => {
    await fc.assert(
      fc.asyncProperty(
        datetimeRows,
        layout,
        fc.array(fc.tuple(lookupSurt, fc.option(time, { nil: undefined })), { minLength: 1 }),
        async (content, form, asked) => {
          const headers = [...form.headers, DATETIME_FIELDS];
          const bytes = mapBytes(content, { ...form, headers });
          const map = await open(bytes);
          const linear = new LinearReading(bytes);
          for (const [uri, at] of asked) {
            const { distance: _distance, ...answer } = await map.lookupSurt(uri, { at });
            expect(answer).toEqual(linear.lookup(uri, at));
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("finds each key of the map, and no other", async () => {
    await fc.assert(
      fc.asyncProperty(rows, layout, lookupSurt, async (content, form, other) => {
        const map = await open(mapBytes(content, form));
        for (const { key } of content) expect((await map.find(key))?.key).toBe(key);
        const found = await map.find(other);
        const isThere = content.some(
          ({ key }) => key === other || (`${key}/` === other && key.endsWith(")")),
        );
        expect(found !== undefined).toBe(isThere);
      }),
    );
  });

  it.each([
    ['!meta {}\n!size {"bytes":0,"records":0}', "com,a)/", { present: false }],
    ["com,a)/* 5", "com,a)/x", { present: true, key: "com,a)/*", frequency: "5", distance: 2 }],
    ["com,a)/x 5", "com,0)/", { present: false }],
    ["com,a)/x 5", "com,z)/", { present: false }],
    [
      "com,a) 1\nzw,co,* 7",
      "zw,co,foo)/",
      { present: true, key: "zw,co,*", frequency: "7", distance: 5 },
    ],
    [
      "com,a)/x 5\n\n\n",
      "com,a)/x",
      { present: true, key: "com,a)/x", frequency: "5", distance: 0 },
    ],
    [
      "com,a)/x\t 5\r\n",
      "com,a)/x",
      { present: true, key: "com,a)/x", frequency: "5", distance: 0 },
    ],
    [
      "com,a) 3\ncom,a)/ 2\n",
      "com,a)/",
      { present: true, key: "com,a)/", frequency: "2", distance: 0 },
    ],
    ["com,a) 3\n", "com,a)", { present: true, key: "com,a)", frequency: "3", distance: 0 }],
    ["* 99\ncom,b)/ 1\n", "com,a)/", { present: false }],
    [
      "com,a)/* 5\ncom,a)/x/* 0\n",
      "com,a)/x/y",
      { present: false, key: "com,a)/x/*", frequency: "0", distance: 2 },
    ],
  ])("reads %j, asked for %j", async (text, asked, answer) => {
    const map = await open(encode(text));
    expect(await map.lookupSurt(asked)).toEqual(answer);
    expect(await map.lookupSurt(asked)).toEqual(answer);
  });

  it.each(["", "\n\n", "!meta {}", "!meta {}\n\n"])(
    "refuses %j: it holds nothing",
    async (text) => {
      await expect(open(encode(text))).rejects.toMatchObject({ code: "MM_EMPTY" });
    },
  );

  it.each([
    [undefined, { present: true, frequency: "100/35" }],
    ["2014", { present: true, frequency: "20~/10" }],
    ["20151231", { present: false, frequency: "0" }],
    ["2016", { present: true, frequency: "100/35" }],
  ])("takes a row for all time as the total, asked at %j", async (at, answer) => {
    const text = `${DATETIME_FIELDS}\ncom,a)/* 2014 20~/10\ncom,a)/* 2015 0\ncom,a)/* : 100/35\n`;
    const map = await open(encode(text));
    expect(await map.lookupSurt("com,a)/x", { at })).toMatchObject(answer);
  });

  it("looks up URIs by their SURT", async () => {
    const map = await open(encode("com,example)/a 4\n"));
    expect(surt("http://www.Example.com/a?b=1")).toBe("com,example)/a?b=1");
    expect(await map.lookup("http://www.Example.com/a?b=1")).toMatchObject({
      present: true,
      key: "com,example)/a",
    });
  });

  it("reads lines longer than a block", async () => {
    const long = `com,a)/${"x".repeat(20_000)}`;
    const map = await open(encode(`com,a)/ 1\n${long} 2\n${long}y 3\norg,a)/ 4\n`));
    expect(await map.lookupSurt(long)).toMatchObject({ frequency: "2" });
    expect(await map.lookupSurt(`${long}y`)).toMatchObject({ frequency: "3" });
    expect(await map.lookupSurt("org,a)/")).toMatchObject({ frequency: "4" });
    expect(await map.lookupSurt("com,a)/")).toMatchObject({ frequency: "1" });
  });

  it.each([
    ['!fields {"keys": ["uri"], "values": ["frequency"]}\n', "MM_BAD_INPUT"],
    ['!fields {"keys": ["surt"], "values": ["status"]}\n', "MM_BAD_INPUT"],
    ["!meta nonsense\n", "MM_BAD_HEADER"],
    ["com,a)/ many\n", "MM_BAD_FREQUENCY"],
    ["com,a)/\n", "MM_BAD_LINE"],
    [" com,a)/ 1\n", "MM_BAD_LINE"],
  ])("refuses %j", async (text, code) => {
    const answer = open(encode(text)).then((map) => map.lookupSurt("com,a)/"));
    await expect(answer).rejects.toMatchObject({ code });
  });

  it.each(["201", "2014:2015", "20141301", "now"])("refuses to look up at %j", async (at) => {
    const map = await open(encode("com,a)/ 1\n"));
    await expect(map.lookupSurt("com,a)/", { at })).rejects.toMatchObject({ code: "MM_BAD_KEY" });
  });
});
