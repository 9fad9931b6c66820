import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimate } from "../../../src/aggregate/route/routed-map.ts";
import { generateMap } from "../../../src/generate/generate-map.ts";
import { archivesOf, routerOf, shown } from "./routing.ts";

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

const stamp = "2016/06/09 12:00:00.123456";
const LOG = [
  `INFO: ${stamp} Aggregating Mementos for http://x.example/held`,
  `INFO: ${stamp} a => Success: 2 mementos`,
  `INFO: ${stamp} Aggregating Mementos for http://x.example/void`,
  `INFO: ${stamp} a => Response error: 404 Not Found`,
].join("\n");

async function learned(): Promise<string> {
  const chunks = (async function* () {
    yield new TextEncoder().encode(LOG);
  })();
  const { bytes } = await generateMap([{ name: "memgator.log", chunks }]);
  return new TextDecoder().decode(bytes);
}

describe("a map that was learnt from a log", () => {
  it("is marked as a sample", async () => {
    expect(await learned()).toContain('!meta {"type":"MementoMap","sample":true}\n');
  });

  it.each([
    ["held", "+a in-map"],
    ["void", "-a not-in-map"],
    ["never-asked-for", "+a no-map"],
  ])("is gone by as far as it knows: %s", async (path, decision) => {
    const router = await routerOf(archivesOf({ a: {} }), { a: await learned() });
    expect(shown(router.route({ uri: `http://x.example/${path}` }))).toBe(decision);
  });
});
