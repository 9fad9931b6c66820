import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareBytes } from "../../../src/bytes/bytes.ts";
import { isKeyCut } from "../../../src/map/generate/read-all.ts";
import { surtKeyBytes } from "../../../src/surt/key-bytes.ts";

const encoder = new TextEncoder();

function keyOf(column: Uint8Array): Uint8Array {
  const key = new Uint8Array(column.length * 3 + 1);
  return key.subarray(0, surtKeyBytes(column, 0, column.length, key, 0));
}

function isCut(before: string, key: string): boolean {
  return isKeyCut(encoder.encode(before), encoder.encode(key));
}

/** Columns that share much, with the bytes around `?` and `/` that make trouble. */
const column = fc
  .tuple(
    fc.constantFrom("com,a)/", "com,a,b)/", "com,b)/", "com,a:8080)/"),
    fc.string({ unit: fc.constantFrom("a", "b", "/", "?", "-", "~", "0", "=", "A"), maxLength: 8 }),
  )
  .map(([host, rest]) => host + rest);

describe("isKeyCut", () => {
  it("leaves no key behind a cut that is not after all keys before it", () => {
    fc.assert(
      fc.property(fc.array(column, { minLength: 2, maxLength: 40 }), (columns) => {
        const rows = columns.map((text) => encoder.encode(text)).toSorted(compareBytes);
        const keys = rows.map(keyOf);
        for (let cut = 1; cut < rows.length; cut++) {
          if (!isKeyCut(rows[cut - 1], rows[cut])) continue;
          const last = keys.slice(0, cut).toSorted(compareBytes).at(-1) ?? new Uint8Array(0);
          const first = keys.slice(cut).toSorted(compareBytes)[0];
          expect(compareBytes(last, first)).toBeLessThan(0);
        }
      }),
    );
  });

  it.each([
    ["com,a)/x", "com,b)/", true],
    ["com,a)/x", "com,a,b)/x", true],
    ["com,a)/", "com,a)/x", true],
    ["com,a)/news/1", "com,a)/sports/1", true],
    ["com,a)/news", "com,a)/newsletter", true],
    ["com,a)/news/1", "com,a)/news/2", false],
    ["com,a)/a/b", "com,a)/a?x", false],
    ["com,a)/a-b", "com,a)/ab", true],
    ["com,a)/x", "com,a)/x", false],
    ["com,b)/", "com,a)/", false],
  ])("between %j and %j: %j", (before, key, expected) => {
    expect(isCut(before, key)).toBe(expected);
  });
});
