import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MapRows, ORIGINAL_MARK } from "../../src/generate/map-rows.ts";
import { bytesOf, byUnits, naiveCounts } from "./key-arbitraries.ts";

const MARK = String.fromCharCode(ORIGINAL_MARK);

function rowsOf(entries: readonly (readonly [string, number])[], originals: boolean): string[] {
  const rows = new MapRows({ originals });
  const key = new Uint8Array(1 << 21).fill(ORIGINAL_MARK);
  for (const [name, count] of entries) {
    key.set(bytesOf(name));
    rows.add(key, name.length, count);
  }
  rows.end();
  const lines = Buffer.from(rows.take()).toString("latin1").split("\n").slice(0, -1);
  expect(rows.rows).toBe(lines.length);
  expect(rows.mementos).toBe(entries.reduce((sum, [, count]) => sum + count, 0));
  return lines;
}

const row = fc.constantFrom("com,a)/", "com,a)/b", "com,a)/b/c", "com,b)/", "o");
const capture = fc.tuple(row, fc.option(fc.constantFrom("", "x=1", "y", "x=1&y=2")));

describe("MapRows", () => {
  it("writes a key and its count a line", () => {
    expect(
      rowsOf(
        [
          ["com,a)/", 1],
          ["com,b)/", 2 ** 53 - 1],
        ],
        false,
      ),
    ).toEqual(["com,a)/ 1", "com,b)/ 9007199254740991"]);
    expect(rowsOf([], false)).toEqual([]);
    expect(rowsOf([], true)).toEqual([]);
  });

  it("counts mementos and distinct originals of each row", () => {
    fc.assert(
      fc.property(fc.array(capture, { maxLength: 60 }), (captures) => {
        const marked = naiveCounts(
          captures.map(([key, query]) => [query === null ? key : `${key}${MARK}${query}`, 1]),
        );
        const expected = [...new Set(captures.map(([key]) => key))].sort(byUnits).map((key) => {
          const own = captures.filter(([other]) => other === key);
          return `${key} ${own.length}/${new Set(own.map(([, query]) => query)).size}`;
        });
        expect(rowsOf(marked, true)).toEqual(expected);
      }),
    );
  });

  it("writes keys longer than its buffer", () => {
    const entries = [1, 1_300_000, 1_400_000, 2].map((length, i): [string, number] => [
      String.fromCharCode(97 + i).repeat(length),
      7,
    ]);
    expect(rowsOf(entries, false)).toEqual(entries.map(([key]) => `${key} 7`));
  });
});
