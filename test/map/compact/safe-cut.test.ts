import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSafeCut } from "../../../src/map/compact/run/compact-files.ts";
import { compactedRows, map, weight } from "./compaction-arbitraries.ts";

function isSafe(before: string, key: string): boolean {
  const [a, b] = [Buffer.from(before), Buffer.from(key)];
  return isSafeCut(a, a.length, b, b.length);
}

function keyOf(row: string): string {
  return row.split(" ")[0] ?? "";
}

describe("isSafeCut", () => {
  it.each([
    ["com,a)/", "com,b)/", true],
    ["com,a)/", "com,a)/b", false],
    ["com,a)/b", "com,a,www)/", false],
    ["com,a,www)/", "com,ab)/", true],
    ["com,a,www)/", "com,a-b)/", true],
    ["com)/x", "com,a)/", true],
    ["localhost)/a", "localhost)/b", false],
    ["local)/a", "localhost)/b", true],
    // `+` sorts between `)` and `,`: com,a goes on behind it.
    ["com,a)/", "com,a+b)/", false],
    ["com,a*b)/", "com,a+b)/", false],
    ["com,a+b)/", "com,a,www)/", false],
    // Out of order: only the whole can tell where.
    ["com,b)/", "com,a)/", false],
    ["com,a)/", "com,a)/", false],
  ])("between %s and %s: %s", (before, key, expected) => {
    expect(isSafe(before, key)).toBe(expected);
  });

  it("allows a cut only where both parts can be compacted on their own", async () => {
    let cuts = 0;
    await fc.assert(
      fc.asyncProperty(map, weight, weight, async (rows, hostWeight, pathWeight) => {
        const options = { hostWeight, pathWeight };
        const whole = await compactedRows(rows, options);
        for (let at = 1; at < rows.length; at++) {
          if (!isSafe(keyOf(rows[at - 1] ?? ""), keyOf(rows[at] ?? ""))) continue;
          cuts++;
          const before = await compactedRows(rows.slice(0, at), options);
          const behind = await compactedRows(rows.slice(at), options);
          expect([...before, ...behind]).toEqual(whole);
        }
      }),
      { numRuns: 200 },
    );
    expect(cuts).toBeGreaterThan(200);
  });
});
