import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compactMap } from "../../src/compact/compact-map.ts";
import type { CompactMapOptions } from "../../src/compact/compact-map.ts";
import { DATETIME_FIELDS, layout } from "../lookup/map-arbitraries.ts";
import { chunked, collected } from "../support/chunked.ts";
import { compactByOracle } from "../support/compaction-oracle.ts";
import { compactedRows, map, weight } from "./compaction-arbitraries.ts";
import { cases } from "../support/cases.ts";

async function compacted(
  bytes: Uint8Array,
  options: CompactMapOptions = {},
  cut: number = 1 << 16,
): Promise<Uint8Array> {
  return collected(compactMap(chunked(bytes, [cut]), options));
}

const depths = fc.record({
  maxHostDepth: fc.constantFrom(1, 2, 3, 8),
  maxPathDepth: fc.constantFrom(1, 2, 3, 4, 9),
});

describe("compactMap", () => {
  it("gives the bytes of the slow oracle, for any map, weights and depths", async () => {
    await fc.assert(
      fc.asyncProperty(map, weight, weight, depths, async (rows, hostWeight, pathWeight, caps) => {
        const options = { hostWeight, pathWeight, ...caps };
        expect(await compactedRows(rows, options)).toEqual(compactByOracle(rows, options));
      }),
      { numRuns: cases(4000) },
    );
  });

  it("drops the exclusion of a page whose query is held: lookups of the query fall back to it", async () => {
    const rows = ["com,a)/b 1", "com,a)/x 0", "com,a)/x/* 0", "com,a)/x0 4", "com,a)/x?q=1 2"];
    expect(await compactedRows(rows, { hostWeight: 0, pathWeight: 0 })).toEqual(["com,a)/* 7"]);
  });

  it("gives the same bytes when undecided output is spilled", async () => {
    let spilled = 0;
    await fc.assert(
      fc.asyncProperty(map, weight, weight, async (content, hostWeight, pathWeight) => {
        const store = Buffer.alloc(1 << 16);
        const spill = {
          write(offset: number, bytes: Uint8Array) {
            store.set(bytes, offset);
            spilled++;
          },
          read(offset: number, target: Uint8Array) {
            target.set(store.subarray(offset, offset + target.length));
          },
        };
        const options = { hostWeight, pathWeight };
        expect(await compactedRows(content, { ...options, spill, memoryBytes: 64 })).toEqual(
          await compactedRows(content, options),
        );
      }),
      { numRuns: cases(500) },
    );
    expect(spilled).toBeGreaterThan(cases(500));
  });

  it("gives the same rows however the file is laid out and cut", async () => {
    await fc.assert(
      fc.asyncProperty(map, layout, fc.integer({ min: 1, max: 50 }), async (content, form, cut) => {
        const newline = form.newline;
        const text =
          [...form.headers, ...content].join(newline) + (form.endsInNewline ? newline : "");
        const options = { hostWeight: 0.1, pathWeight: 0.1 };
        const lines = Buffer.from(await compacted(Buffer.from(text), options, cut))
          .toString()
          .split("\n");
        expect(lines.filter((line) => !line.startsWith("!")).slice(0, -1)).toEqual(
          await compactedRows(content, options),
        );
        expect(lines.filter((line) => line.startsWith("!"))).toHaveLength(
          form.headers.length > 0 ? 2 : 0,
        );
      }),
      { numRuns: cases(200) },
    );
  });

  it("rolls up above the cutoff, not at it", async () => {
    const pathPower = { a: 2, k: 0 };
    const pages = ["com,a)/1 1", "com,a)/2 1"];
    expect(await compactedRows(pages, { pathWeight: 1, pathPower })).toEqual(pages);
    const more = [...pages, "com,a)/3 1"];
    expect(await compactedRows(more, { pathWeight: 1, pathPower })).toEqual(["com,a)/* 3"]);
  });

  it("drops the void of a folder that holds something when what is above it is rolled up", async () => {
    const rows = ["com,a)/x/* 0", "com,a)/x/y 1", "com,a)/z1 1", "com,a)/z2 1", "com,a)/z3 1"];
    expect(await compactedRows(rows, { pathWeight: 0.15 })).toEqual(["com,a)/* 4"]);
  });

  it("does not roll up a host within whose text another host ends", async () => {
    // No lookup of a page of `com,a)b` asks for `com,a,*`.
    const rows = ["com,a)/ 1", "com,a)b)/x 1", "com,a,b)/ 1", "com,a,c)/ 1"];
    const kept = ["com,a)b)/x 1", "com,a,* 3"];
    expect(await compactedRows(rows, { hostWeight: 0 })).toEqual(kept);
  });

  it("takes sums that no number can hold for lower bounds", async () => {
    const rows = ["com,a)/x 9007199254740991", "com,a)/y 5"];
    expect(await compactedRows(rows, { pathWeight: 0 })).toEqual(["com,a)/* 9007199254740991+"]);
    const plain = Array.from({ length: 12 }, (_, i) => `com,a)/${i + 10} 999999999999999`);
    expect(await compactedRows(plain, { pathWeight: 0 })).toEqual(["com,a)/* 9007199254740991+"]);
  });

  it("sums every datetime on its own", async () => {
    const content = [
      "com,a)/1 2014 3",
      "com,a)/1 2015 1+",
      "com,a)/2 2014 4",
      "com,a)/2 2016 0",
      "com,a)/3 2015 2",
    ];
    expect(await compactedRows([DATETIME_FIELDS, ...content], { pathWeight: 0 })).toEqual([
      '!fields {"keys":["surt","datetime"],"values":["frequency"]}',
      "com,a)/* 2014 7",
      "com,a)/* 2015 3+",
    ]);
  });

  it("keeps further key columns as they are, blanks and all", async () => {
    const fields = '!fields {"keys":["surt","label"],"values":["frequency"]}';
    const content = ['com,a)/1 "b  c" 1', "com,a)/1 é€ 2", 'com,a)/2 "b  c" 1', "com,a)/2 é€ 2"];
    expect(await compactedRows([fields, ...content], { pathWeight: 0 })).toEqual([
      fields,
      'com,a)/* "b  c" 2',
      "com,a)/* é€ 4",
    ]);
  });

  it("keeps headers, known or not, in strict JSON and in order", async () => {
    const headers = [
      '!meta {name: "A", updated_at: "2018-09-03T13:27:52Z"}',
      "",
      '!id {uri: "https://a.example/"}',
      '@context ["https://git.io/mementomap"]',
      "!whatever {some: [1, 'text']}",
      '!fields {keys: ["surt"], values: ["frequency"]}',
    ];
    expect(await compactedRows([...headers, "com,a)/ 1"], {})).toEqual([
      '!context ["https://git.io/mementomap"]',
      '!fields {"keys":["surt"],"values":["frequency"]}',
      '!id {"uri":"https://a.example/"}',
      '!meta {"name":"A","updated_at":"2018-09-03T13:27:52Z"}',
      '!whatever {"some":[1,"text"]}',
      "com,a)/ 1",
    ]);
  });

  it("keeps the JSON blocks and further columns of rows that stay", async () => {
    const fields = '!fields {"keys":["surt"],"values":["frequency","mime"]}';
    const content = ['com,a)/ 1 text/html {"x":1}', "com,a)/b  2\t-"];
    const written = [fields, 'com,a)/ 1 text/html {"x":1}', "com,a)/b 2 -"];
    expect(await compactedRows([fields, ...content], {})).toEqual(written);
  });

  it("gives an empty map for a map that states to be empty, and refuses one that does not", async () => {
    const empty = ["!meta {}", '!size {"bytes":0,"records":0}'];
    const [meta, size] = await compactedRows(empty, {});
    expect([meta, size?.trimEnd()]).toEqual(empty);
    for (const rows of [[], ["!meta {}"]]) {
      await expect(compactedRows(rows, {})).rejects.toMatchObject({ code: "MM_EMPTY" });
    }
  });

  it.each([
    [
      ["com,b)/ 1", "com,a)/ 1"],
      "MM_NOT_SORTED",
      2,
      'key "com,a)/" comes after "com,b)/"; "mementomap merge" sorts a map',
    ],
    [
      ["com,a)/ 1", "", "com,a)/ 1"],
      "MM_NOT_SORTED",
      3,
      'key "com,a)/" occurs twice; "mementomap merge" adds such rows up',
    ],
    [
      ["com,a) 1", "com,a)/ 1"],
      "MM_NOT_SORTED",
      2,
      'key "com,a)/" occurs twice; "mementomap merge" adds such rows up',
    ],
    [["!meta {}", "", "com,a)/ many"], "MM_BAD_FREQUENCY", 3, undefined],
    [["com,a)/ 9007199254740993"], "MM_BAD_FREQUENCY", 1, undefined],
    [["com,a)/"], "MM_BAD_LINE", 1, undefined],
    [["com,a)/ 1 2"], "MM_BAD_LINE", 1, undefined],
    [["com,a)/ {}"], "MM_BAD_LINE", 1, undefined],
    [[" com,a)/ 1"], "MM_BAD_LINE", 1, undefined],
    [["!meta {}", "!fields nonsense"], "MM_BAD_HEADER", 2, undefined],
  ])("refuses %j: %s in line %i", async (content, code, line, message) => {
    await expect(compactedRows(content, { source: "map.ukvs" })).rejects.toMatchObject({
      code,
      position: { source: "map.ukvs", line },
      ...(message === undefined ? {} : { message }),
    });
  });

  it.each([
    [["com,a)/ 2015 1", "com,a)/ 2014 1"], 'key "com,a)/ 2014" comes after "com,a)/ 2015"; '],
    [["com,a)/ 2014 1", "com,a)/  2014 1"], 'key "com,a)/ 2014" occurs twice; '],
    [["com,b)/ 2014 1", "com,a)/ 2015 1"], 'key "com,a)/ 2015" comes after "com,b)/ 2014"; '],
  ])("refuses datetimes that are out of order, or twice: %j", async (content, message) => {
    await expect(
      compactedRows([DATETIME_FIELDS, ...content], { source: "map.ukvs" }),
    ).rejects.toMatchObject({
      code: "MM_NOT_SORTED",
      message: expect.stringContaining(message),
      position: { source: "map.ukvs", line: 3 },
    });
  });

  it("refuses a file that is not a map", async () => {
    const fields = '!fields {"keys":["uri"],"values":["frequency"]}';
    await expect(compactedRows([fields, "x 1"], {})).rejects.toMatchObject({
      code: "MM_BAD_INPUT",
    });
  });
});
