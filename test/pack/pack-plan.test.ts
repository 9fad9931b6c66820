import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  kneeBytes,
  type PackDemand,
  type Plan,
  planPack,
  type Prospect,
} from "../../src/pack/pack-plan.ts";

/** An archive of so many rows, of which a map of some answers a share wrongly. */
function demandOf(rows: number, wrong: (share: number) => number): PackDemand {
  const shares = Array.from({ length: 101 }, (_, i) => Math.max(1e-4, i / 100));
  const sizes = shares.map((share) => ({
    rows: share * rows,
    expectedFalsePositives: 1000 * wrong(share),
  }));
  return {
    misses: 1000,
    elsewhere: 11_000,
    sizes,
    hosts: 9000,
    voidBytes: 0,
    homes: 0.002,
    haveAllHomes: false,
    wholes: 0,
  };
}

/** The share of lookups of held hosts that are answered wrongly if every row attracts as many, or by the prior. */
function wrongOf(
  { rows, bits }: Prospect,
  rolledUp: (share: number) => number,
  all: number,
): number {
  const mistaken = 2 ** -Math.floor(bits) * (1 - (bits % 1) / 2);
  const share = rolledUp(rows / all);
  return share + (1 - share) * mistaken;
}

describe("a plan", () => {
  const archive = fc.record({
    rows: fc.integer({ min: 100, max: 3_000_000 }),
    hosts: fc.integer({ min: 1, max: 50_000 }),
    power: fc.double({ min: 0.2, max: 6, noNaN: true }),
    scale: fc.double({ min: 0.001, max: 1, noNaN: true }),
  });

  it("is never expected to answer worse with more bytes", () => {
    const sizes = fc.tuple(
      fc.integer({ min: 900, max: 3_000_000 }),
      fc.double({ min: 1, max: 3, noNaN: true }),
    );
    fc.assert(
      fc.property(archive, sizes, ({ rows, power, scale, ...rest }, [bytes, factor]) => {
        const byPrior = (share: number): number => scale * (1 - share) ** power;
        const demand = { ...demandOf(rows, byPrior), ...rest };
        let small: Plan;
        try {
          small = planPack(demand, bytes);
        } catch {
          return;
        }
        expect(planPack(demand, Math.floor(bytes * factor)).wrong).toBeLessThanOrEqual(small.wrong);
      }),
      { numRuns: 100 },
    );
  });

  it("by default is one of those for a given size", () => {
    const demand = demandOf(100_000, (share) => 0.3 * (1 - share) ** 3);
    const bytes = kneeBytes(demand);
    expect(bytes).toBeGreaterThan(4000);
    const wrong = (size: number): number =>
      wrongOf(planPack(demand, size), (share) => 0.3 * (1 - share) ** 3, 100_000);
    expect(wrong(2 * bytes)).toBeLessThanOrEqual(wrong(bytes));
    expect(wrong(bytes)).toBeLessThanOrEqual(wrong(bytes / 2));
  });

  it("by default is large enough where little more than nothing answers no better than nothing", () => {
    const byPrior = (share: number): number => (share < 0.2 ? 1 : (1 - share) ** 2);
    const demand = { ...demandOf(700_000, byPrior), hosts: 5000, elsewhere: 4000 };
    expect(planPack(demand, kneeBytes(demand)).rows).toBe(700_000);
  });
});
