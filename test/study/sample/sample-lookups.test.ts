import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { sampleLookups } from "../../../src/study/sample/sample-lookups.ts";
import { surt } from "../../../src/surt/uri-to-surt.ts";
import { uriKey } from "../../../src/surt/key.ts";
import { indexLines, lineKey, readIndex } from "./read-index.ts";

function hostOf(key: string): string {
  return key.slice(0, key.indexOf(")"));
}

describe("sampleLookups", () => {
  it("asks for held originals in the share asked for, and for nothing else that is held", () => {
    const sample = fc.record({
      lines: fc.integer({ min: 1, max: 2000 }),
      seed: fc.maxSafeInteger(),
      count: fc.integer({ min: 0, max: 300 }),
      held: fc.double({ min: 0, max: 0.5, noNaN: true }),
    });
    fc.assert(
      fc.property(sample, ({ held, count, ...archive }) => {
        const lines = indexLines(readIndex(archive));
        const originals = new Set(lines.map((line) => line.slice(0, line.indexOf(" "))));
        const keys = new Set(lines.map(lineKey));
        const lookups = Array.from(sampleLookups({ ...archive, count, held }));
        expect(lookups).toHaveLength(count);
        const hits = lookups.filter((uri) => originals.has(surt(uri)));
        expect(hits).toHaveLength(Math.round(count * held));
        expect(lookups.filter((uri) => keys.has(uriKey(uri)))).toHaveLength(hits.length);
      }),
      { numRuns: 40 },
    );
  });

  it("asks for near misses on held hosts and for strangers, by default 35 and 60 in 100", () => {
    const archive = { lines: 5000, seed: 2 };
    const hosts = new Set(indexLines(readIndex(archive)).map((line) => hostOf(lineKey(line))));
    const domains = new Set(Array.from(hosts, (host) => host.split(",").slice(0, 2).join()));
    const lookups = Array.from(sampleLookups({ ...archive, count: 2000 }), uriKey);
    const strangers = lookups.filter(
      (key) => !domains.has(hostOf(key).split(",").slice(0, 2).join()),
    );
    expect(strangers).toHaveLength(1200);
    const onHosts = lookups.filter((key) => hosts.has(hostOf(key)));
    expect(onHosts.length / 2000).toBeGreaterThan(0.35);
  });

  it("gives the same lookups for the same seed", () => {
    const options = { lines: 3000, seed: 5, count: 100 };
    expect(Array.from(sampleLookups(options))).toEqual(Array.from(sampleLookups(options)));
    expect(Array.from(sampleLookups({ ...options, seed: 6 }))).not.toEqual(
      Array.from(sampleLookups(options)),
    );
  });
});
