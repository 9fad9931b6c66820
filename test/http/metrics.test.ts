import fc from "fast-check";
import { Histogram, Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { Metrics } from "../../src/http/metrics.ts";

const BUCKETS = [0.001, 0.5, 1, 60];

describe("Timings", () => {
  it("are exposed as the histogram of prom-client is", async () => {
    const seconds = fc.oneof(fc.constantFrom(0, ...BUCKETS), fc.double({ min: 0, max: 100 }));
    const label = fc.constantFrom("a", "b", '"', "");
    const observed = fc.array(fc.tuple(seconds.filter(Number.isFinite), label), { maxLength: 50 });
    await fc.assert(
      fc.asyncProperty(observed, fc.boolean(), async (values, isLabelled) => {
        const about = { name: "seconds", help: "Times.", buckets: BUCKETS };
        const metrics = new Metrics();
        const timings = metrics.timings({ ...about, label: isLabelled ? "of" : undefined });
        const registry = new Registry();
        const histogram = new Histogram({
          ...about,
          labelNames: isLabelled ? ["of"] : [],
          registers: [registry],
        });
        for (const [value, of] of values) {
          timings.observe(value, isLabelled ? of : undefined);
          histogram.observe(isLabelled ? { of } : {}, value);
        }
        expect(linesOf(await metrics.text())).toEqual(linesOf(await registry.metrics()));
      }),
      { numRuns: 50 },
    );
  });
});

/** The lines about the histogram, in any order. */
function linesOf(text: string): string[] {
  const lines = text.split("\n").filter((line) => /^(?:# \w+ )?seconds/.test(line));
  return lines.sort();
}
