import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  drawPowerLaw,
  exponentForMean,
  proportionalSplit,
  zipfSplit,
} from "../../../src/study/sample/archive-shape.ts";
import { Random } from "../../../src/bytes/random.ts";

const sum = (numbers: readonly number[]): number => numbers.reduce((all, n) => all + n, 0);

describe("zipfSplit", () => {
  it("gives whole parts of 1 or more that add up, larger ones first except for rounding", () => {
    const split = fc
      .integer({ min: 1, max: 1_000_000 })
      .chain((total) =>
        fc.tuple(fc.constant(total), fc.integer({ min: 1, max: Math.min(total, 500) })),
      );
    fc.assert(
      fc.property(split, ([total, parts]) => {
        const sizes = zipfSplit(total, parts);
        expect(sizes).toHaveLength(parts);
        expect(sum(sizes)).toBe(total);
        for (const [i, size] of sizes.entries()) {
          expect(Number.isInteger(size) && size >= 1).toBe(true);
          expect(size).toBeLessThanOrEqual((sizes[i - 1] ?? Infinity) + 1);
        }
      }),
    );
  });
});

describe("proportionalSplit", () => {
  it("is within 1 of each share and exact in total", () => {
    const weights = fc.array(fc.double({ min: 0.001, max: 1000, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), weights, (total, weights) => {
        const parts = proportionalSplit(total, weights);
        expect(sum(parts)).toBe(total);
        for (const [i, part] of parts.entries()) {
          expect(Math.abs(part - (total * weights[i]) / sum(weights))).toBeLessThan(1.001);
        }
      }),
    );
  });
});

describe("drawPowerLaw", () => {
  it.each([1.2, 1.5, 2])("has the mean %d its exponent was made for", (mean) => {
    const random = new Random(1);
    const exponent = exponentForMean(mean);
    const draws = Array.from({ length: 200_000 }, () => drawPowerLaw(random, exponent, 1e6));
    expect(Math.abs(sum(draws) / draws.length / mean - 1)).toBeLessThan(0.04);
    expect(Math.min(...draws.slice(0, 1000))).toBe(1);
  });

  it("stays within its limit, and is always 1 for a mean of 1", () => {
    const random = new Random(2);
    for (let i = 0; i < 10_000; i++) {
      expect(drawPowerLaw(random, 0.5, 50)).toBeLessThanOrEqual(50);
    }
    const exponent = exponentForMean(1);
    expect(Array.from({ length: 1000 }, () => drawPowerLaw(random, exponent, 50))).toEqual(
      Array.from({ length: 1000 }, () => 1),
    );
  });
});
