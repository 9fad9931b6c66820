import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wilson } from "../../../src/aggregate/learn/intervals.ts";

describe("wilson", () => {
  // Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])("is as published for %d of %d", (successes, trials, low, high) => {
    const share = wilson(successes, trials);
    expect(share.low).toBeCloseTo(low, 4);
    expect(share.high).toBeCloseTo(high, 4);
  });

  it("holds the share it is about", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e6 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (n, p) => {
          const { value, low, high } = wilson(Math.round(n * p), n);
          expect(low).toBeGreaterThanOrEqual(0);
          expect(low).toBeLessThanOrEqual(value + 1e-12);
          expect(high).toBeGreaterThanOrEqual(value - 1e-12);
          expect(high).toBeLessThanOrEqual(1);
        },
      ),
    );
  });
});
