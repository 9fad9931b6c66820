import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readMissList } from "../../src/compact/misses.ts";
import { missListOf } from "./compaction-arbitraries.ts";
import { lookupKey } from "../../src/lookup/lookup-list.ts";
import { chunked } from "../support/chunked.ts";

const key = fc.string({ unit: fc.constantFrom("a", "b", "/", ")"), minLength: 1, maxLength: 9 });
const uri = fc.oneof(
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.constantFrom(
    "http://a.com/b/*",
    "https://a.com/%C3%A9/é?q",
    "http://bücher.example/x",
    "com,a)/x?y=1",
    "com,a)",
    "com,a)/b//",
    "mailto:me@a.com",
    "a.com/x)/y",
    "http://a.com/x)/",
    "dns:a.com",
  ),
);

describe("a list of misses", () => {
  it("has each key once, by bytes, and knows which half of the log it came in", () => {
    fc.assert(
      fc.property(fc.array(key, { size: "max", maxLength: 5000 }), (keys) => {
        const { count, bytes, starts, isLate } = missListOf(keys);
        const sorted = Array.from({ length: count }, (_, i) =>
          new TextDecoder().decode(bytes.subarray(starts[i], starts[i + 1])),
        );
        const distinct = [...new Set(keys)];
        expect(sorted).toEqual(distinct.toSorted((a, b) => (a < b ? -1 : 1)));
        const late = new Set(distinct.slice(Math.ceil(distinct.length / 2)));
        expect([...isLate]).toEqual(sorted.map((text) => Number(late.has(text))));
      }),
      { numRuns: 30 },
    );
  });

  it("is read from a list of lookups, however it is cut into chunks", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(uri, { minLength: 1 }),
        fc.integer({ min: 1, max: 50 }),
        async (uris, size) => {
          const list = uris.map((text, i) => (i % 3 === 0 ? `  ${text} 12\r\n` : `${text}\n`));
          const text = Buffer.from(`# a comment\n\n${list.join("")}`);
          const read = await readMissList(chunked(text, [size]), "list");
          expect(read).toEqual(missListOf(uris.map(lookupKey)));
        },
      ),
    );
  });
});
