import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Shares } from "../../../src/map/generate/read-all.ts";

function takenBy(shares: Shares, lane: number): number[] {
  const taken: number[] = [];
  for (let n = shares.take(lane); n !== undefined; n = shares.take(lane)) taken.push(n);
  return taken;
}

describe("sharing the parts of a file among lanes", () => {
  it("hands out every part once", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 0, max: 60 }),
        fc.array(fc.nat(), { maxLength: 100 }),
        (lanes, count, turns) => {
          const shares = new Shares(count, lanes);
          const taken: number[] = [];
          for (const turn of turns) {
            const n = shares.take(turn % lanes);
            if (n !== undefined) taken.push(n);
          }
          for (let lane = 0; lane < lanes; lane++) taken.push(...takenBy(shares, lane));
          expect(taken.toSorted((a, b) => a - b)).toEqual(
            Array.from({ length: count }, (_, i) => i),
          );
        },
      ),
    );
  });

  it("leaves two lanes with parts that do not overlap, whichever is faster", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.array(fc.boolean()), (count, turns) => {
        const shares = new Shares(count, 2);
        const [low, high]: [number[], number[]] = [[], []];
        for (const isHigh of turns) {
          const n = shares.take(isHigh ? 1 : 0);
          if (n !== undefined) (isHigh ? high : low).push(n);
        }
        low.push(...takenBy(shares, 0));
        expect([...low, ...high.toReversed()]).toEqual(Array.from({ length: count }, (_, i) => i));
      }),
    );
  });

  it("lets a lane help others only where much is left", () => {
    const shares = new Shares(40, 4);
    expect(takenBy(shares, 0)).toHaveLength(20 + 17);
    expect(takenBy(shares, 3)).toHaveLength(3);
  });
});
