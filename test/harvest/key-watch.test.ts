import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type KeyWatch, watchKey } from "../../src/harvest/cdx-request.ts";

/** How many keys are given until one is known to have been there before. */
function keysUntilSeen(keys: Iterable<string>): number | undefined {
  let watch: KeyWatch | undefined;
  let given = 0;
  for (const key of keys) {
    given++;
    watch = watchKey(watch, key);
    if (watch === undefined) return given;
  }
  return undefined;
}

function* circle(before: number, around: number): Generator<string, void, undefined> {
  for (let i = 0; ; i++) yield String(i < before ? i : before + ((i - before) % around));
}

describe("watchKey", () => {
  it("sees every circle within three times its length", () => {
    fc.assert(
      fc.property(fc.nat(200), fc.integer({ min: 1, max: 200 }), (before, around) => {
        const given = keysUntilSeen(circle(before, around)) ?? 0;
        expect(given).toBeGreaterThan(before + around);
        expect(given).toBeLessThanOrEqual(3 * (before + around) + 1);
      }),
    );
  });

  it("sees none where no key comes again", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { maxLength: 300 }), (keys) => {
        expect(keysUntilSeen(keys)).toBeUndefined();
      }),
    );
  });
});
