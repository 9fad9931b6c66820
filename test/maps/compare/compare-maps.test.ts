import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareMaps } from "../../../src/maps/compare/compare-maps.ts";
import type { Combination, MapComparison } from "../../../src/maps/compare/comparison.ts";
import { MemoryIndex } from "../../../src/lookup/memory-index.ts";
import { cases } from "../../support/cases.ts";

type Row = readonly [key: string, frequency: string];
const encoder = new TextEncoder();

function bytesOf(rows: readonly Row[], { queries = false, keys = ["surt"] } = {}): Uint8Array {
  const fields = JSON.stringify({ keys, values: ["frequency"], ...(queries ? { queries } : {}) });
  const lines = rows.map((row) => `${row.join(" ")}\n`);
  return encoder.encode(`!fields ${fields}\n${lines.join("")}`);
}

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function compare(maps: readonly Uint8Array[], { chunk = 1_000_000 } = {}): Promise<MapComparison> {
  const sources = maps.map((bytes, index) => ({
    id: "abcdefgh"[index] ?? "",
    name: "map",
    chunks: chunked(bytes, chunk),
  }));
  return compareMaps(sources);
}

const label = fc.constantFrom("a", "b", "com", "uk", "co", "a-b", "a:80");
const segment = fc.constantFrom("a", "a-b", "%20", "b", "a0");
const key = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(
        fc.array(label, { minLength: 1, maxLength: 3 }),
        fc.array(segment, { maxLength: 3 }),
        fc.constantFrom("", "", "", "/*", "?x=1", "?y"),
      )
      .map(([labels, segments, end]) => `${labels.join(",")})/${segments.join("/")}${end}`)
      .map((text) => text.replace("//*", "/*")),
  },
  {
    weight: 2,
    arbitrary: fc
      .array(label, { minLength: 1, maxLength: 3 })
      .map((labels) => `${labels.join(",")},*`),
  },
  { weight: 1, arbitrary: fc.constantFrom("*", "dns:a.b") },
);
const map = fc
  .uniqueArray(fc.tuple(key, fc.constantFrom("0", "1", "2", "30", "5+", "/3")), {
    selector: ([text]) => text,
    minLength: 1,
    maxLength: 25,
  })
  .map((rows): Row[] =>
    rows.toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
  );

const isPage = (text: string, queries: boolean): boolean =>
  !/[,/]\*$/.test(text) && text !== "*" && !(queries && text.endsWith("?*"));

/** What each map says about each key of a page, by looking it up. */
function bruteForce(maps: readonly (readonly Row[])[], queries: boolean): Map<string, number> {
  const indexes = maps.map((rows) => MemoryIndex.build(bytesOf(rows, { queries })));
  const pages = new Set(maps.flatMap((rows) => rows.map(([text]) => text)));
  const counts = new Map<string, number>();
  for (const page of pages) {
    if (!isPage(page, queries)) continue;
    const [held, may] = [[], []] as [string[], string[]];
    for (const [index, one] of indexes.entries()) {
      const own = maps[index]?.find(([text]) => text === page);
      const id = "abcdefgh"[index] ?? "";
      if (own !== undefined) {
        if (own[1] !== "0") held.push(id);
      } else if (one.lookupSurtSync(page).present) may.push(id);
    }
    if (held.length === 0) continue;
    const name = `${held.join("")}|${may.join("")}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function named(combinations: readonly Combination[]): Map<string, number> {
  return new Map(
    combinations.map(({ held, may, count }) => [`${held.join("")}|${may.join("")}`, count]),
  );
}

describe("a comparison of maps", () => {
  it("counts keys as lookups of each of them in each map do", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(map, { minLength: 2, maxLength: 4 }),
        fc.boolean(),
        fc.constantFrom(7, 64, 100_000),
        async (maps, queries, chunk) => {
          const bytes = maps.map((rows) => bytesOf(rows, { queries }));
          const found = await compare(bytes, { chunk });
          expect(named(found.keys.combinations)).toEqual(bruteForce(maps, queries));
        },
      ),
      { numRuns: cases(800) },
    );
  });

  it("has sums for each map", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(map, { minLength: 2, maxLength: 3 }), async (maps) => {
        const found = await compare(maps.map((rows) => bytesOf(rows)));
        for (const [index, rows] of maps.entries()) {
          const counted = rows.filter(([text]) => text !== "*");
          const captures = (list: readonly Row[]): number =>
            list.reduce((sum, [, text]) => sum + (Number.parseInt(text, 10) || 0), 0);
          expect(found.maps[index]).toMatchObject({
            rows: counted.length,
            captures: captures(counted),
            voids: counted.filter(([, text]) => text === "0").length,
          });
        }
      }),
      { numRuns: cases(500) },
    );
  });

  it("counts registered domains, those that only one map holds and captures", async () => {
    const found = await compare([
      bytesOf([
        ["com,a)/", "3"],
        ["com,a,www2)/x", "4"],
        ["uk,co,bbc)/", "10"],
        ["uk,co,bbc,news)/1", "5"],
        ["uk,co,bbc,news)/2", "5"],
      ]),
      bytesOf([
        ["com,*", "100"],
        ["com,b)/", "7"],
        ["com,c,*", "0"],
        ["uk,co,bbc)/", "12"],
        ["uk,co,bbc,news)/*", "50"],
      ]),
    ]);
    expect(found.maps.map(({ domains, tlds }) => [domains, tlds])).toEqual([
      [2, 2],
      [2, 2],
    ]);
    expect(named(found.domains.combinations)).toEqual(
      new Map([
        ["a|b", 1],
        ["b|", 1],
        ["ab|", 1],
      ]),
    );
    expect(found.keys.combinations.find(({ held }) => held.length === 2)).toEqual({
      held: ["a", "b"],
      may: [],
      count: 1,
      differing: 1,
      captures: [10, 12],
    });
  });

  it("takes the rows of a key for several times as one", async () => {
    const keys = ["surt", "datetime"];
    const rows: Row[] = [
      ["com,a)/ 2014", "20"],
      ["com,a)/ 2015", "60"],
      ["com,b)/ 2014", "5"],
    ];
    const found = await compare([bytesOf(rows, { keys }), bytesOf([["com,a)/", "80"]])], {
      chunk: 5,
    });
    expect(found.keys.combinations).toMatchObject([
      { held: ["a", "b"], count: 1, differing: 0, captures: [80, 80] },
      { held: ["a"], count: 1, captures: [5, 0] },
    ]);
  });

  it("refuses one map, nine maps, two of the same name, and what is not sorted", async () => {
    const one = bytesOf([["com,a)/", "1"]]);
    await expect(compare([one])).rejects.toMatchObject({ code: "MM_USAGE" });
    const nine = Array.from({ length: 9 }, () => one);
    await expect(compare(nine)).rejects.toMatchObject({ code: "MM_USAGE" });
    const same = [1, 2].map(() => ({ id: "x", name: "x", chunks: chunked(one, 10) }));
    await expect(compareMaps(same)).rejects.toMatchObject({ code: "MM_USAGE" });
    const unsorted = bytesOf([
      ["com,b)/", "1"],
      ["com,a)/", "1"],
    ]);
    await expect(compare([one, unsorted])).rejects.toMatchObject({ code: "MM_NOT_SORTED" });
  });
});
