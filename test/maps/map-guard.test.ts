import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isMementoMapError } from "../../src/errors.ts";
import { type MapExtent, type MapGuardOptions, refuseShrunk } from "../../src/maps/map-guard.ts";

function outcome(old: MapExtent, next: MapExtent, options?: MapGuardOptions): string {
  try {
    refuseShrunk(old, next, "map.ukvs", options);
    return "taken";
  } catch (error) {
    return isMementoMapError(error) ? error.code : String(error);
  }
}

describe("refuseShrunk", () => {
  it.each<[MapExtent, MapExtent, MapGuardOptions, string]>([
    [{ records: 10, mementos: 100 }, { records: 0, mementos: 0 }, {}, "MM_EMPTY"],
    [{ records: 10, mementos: 100 }, { records: 10, mementos: 49 }, {}, "MM_SHRUNK"],
    [{ records: 10, mementos: 100 }, { records: 10, mementos: 50 }, {}, "taken"],
    [{ records: 10, mementos: 0, isPacked: true }, { records: 0, mementos: 0 }, {}, "MM_EMPTY"],
    [{ records: 10, mementos: 0, isPacked: true }, { records: 1, mementos: 1 }, {}, "taken"],
    // Compacted: fewer rows for the same mementos.
    [{ records: 1000, mementos: 5000 }, { records: 3, mementos: 5000 }, {}, "taken"],
    // Without frequencies, the rows are what there is.
    [{ records: 10, mementos: 0 }, { records: 4, mementos: 0 }, {}, "MM_SHRUNK"],
    [{ records: 10, mementos: 100 }, { records: 1, mementos: 11 }, { maxShrink: 0.9 }, "taken"],
    [{ records: 10, mementos: 100 }, { records: 1, mementos: 9 }, { maxShrink: 0.9 }, "MM_SHRUNK"],
    [{ records: 10, mementos: 100 }, { records: 0, mementos: 0 }, { maxShrink: 1 }, "taken"],
    [{ records: 0, mementos: 0 }, { records: 0, mementos: 0 }, {}, "taken"],
  ])("of %j by %j with %j: %s", (old, next, options, expected) => {
    expect(outcome(old, next, options)).toBe(expected);
  });

  it("takes every map that did not shrink", () => {
    const count = fc.integer({ min: 1, max: 2 ** 40 });
    fc.assert(
      fc.property(count, count, count, count, (records, mementos, more, extra) => {
        const next = { records: records + extra, mementos: mementos + more };
        expect(outcome({ records, mementos }, next)).toBe("taken");
      }),
    );
  });
});
