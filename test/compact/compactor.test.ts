import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compactByOracle } from "../support/compaction-oracle.ts";
import { compactedRows, map, weight } from "./compaction-arbitraries.ts";
import { cases } from "../support/cases.ts";

const depths = fc.record({
  maxHostDepth: fc.constantFrom(1, 2, 3, 8),
  maxPathDepth: fc.constantFrom(1, 2, 3, 4, 9),
});

describe("compaction by weights", () => {
  it("drops the exclusion of a page whose query is held: lookups of the query fall back to it", async () => {
    const rows = ["com,a)/b 1", "com,a)/x 0", "com,a)/x/* 0", "com,a)/x0 4", "com,a)/x?q=1 2"];
    expect(await compactedRows(rows, { hostWeight: 0, pathWeight: 0 })).toEqual(["com,a)/* 7"]);
  });

  it("gives the bytes of the slow oracle, for any map, weights and depths", async () => {
    await fc.assert(
      fc.asyncProperty(map, weight, weight, depths, async (rows, hostWeight, pathWeight, caps) => {
        const options = { hostWeight, pathWeight, ...caps };
        expect(await compactedRows(rows, options)).toEqual(compactByOracle(rows, options));
      }),
      { numRuns: cases(4000) },
    );
  });

  it("does not depend on how the input is cut into chunks", async () => {
    await fc.assert(
      fc.asyncProperty(map, fc.integer({ min: 1, max: 40 }), async (rows, size) => {
        const options = { hostWeight: 0.1, pathWeight: 0.1 };
        expect(await compactedRows(rows, options, size)).toEqual(
          await compactedRows(rows, options),
        );
      }),
      { numRuns: cases(300) },
    );
  });
});
