import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GenerateMapOptions } from "../../src/generate/generate-map.ts";
import { generateMap } from "../../src/generate/generate-map.ts";
import { chunked } from "../support/chunked.ts";
import { cdxjLines, fileLayout } from "./index-arbitraries.ts";
import { naiveRows, rowsOf } from "./naive-map.ts";
import { cases } from "../support/cases.ts";

async function mapOf(
  files: readonly string[],
  cut: number,
  options: GenerateMapOptions = {},
): Promise<string[]> {
  const sources = files.map((text, i) => ({
    name: `index-${i}`,
    chunks: chunked(Buffer.from(text), [cut, cut + 3]),
  }));
  return rowsOf((await generateMap(sources, options)).bytes);
}

describe("generateMap", () => {
  it("counts what a naive count counts, however the input is laid out and cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cdxjLines, fileLayout), { maxLength: 3 }),
        fc.integer({ min: 1, max: 200 }),
        fc.record({
          originals: fc.boolean(),
          datetimeDigits: fc.constantFrom(0, 4, 14),
          distinct: fc.boolean(),
        }),
        async (files, cut, options) => {
          const texts = files.map(([lines, layout]) => layout(lines));
          const expected = naiveRows(
            files.flatMap(([lines]) => lines),
            options,
          );
          expect(await mapOf(texts, cut, options)).toEqual(expected);
          expect(await mapOf(texts.toReversed(), cut, options)).toEqual(expected);
        },
      ),
      { numRuns: cases(60) },
    );
  });

  it("detects the format behind any number of headers, wherever chunks end", async () => {
    const text = `!meta {}\n\n!x y\na.com/b 2014 {"url": "http://a.com/b"}\n`;
    for (let cut = 1; cut <= text.length; cut++) {
      expect(await mapOf([text], cut)).toEqual(["com,a)/b 1"]);
    }
  });

  it("names source and line of what it cannot read", async () => {
    await expect(mapOf(["com,a)/ 2014 {}\n", "com,a)/ 2014 {}\n\nbad\n"], 5)).rejects.toMatchObject(
      {
        code: "MM_BAD_LINE",
        position: { source: "index-1", line: 3 },
      },
    );
  });
});
