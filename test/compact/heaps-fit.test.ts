import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HeapsFit } from "../../src/compact/tree-survey.ts";

describe("HeapsFit", () => {
  it("finds the exponent of hosts that follow the law", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.uniqueArray(fc.integer({ min: 1, max: 1e6 }), { minLength: 2, maxLength: 50 }),
        (exponent, sizes) => {
          const fit = new HeapsFit();
          // Sizes that hardly differ have no slope; hosts do differ.
          for (const keys of [10, 1e4, ...sizes]) fit.add(keys, 3 * keys ** exponent);
          expect(fit.exponent).toBeCloseTo(exponent, 3);
        },
      ),
    );
  });

  it("takes one half where hosts are all of one size, or there are none", () => {
    const fit = new HeapsFit();
    expect(fit.exponent).toBe(0.5);
    fit.add(10, 3);
    fit.add(10, 5);
    expect(fit.exponent).toBe(0.5);
  });
});
