import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compactMap } from "../../src/compact/compact-map.ts";
import type { CompactMapOptions } from "../../src/compact/compact-map.ts";
import { byBytes, compactByOracle } from "../support/compaction-oracle.ts";

async function* chunked(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

async function compactRows(
  rows: readonly string[],
  options: CompactMapOptions,
  chunkSize: number = 1 << 16,
): Promise<string[]> {
  const text = rows.map((row) => `${row}\n`).join("");
  const parts: Uint8Array[] = [];
  for await (const part of compactMap(chunked(text, chunkSize), options)) parts.push(part);
  return Buffer.concat(parts).toString().split("\n").slice(0, -1);
}

const label = fc.constantFrom("a", "b", "a-b", "a0", "a+b", "a%20", "x:80");
const host = fc
  .tuple(fc.constantFrom("com", "org"), fc.array(label, { maxLength: 4 }))
  .map(([tld, labels]) => [tld, ...labels].join(","));
const segment = fc.constantFrom(
  "a",
  "b",
  "c",
  "a-b",
  "a.html",
  "a0",
  "%20",
  "!x",
  "*b",
  "(z)",
  "a)",
);
const path = fc.array(segment, { maxLength: 5 }).map((segments) => segments.join("/"));
const key = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(host, path).map(([h, p]) => `${h})/${p}`) },
  {
    weight: 2,
    arbitrary: fc.tuple(host, path).map(([h, p]) => `${h})/${p === "" ? "" : `${p}/`}*`),
  },
  { weight: 1, arbitrary: host.map((h) => `${h},*`) },
  { weight: 1, arbitrary: fc.tuple(host, path).map(([h, p]) => `${h},*)/${p}`) },
  { weight: 1, arbitrary: fc.tuple(host, path).map(([h, p]) => `${h})/${p}?q=1`) },
  { weight: 1, arbitrary: fc.constantFrom("*", "dns:a.com", "com,a", "com,a,zz") },
);
const frequency = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 20 }).map(String) },
  { weight: 2, arbitrary: fc.constant("0") },
  { weight: 1, arbitrary: fc.constantFrom("5+", "7-", "3~", "/", "/4", "4/2", "0/3", "9+/2-") },
);
const map = fc
  .uniqueArray(fc.tuple(key, frequency), { maxLength: 60, selector: ([text]) => text })
  .map((rows) => rows.map((row) => row.join(" ")).sort(byBytes));
const weight = fc.constantFrom(0, 0.02, 0.05, 0.1, 0.2, 0.4, Number.POSITIVE_INFINITY);
const depths = fc.record({
  maxHostDepth: fc.constantFrom(1, 2, 3, 8),
  maxPathDepth: fc.constantFrom(1, 2, 3, 4, 9),
});

describe("compaction by weights", () => {
  it("gives the bytes of the slow oracle, for any map, weights and depths", async () => {
    await fc.assert(
      fc.asyncProperty(map, weight, weight, depths, async (rows, hostWeight, pathWeight, caps) => {
        const options = { hostWeight, pathWeight, ...caps };
        expect(await compactRows(rows, options)).toEqual(compactByOracle(rows, options));
      }),
      { numRuns: 4000 },
    );
  });

  it("does not depend on how the input is cut into chunks", async () => {
    await fc.assert(
      fc.asyncProperty(map, fc.integer({ min: 1, max: 40 }), async (rows, size) => {
        const options = { hostWeight: 0.1, pathWeight: 0.1 };
        expect(await compactRows(rows, options, size)).toEqual(await compactRows(rows, options));
      }),
      { numRuns: 300 },
    );
  });
});
