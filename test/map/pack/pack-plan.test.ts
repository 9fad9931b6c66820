import { describe, expect, it } from "vitest";
import { type PackDemand, planPack } from "../../../src/map/pack/pack-plan.ts";
import { mistaken } from "../../../src/map/pack/row-widths.ts";

const HOSTS = 9000;

/** An archive of so many rows, of which a map of some answers a share wrongly. */
function demandOf(rows: number, wrong: (share: number) => number): PackDemand {
  const shares = Array.from({ length: 101 }, (_, i) => Math.max(1e-4, i / 100));
  const sizes = shares.map((share) => ({
    rows: share * rows,
    expectedFalsePositives: 1000 * wrong(share),
  }));
  return {
    lookups: 1100,
    misses: 1000,
    hostLookups: new Float64Array(HOSTS).fill(1),
    elsewhere: 11_000,
    hosts: HOSTS,
    isTrained: false,
    countBits: 3,
    periodBits: 0,
    voidBytes: 0,
    sizes,
    newHosts: 0.05,
    homes: 0.002,
    haveAllHomes: false,
    wholes: 0,
    probes: 0.95,
    unexplained: 0.1,
    widths: (bits) => ({
      classes: 1,
      wrong: [mistaken(bits, 1)],
      wrongElsewhere: mistaken(bits, 1),
    }),
    widthLookups: new Float64Array(HOSTS).fill(1),
  };
}

describe("a plan", () => {
  it("is no worse than a filter of all keys on held hosts alone", () => {
    const demand = demandOf(106_000, (share) => 1 - share);
    // A Bloom filter with one hash function; fuse filters are not so small.
    const filter = (bytes: number): number => 1 - Math.exp(-106_000 / (8 * bytes));
    for (let bytes = 7000; bytes < 14_000; bytes += 250) {
      expect(planPack(demand, bytes).wrong, `${bytes} bytes`).toBeLessThanOrEqual(filter(bytes));
    }
    expect(planPack(demand, 30_000).fingerprintBits).toBeGreaterThan(0);
  });

  it("goes by a log also where a share of lookups may go to any row", () => {
    const demand = {
      ...demandOf(1_000_000, (share) => 0.005 * (1 - share)),
      isTrained: true,
      unexplained: 0.02,
    };
    // All rows would have 2 bits each, and mistake a quarter of them.
    expect(planPack(demand, 300_000).rows).toBeLessThan(500_000);
    expect(planPack(demand, 2_500_000).rows).toBe(1_000_000);
  });
});
