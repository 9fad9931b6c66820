import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MissList } from "../../src/compact/misses.ts";

function keysOf({ count, bytes, starts }: MissList): string[] {
  return Array.from({ length: count }, (_, i) =>
    new TextDecoder().decode(bytes.subarray(starts[i], starts[i + 1])),
  );
}

describe("MissList", () => {
  it("sorts keys by bytes, counts each once, and knows which half of the log it came in", () => {
    const list = new MissList(["com,b)/", "com,a)/b", "com,b)/", "com,a)/a-b", "com,a)/a"]);
    expect(keysOf(list)).toEqual(["com,a)/a", "com,a)/a-b", "com,a)/b", "com,b)/"]);
    expect([...list.isLate]).toEqual([1, 1, 0, 0]);
  });

  it("holds any number of keys", () => {
    const key = fc.string({
      unit: fc.constantFrom("a", "b", "/", ")"),
      minLength: 1,
      maxLength: 9,
    });
    fc.assert(
      fc.property(fc.array(key, { size: "max", maxLength: 5000 }), (keys) => {
        const distinct = [...new Set(keys)];
        const list = new MissList(keys);
        expect(keysOf(list)).toEqual(distinct.toSorted((a, b) => (a < b ? -1 : 1)));
        const late = new Set(distinct.slice(Math.ceil(distinct.length / 2)));
        expect([...list.isLate]).toEqual(keysOf(list).map((text) => Number(late.has(text))));
      }),
      { numRuns: 30 },
    );
  });
});
