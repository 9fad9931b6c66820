import { describe, expect, it } from "vitest";
import { followingClock } from "../../src/aggregate/session.ts";
import { ArchiveTallies } from "../../src/aggregate/statistics.ts";
import { archive, outcome, session } from "../support/sessions.ts";

const MINUTE = 60_000;

describe("ArchiveTallies", () => {
  const ia = archive("ia");
  const at = (endedAt: number, ms: number) => ({ archive: ia, startedAt: endedAt - ms, endedAt });

  it("counts answers by what they were, and times those of the archive itself", () => {
    const tallies = new ArchiveTallies(() => 2 * MINUTE);
    const one = session();
    for (let i = 0; i < 98; i++)
      tallies.answered(one, outcome({ result: "miss", ...at(MINUTE, 30) }));
    tallies.answered(one, outcome({ result: "hit", mementos: 7, ...at(MINUTE, 30) }));
    tallies.answered(one, outcome({ result: "hit", ...at(2 * MINUTE, 4000) }));
    tallies.answered(one, outcome({ result: "miss", origin: "cache", ...at(2 * MINUTE, 0.1) }));
    const fault = "nobody listens there";
    tallies.answered(
      one,
      outcome({ result: "error", origin: undefined, fault, ...at(2 * MINUTE, 9) }),
    );
    tallies.answered(one, outcome({ result: "error", origin: undefined, ...at(2 * MINUTE, 9) }));
    const tally = tallies.tallyOf(ia);
    expect(tally).toMatchObject({
      asked: 103,
      hits: 2,
      misses: 99,
      errors: 2,
      fromCache: 1,
      mementos: 10,
      lastFault: "nobody listens there",
      latencySumMs: 99 * 30 + 4000,
    });
    expect(tally.medianMs).toBeGreaterThan(20);
    expect(tally.medianMs).toBeLessThan(50);
    expect(tally.p99Ms).toBeLessThanOrEqual(50);
    expect(tally.lastHour.slice(-2)).toEqual([99, 4]);
  });

  it("forgets what is more than an hour old, and nothing younger", () => {
    let now = 100 * MINUTE;
    const tallies = new ArchiveTallies(() => now);
    tallies.answered(session(), outcome({ result: "hit", ...at(now, 1) }));
    now += 59 * MINUTE;
    expect(tallies.tallyOf(ia).lastHour[0]).toBe(1);
    now += MINUTE;
    expect(Math.max(...tallies.tallyOf(ia).lastHour)).toBe(0);
    now += 1000 * MINUTE;
    tallies.answered(session(), outcome({ result: "hit", ...at(now, 1) }));
    expect(tallies.tallyOf(ia).lastHour).toEqual([...Array.from({ length: 59 }, () => 0), 1]);
  });

  it("keeps by minutes and by hours what was asked, what was spared and what had mementos", () => {
    let now = 500 * 60 * MINUTE;
    const tallies = new ArchiveTallies(() => now);
    const spared = session({ reasons: [["not-in-map", false]] });
    const asleep = session({ reasons: [["dormant", false]] });
    const a0 = archive("a0");
    tallies.began(spared);
    tallies.began(asleep);
    tallies.answered(spared, outcome({ result: "hit", ...at(now, 1), archive: a0 }));
    now += 61 * MINUTE;
    tallies.began(spared);
    tallies.answered(spared, outcome({ result: "miss", ...at(now, 1), archive: a0 }));
    const { history, skipped, lastHour } = tallies.tallyOf(a0);
    expect(skipped).toBe(3);
    expect(history.minutes.spared.reduce((sum, each) => sum + each, 0)).toBe(1);
    expect(history.minutes.asked).toEqual(lastHour);
    expect(history.hours.asked).toHaveLength(72);
    expect(history.hours.asked.slice(-2)).toEqual([1, 1]);
    expect(history.hours.spared.slice(-2)).toEqual([1, 1]);
    expect(history.hours.hits.slice(-2)).toEqual([1, 0]);
  });

  it("counts archives that were not asked", () => {
    const one = session({
      reasons: [
        ["in-map", true],
        ["not-in-map", false],
      ],
    });
    const [asked, spared] = one.decisions.map((decision) => decision.archive);
    const tallies = new ArchiveTallies();
    tallies.began(one);
    expect([tallies.tallyOf(asked).skipped, tallies.tallyOf(spared).skipped]).toEqual([0, 1]);
    expect(tallies.tallyOf(archive("stranger"))).toMatchObject({ asked: 0, medianMs: undefined });
  });

  it("goes on counting when the clock is set back, and takes no time for less than none", () => {
    let now = 1000 * MINUTE;
    const tallies = new ArchiveTallies(() => now);
    const asked = archive("a");
    const answered = (): void =>
      tallies.answered(
        session(),
        outcome({ result: "hit", archive: asked, startedAt: now, endedAt: now - 5 * MINUTE }),
      );
    answered();
    now -= 600 * MINUTE;
    answered();
    now += MINUTE;
    answered();
    const { lastHour, latencySumMs, asked: count } = tallies.tallyOf(asked);
    expect(lastHour.reduce((sum, each) => sum + each, 0)).toBe(2);
    expect([latencySumMs, count]).toEqual([0, 3]);
  });

  it("forgets archives that are gone", () => {
    const tallies = new ArchiveTallies();
    tallies.answered(session(), outcome({ result: "hit", archive: archive("a") }));
    tallies.answered(session(), outcome({ result: "hit", archive: archive("b") }));
    tallies.keepOnly([archive("b")]);
    expect([archive("a"), archive("b")].map((each) => tallies.tallyOf(each).hits)).toEqual([0, 1]);
  });
});

describe("followingClock", () => {
  it("goes on evenly, and follows where the system's clock was set or the machine slept", () => {
    let steady = 1000.25;
    let system = 1000;
    const clock = followingClock(
      () => steady,
      () => system,
    );
    expect(clock()).toBe(1000.25);
    // The system's clock has no fractions, and is corrected a little now and then.
    steady += 10.5;
    system += 400;
    expect(clock()).toBe(1010.75);
    steady += 10;
    system += 8 * 3_600_000;
    expect(clock()).toBe(system);
    steady += 0.5;
    expect(clock()).toBe(system + 0.5);
    system = 5;
    expect(clock()).toBe(5);
  });
});
