import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RoutingEstimate, wilson } from "../../src/aggregate/statistics.ts";
import type { RouteReason } from "../../src/aggregate/route/decision.ts";
import { outcome, session } from "../support/sessions.ts";

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

describe("RoutingEstimate", () => {
  it("counts what a broadcast would have asked, and only that", () => {
    const estimate = new RoutingEstimate();
    const reasons: [RouteReason, boolean][] = [
      ["in-map", true],
      ["no-map", true],
      ["sampled", true],
      ["not-in-map", false],
      ["out-of-range", false],
      ["beyond-top-k", false],
      ["improbable", false],
      ["not-selected", false],
      ["dormant", false],
    ];
    estimate.began(session({ reasons }));
    expect(estimate.report()).toMatchObject({ sessions: 1, asked: 3, spared: 4, saved: 4 / 7 });
  });

  it("estimates what is missed from what was sampled, and from nothing else", () => {
    const estimate = new RoutingEstimate();
    const spared = Array.from({ length: 9 }, (): [RouteReason, boolean] => ["not-in-map", false]);
    const asked: [RouteReason, boolean][] = [["in-map", true]];
    for (let i = 0; i < 100; i++) {
      const each = session({ reasons: [...asked, ...spared] });
      estimate.began(each);
      estimate.answered(each, outcome({ result: "hit", reason: "in-map" }));
      const result = i === 0 ? "hit" : i < 50 ? "miss" : "error";
      estimate.answered(each, outcome({ result, reason: "sampled" }));
    }
    const report = estimate.report();
    expect(report).toMatchObject({ sampled: 50, sampledHits: 1, hits: 101, spared: 900 });
    expect(report.missRate?.value).toBeCloseTo(0.02);
    expect(report.missedHits?.value).toBeCloseTo(18);
    expect(report.recall?.value).toBeCloseTo(101 / 119);
    expect(report.recall?.low).toBeLessThan(101 / 119);
    expect(report.recall?.high).toBeGreaterThan(101 / 119);
  });

  it("claims nothing before anything was sampled", () => {
    const estimate = new RoutingEstimate();
    expect(estimate.report()).toMatchObject({ saved: 0, missRate: undefined, recall: undefined });
  });
});
