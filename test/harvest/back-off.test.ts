import { describe, expect, it } from "vitest";
import { isTemporary, waitBefore } from "../../src/harvest/back-off.ts";

const BACK_OFF = { retries: 5, firstMs: 100, longestMs: 3000 };
const NOW = Date.UTC(2026, 0, 1);

describe("waitBefore", () => {
  it("doubles, up to the longest wait", () => {
    const waits = [1, 2, 3, 4, 5, 6].map((n) => waitBefore(n, BACK_OFF, undefined, NOW));
    expect(waits).toEqual([100, 200, 400, 800, 1600, 3000]);
  });

  it.each([
    ["2", 2000],
    ["0", 100],
    ["999", 999_000],
    ["Thu, 01 Jan 2026 00:00:02 GMT", 2000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", 100],
    ["soon", 100],
  ])("respects Retry-After: %s", (field, expected) => {
    expect(waitBefore(1, BACK_OFF, field, NOW)).toBe(expected);
  });
});

describe("isTemporary", () => {
  it.each([
    [200, false],
    [403, false],
    [404, false],
    [429, true],
    [500, true],
    [503, true],
  ])("%i: %s", (status, expected) => {
    expect(isTemporary(status)).toBe(expected);
  });
});
