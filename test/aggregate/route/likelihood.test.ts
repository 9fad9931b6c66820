import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimate } from "../../../src/aggregate/route/routed-map.ts";

describe("estimate", () => {
  it("is as good as certain of a key for the URI itself", () => {
    expect(estimate("7", 0)).toMatchObject({ likelihood: 0.99, mementos: 7 });
    expect(estimate("/", 0)).toMatchObject({ likelihood: 0.99, mementos: 1 });
  });

  it.each([
    ["30/10", 1, 10 / 14, 3],
    ["30+/10~", 1, 10 / 14, 3],
    ["/10", 1, 10 / 14, 3],
    ["30", 1, 10 / 14, 3],
    ["50/10", 1, 10 / 14, 5],
    ["2", 1, 1 / 5, 3],
    ["/", 1, 1 / 5, 3],
    ["4000000/1000000", 1, 0.95, 4],
    ["3/1", 9, 0.01, 3],
  ])("takes %s, %i steps above, for %f", (frequency, distance, likelihood, each) => {
    expect(estimate(frequency, distance)).toEqual({
      likelihood: expect.closeTo(likelihood),
      mementos: expect.closeTo(likelihood * each),
    });
  });

  it("is surer of more originals, and less sure further up", () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.nat(1e9), fc.nat(20), fc.nat(20), (a, b, c, d) => {
        const [few, many] = a < b ? [a, b] : [b, a];
        const [near, far] = c < d ? [c, d] : [d, c];
        const least = estimate(`9/${few}`, far).likelihood;
        expect(least).toBeGreaterThan(0);
        expect(estimate(`9/${many}`, far).likelihood).toBeGreaterThanOrEqual(least);
        expect(estimate(`9/${few}`, near).likelihood).toBeGreaterThanOrEqual(least);
        expect(estimate(`9/${many}`, near).likelihood).toBeLessThan(1);
      }),
    );
  });
});
