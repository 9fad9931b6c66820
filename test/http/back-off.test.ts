import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isTemporary, retryAfterMs, waitBefore } from "../../src/http/retry.ts";

const BACK_OFF = { retries: 5, firstMs: 100, longestMs: 3000 };
const NOW = Date.UTC(2026, 0, 1);

describe("waitBefore", () => {
  it("doubles, up to the longest wait", () => {
    const waits = [1, 2, 3, 4, 5, 6].map((n) => waitBefore(n, BACK_OFF));
    expect(waits).toEqual([100, 200, 400, 800, 1600, 3000]);
  });

  it.each([
    ["2", 2000],
    ["0", 100],
    ["999", 999_000],
    ["Thu, 01 Jan 2026 00:00:02 GMT", 2000],
    ["Wed, 31 Dec 2025 00:00:00 GMT", 100],
    ["Thu Jan  1 00:00:02 2026", 2000],
    ["Thursday, 01-Jan-26 00:00:02 GMT", 2000],
    ["Monday, 01-Jan-90 00:00:02 GMT", 100],
    ["soon", 100],
    ["in 2099", 100],
    ["1.5", 100],
    ["-1", 100],
    ["", 100],
  ])("respects Retry-After: %s", (field, expected) => {
    expect(waitBefore(1, BACK_OFF, retryAfterMs(field, NOW))).toBe(expected);
  });
});

describe("retryAfterMs", () => {
  it("does not depend on where this machine is", () => {
    const zone = process.env["TZ"];
    try {
      process.env["TZ"] = "Asia/Tokyo";
      expect(retryAfterMs("Thu Jan  1 01:00:00 2026", NOW)).toBe(3_600_000);
    } finally {
      if (zone === undefined) delete process.env["TZ"];
      else process.env["TZ"] = zone;
    }
  });

  it("reads every date in each form that HTTP has", () => {
    const times = fc.integer({ min: 0, max: 40 * 365 * 86_400 });
    fc.assert(
      fc.property(times, (seconds) => {
        const utc = new Date(NOW + seconds * 1000).toUTCString();
        const [, weekday, day, month, year, clock] =
          /^(...), (..) (...) (....) (.*) GMT$/.exec(utc) ?? [];
        const forms = [
          utc,
          `${weekday}day, ${day}-${month}-${year.slice(2)} ${clock} GMT`,
          `${weekday} ${month} ${day.replace(/^0/, " ")} ${clock} ${year}`,
        ];
        for (const form of forms) expect(retryAfterMs(form, NOW)).toBe(seconds * 1000);
      }),
    );
  });

  it("takes anything for none or for a time to come", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(retryAfterMs(text, NOW) ?? 0).toBeGreaterThanOrEqual(0);
      }),
    );
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
