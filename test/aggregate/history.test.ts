import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RecallHistory, SpanRing } from "../../src/aggregate/history.ts";

describe("SpanRing", () => {
  it("has what was counted in each of the last spans, whatever the times", () => {
    const count = 5;
    const spanMs = 10;
    const steps = fc.array(fc.integer({ min: 0, max: 120 }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (waits) => {
        const ring = new SpanRing({ spanMs, count });
        const times: number[] = [];
        let now = 10_000;
        for (const wait of waits) {
          now += wait;
          ring.count(now);
          times.push(now);
        }
        const spanOf = (time: number): number => Math.floor(time / spanMs);
        const expected = Array.from({ length: count }, (_, place) => {
          const span = spanOf(now) - count + 1 + place;
          return times.filter((time) => spanOf(time) === span).length || undefined;
        });
        expect(ring.read(now)).toEqual(expected);
      }),
    );
  });

  it("begins anew where the clock is set back by more than a span", () => {
    const ring = new SpanRing({ spanMs: 10, count: 3 });
    ring.count(1000);
    ring.count(995); // a moment late, and still counted
    expect(ring.read(1000)).toEqual([undefined, undefined, 2]);
    ring.count(500);
    expect(ring.read(500)).toEqual([undefined, undefined, 1]);
  });
});

describe("RecallHistory", () => {
  it("notes the recall as it is known", () => {
    let [now, recall]: [number, number | undefined] = [0, undefined];
    const history = new RecallHistory(
      () => recall,
      () => now,
    );
    history.ended();
    expect(history.report().minutes.every((value) => value === null)).toBe(true);
    recall = 0.9;
    now += 1000;
    history.ended();
    now += 60_000;
    recall = 0.8;
    history.ended();
    const { minutes, hours } = history.report();
    expect(minutes).toHaveLength(60);
    expect(minutes.slice(-3)).toEqual([null, 0.9, 0.8]);
    expect(hours.at(-1)).toBe(0.8);
  });
});
