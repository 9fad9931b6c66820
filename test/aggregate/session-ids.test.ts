import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SessionIds } from "../../src/aggregate/session.ts";

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
