import { describe, expect, it } from "vitest";
import type { RouteReason } from "../../src/aggregate/route/decision.ts";
import { Statistics } from "../../src/aggregate/statistics.ts";
import { archive, outcome, session } from "../support/sessions.ts";

const MINUTE = 60_000;
const A0 = archive("a0");

/** Statistics with a clock that can be set; what is asked of the archive `a0`, and what it answers just then. */
function counting(now = 500 * 60 * MINUTE) {
  const clock = { now };
  const state = { recall: undefined as number | undefined };
  const statistics = new Statistics(
    () => state.recall,
    () => clock.now,
  );
  const asked = (reason: RouteReason = "no-map", isAsked = true): void =>
    statistics.began(session({ reasons: [[reason, isAsked]] }));
  const answered = (options: Parameters<typeof outcome>[0], ms = 1): void =>
    statistics.answered(
      session(),
      outcome({ archive: A0, startedAt: clock.now - ms, endedAt: clock.now, ...options }),
    );
  return { clock, state, statistics, asked, answered };
}

const sum = (numbers: readonly (number | null)[]): number =>
  numbers.reduce<number>((all, each) => all + (each ?? 0), 0);

describe("what is counted of an archive", () => {
  it("is what it answered, where that came from, and how long it took itself", () => {
    const { statistics, answered } = counting();
    expect(statistics.latenciesOf(A0)).toEqual({ medianMs: undefined, p99Ms: undefined });
    for (let i = 0; i < 98; i++) answered({ result: "miss" }, 30);
    answered({ result: "hit", mementos: 7 }, 30);
    answered({ result: "hit" }, 4000);
    for (const origin of ["cache", "stale", "coalesced"] as const)
      answered({ result: "miss", origin }, 9);
    answered({ result: "error", origin: undefined }, 9);
    expect(statistics.countsOf(A0)).toMatchObject({
      hits: 2,
      misses: 101,
      errors: 1,
      mementos: 10,
      fromCache: 3,
      cacheHits: 1,
      stale: 1,
      coalesced: 1,
    });
    expect(statistics.latenciesOf(A0)).toEqual({ medianMs: 30, p99Ms: 30 });
  });

  it("is kept by minutes and by hours", () => {
    const { clock, statistics, asked, answered } = counting();
    asked("not-in-map", false);
    asked("dormant", false);
    asked();
    answered({ result: "hit" });
    clock.now += 59 * MINUTE;
    expect(statistics.historyOf(A0).minutes.asked[0]).toBe(1);
    clock.now += 2 * MINUTE;
    expect(sum(statistics.historyOf(A0).minutes.asked)).toBe(0);
    asked("not-in-map", false);
    asked();
    answered({ result: "miss" });
    const { minutes, hours } = statistics.historyOf(A0);
    expect(statistics.countsOf(A0)).toMatchObject({ asked: 2, skipped: 3, spared: 2 });
    expect([minutes.asked.length, hours.asked.length]).toEqual([60, 72]);
    expect(sum(minutes.spared)).toBe(1);
    expect(hours.asked.slice(-2)).toEqual([1, 1]);
    expect(hours.spared.slice(-2)).toEqual([1, 1]);
    expect(hours.hits.slice(-2)).toEqual([1, 0]);
  });

  it("goes on when the clock is set back, and takes no time for less than none", () => {
    const { clock, statistics, asked, answered } = counting();
    for (const later of [0, -600 * MINUTE, MINUTE]) {
      clock.now += later;
      asked();
      answered({ result: "hit" }, -5 * MINUTE);
    }
    expect(statistics.countsOf(A0).asked).toBe(3);
    expect(statistics.latenciesOf(A0).p99Ms).toBe(0);
    expect(sum(statistics.historyOf(A0).minutes.asked)).toBe(2);
  });

  it("is forgotten with the archive", () => {
    const { statistics, answered } = counting();
    const other = archive("b");
    answered({ result: "hit" });
    answered({ result: "hit", archive: other });
    statistics.keepOnly([other]);
    expect([A0, other].map((each) => statistics.countsOf(each).hits)).toEqual([0, 1]);
  });
});

describe("what is counted of all archives", () => {
  it("includes the recall at the end of each span, where it is known", () => {
    const { clock, state, statistics } = counting();
    statistics.ended();
    clock.now += 1000;
    state.recall = 0.9;
    statistics.ended();
    clock.now += MINUTE;
    state.recall = 0.8;
    statistics.ended();
    const { minutes, hours } = statistics.history();
    expect(minutes.recall.slice(-3)).toEqual([null, 0.9, 0.8]);
    expect(hours.recall.at(-1)).toBe(0.8);
  });

  it("is what a broadcast would have asked, and only that", () => {
    const { statistics } = counting();
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
    statistics.began(session({ reasons }));
    expect(statistics.routing()).toMatchObject({ sessions: 1, asked: 3, spared: 4, saved: 4 / 7 });
  });

  it("tells what is missed, from what was sampled and from nothing else", () => {
    const { statistics } = counting();
    expect(statistics.routing()).toMatchObject({ saved: 0, missRate: undefined });
    const spared = Array.from({ length: 9 }, (): [RouteReason, boolean] => ["not-in-map", false]);
    for (let i = 0; i < 100; i++) {
      const each = session({ reasons: [["in-map", true], ...spared] });
      statistics.began(each);
      statistics.answered(each, outcome({ result: "hit", reason: "in-map" }));
      const result = i === 0 ? "hit" : i < 50 ? "miss" : "error";
      statistics.answered(each, outcome({ result, reason: "sampled" }));
    }
    const report = statistics.routing();
    expect(report).toMatchObject({ sampled: 50, sampledHits: 1, hits: 101, spared: 900 });
    expect(report.missRate?.value).toBeCloseTo(0.02);
    expect(report.missedHits?.value).toBeCloseTo(18);
    expect(report.recall?.value).toBeCloseTo(101 / 119);
    expect(report.recall?.low).toBeLessThan(101 / 119);
    expect(report.recall?.high).toBeGreaterThan(101 / 119);
  });
});
