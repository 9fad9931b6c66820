import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sortKeys } from "../../src/bytes/sort-keys.ts";
import { bytesOf, byUnits, key, textOf } from "../generate/key-arbitraries.ts";

function sorted(keys: readonly string[]): string[] {
  const arena = bytesOf(keys.join(""));
  const starts = new Uint32Array(keys.length + 1);
  for (const [i, text] of keys.entries()) starts[i + 1] = starts[i] + text.length;
  const ids = Uint32Array.from(keys.keys());
  sortKeys(ids, arena, starts);
  return Array.from(ids, (id) => textOf(arena, starts[id], starts[id + 1]));
}

const anyBytes = fc.string({
  unit: fc.integer({ min: 1, max: 255 }).map((byte) => String.fromCharCode(byte)),
  maxLength: 12,
});

describe("sortKeys", () => {
  it.each([
    ["keys that share beginnings", key],
    ["any bytes but zero", anyBytes],
    ["few different keys", fc.constantFrom("", "a", "ab", "abcd", "abcde", "abcdefgh", "\u00ff")],
  ])("sorts as bytes are sorted: %s", (_, arbitrary) => {
    fc.assert(
      fc.property(fc.array(arbitrary, { maxLength: 200 }), (keys) => {
        expect(sorted(keys)).toEqual(keys.toSorted(byUnits));
      }),
      { numRuns: 300 },
    );
  });

  it("sorts many keys that are sorted already, backwards, or all equal", () => {
    const keys = Array.from({ length: 5000 }, (_, i) => `com,example)/page/${i}`);
    const expected = keys.toSorted(byUnits);
    expect(sorted(expected)).toEqual(expected);
    expect(sorted(expected.toReversed())).toEqual(expected);
    const same = keys.map(() => "com,example)/the/very/same");
    expect(sorted(same)).toEqual(same);
  });
});
