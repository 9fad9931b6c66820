import { describe, expect, it } from "vitest";
import type { RouteReason } from "../../src/aggregate/route/decision.ts";
import { ArchiveTallies, RoutingEstimate } from "../../src/aggregate/statistics.ts";
import { archive, outcome, session } from "../support/sessions.ts";

const MINUTE = 60_000;
const A0 = archive("a0");

/** Tallies with a clock that can be set; and what one of the archives answered just then. */
function tallying(now = 500 * 60 * MINUTE) {
  const clock = { now };
  const tallies = new ArchiveTallies(() => clock.now);
  const answered = (options: Parameters<typeof outcome>[0], ms = 1): void =>
    tallies.answered(
      session(),
      outcome({ archive: A0, startedAt: clock.now - ms, endedAt: clock.now, ...options }),
    );
  return { clock, tallies, answered, tally: () => tallies.tallyOf(A0) };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

describe("ArchiveTallies", () => {
  it("counts answers by what they were, and times those of the archive itself", () => {
    const { answered, tally } = tallying();
    expect(tally()).toMatchObject({ asked: 0, medianMs: undefined });
    for (let i = 0; i < 98; i++) answered({ result: "miss" }, 30);
    answered({ result: "hit", mementos: 7 }, 30);
    answered({ result: "hit" }, 4000);
    answered({ result: "miss", origin: "cache" }, 9);
    const fault = "nobody listens there";
    answered({ result: "error", origin: undefined, fault }, 9);
    answered({ result: "error", origin: undefined }, 9);
    expect(tally()).toMatchObject({
      asked: 103,
      hits: 2,
      misses: 99,
      errors: 2,
      fromCache: 1,
      mementos: 10,
      lastFault: fault,
      latencySumMs: 99 * 30 + 4000,
      medianMs: 30,
      p99Ms: 30,
    });
  });

  it("keeps by minutes and by hours what was asked, what was spared and what had mementos", () => {
    const { clock, tallies, answered, tally } = tallying();
    const spared = session({ reasons: [["not-in-map", false]] });
    tallies.began(spared);
    tallies.began(session({ reasons: [["dormant", false]] }));
    answered({ result: "hit" });
    clock.now += 59 * MINUTE;
    expect(tally().lastHour[0]).toBe(1);
    clock.now += 2 * MINUTE;
    expect(sum(tally().lastHour)).toBe(0);
    tallies.began(spared);
    answered({ result: "miss" });
    const { history, skipped, lastHour } = tally();
    expect(skipped).toBe(3);
    expect(sum(history.minutes.spared)).toBe(1);
    expect(history.minutes.asked).toEqual(lastHour);
    expect([lastHour.length, history.hours.asked.length]).toEqual([60, 72]);
    expect(history.hours.asked.slice(-2)).toEqual([1, 1]);
    expect(history.hours.spared.slice(-2)).toEqual([1, 1]);
    expect(history.hours.hits.slice(-2)).toEqual([1, 0]);
  });

  it("goes on counting when the clock is set back, and takes no time for less than none", () => {
    const { clock, answered, tally } = tallying();
    answered({ result: "hit" }, -5 * MINUTE);
    clock.now -= 600 * MINUTE;
    answered({ result: "hit" }, -5 * MINUTE);
    clock.now += MINUTE;
    answered({ result: "hit" }, -5 * MINUTE);
    expect(tally()).toMatchObject({ latencySumMs: 0, asked: 3 });
    expect(sum(tally().lastHour)).toBe(2);
  });

  it("forgets archives that are gone", () => {
    const { tallies, answered } = tallying();
    const other = archive("b");
    answered({ result: "hit" });
    answered({ result: "hit", archive: other });
    tallies.keepOnly([other]);
    expect([A0, other].map((each) => tallies.tallyOf(each).hits)).toEqual([0, 1]);
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
