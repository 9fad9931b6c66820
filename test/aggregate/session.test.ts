import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { followingClock, SessionIds } from "../../src/aggregate/session.ts";

const MS = 1_794_744_000_123;

describe("names of sessions", () => {
  it("are different in all processes of a service, whatever their clocks say", () => {
    const time = fc.oneof(
      fc.constantFrom(MS, MS + 1 - 2 ** -12, MS + 1 + 2 ** -12),
      fc.double({ min: MS, max: MS + 2, noNaN: true }),
    );
    fc.assert(
      fc.property(
        fc
          .integer({ min: 1, max: 7 })
          .chain((count) =>
            fc.tuple(
              fc.constant(count),
              fc.array(fc.tuple(fc.integer({ min: 1, max: count }), time), { maxLength: 60 }),
            ),
          ),
        ([count, calls]) => {
          const processes = Array.from(
            { length: count },
            (_, index) => new SessionIds({ number: index + 1, count }),
          );
          const ids = calls.map(([number, now]) => processes[number - 1]?.next(now));
          expect(new Set(ids).size).toBe(ids.length);
          for (const id of ids) expect(id).toMatch(/^\d{19}$/);
        },
      ),
    );
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
