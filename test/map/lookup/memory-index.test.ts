import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Match, MAX_INDEX_BYTES, MemoryIndex } from "../../../src/map/lookup/memory-index.ts";
import { lookupKeys } from "../../../src/surt/key.ts";
import {
  DATETIME_FIELDS,
  datetimeRows,
  lookupSurt,
  mapBytes,
  PLAIN,
  rows,
} from "./map-arbitraries.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function answerOf(index: MemoryIndex, surt: string, match: Match): object {
  const padded = encode(`<${surt}>`);
  const present = index.lookupKeyBytes(padded, 1, padded.length - 1, match);
  expect(match.present).toBe(present);
  if (match.distance < 0) return { present };
  return {
    present,
    key: decode(index.bytes.subarray(match.keyStart, match.keyEnd)),
    frequency: decode(match.frequencyBytes.subarray(match.frequencyStart, match.frequencyEnd)),
    distance: match.distance,
  };
}

describe("MemoryIndex", () => {
  it("answers in bytes as it does in strings", () => {
    const match = new Match();
    fc.assert(
      fc.property(
        fc.oneof(
          rows.map((content) => mapBytes(content, PLAIN)),
          datetimeRows.map((content) =>
            mapBytes(content, { ...PLAIN, headers: [DATETIME_FIELDS] }),
          ),
        ),
        fc.array(lookupSurt, { minLength: 1 }),
        (bytes, surts) => {
          const index = MemoryIndex.build(bytes);
          for (const surt of surts) {
            expect(answerOf(index, surt, match)).toEqual(index.lookupSurtSync(surt));
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("tries the lookup keys of any text in their order", () => {
    const match = new Match();
    const surt = fc.oneof(
      lookupSurt,
      fc.string({ unit: fc.constantFrom("a", "b", ",", ")", "/", "*", "?", ":", " ", "é", "\n") }),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(surt, (text) => {
        // Taking away the key found, one after the other, must go through all of them in order.
        const expected = lookupKeys(text).filter(
          ({ key }, at, all) => key !== "" && all.findIndex((other) => other.key === key) === at,
        );
        for (let from = 0; from <= expected.length; from++) {
          const lines = expected.slice(from).map(({ key }) => `${key} 1\n`);
          const index = MemoryIndex.build(encode(`zz,unasked)/ 1\n${lines.join("")}`));
          const found = answerOf(index, text, match);
          const wanted = expected[from];
          expect(found).toEqual(
            wanted === undefined
              ? { present: false }
              : { present: true, frequency: "1", ...wanted },
          );
        }
      }),
      { numRuns: 500 },
    );
  });

  it("grows beyond its first estimate", () => {
    const long = `com,a)/${"x".repeat(100_000)} 1\n`;
    const keys = Array.from({ length: 20_000 }, (_, i) => `com,b)/${i}`);
    const index = MemoryIndex.build(encode(long + keys.map((key) => `${key} 2\n`).join("")));
    expect(index.keyCount).toBe(20_001);
    expect(keys.every((key) => index.lookupSurtSync(key).distance === 0)).toBe(true);
  });

  it("is built in slices as it is at once", async () => {
    const keys = Array.from({ length: 50_000 }, (_, i) => `com,a)/${"x".repeat(i % 50)}/${i}`);
    const lines = keys.map((key, i) => `${key} ${i % 3}\n`).join("");
    // Only the last slice has a spread key, only the first a query.
    const bytes = encode(`com,a)/?q 7\n${lines}org,*)/a 1\n`);
    let pauses = 0;
    const sliced = await MemoryIndex.buildInSlices(bytes, {
      pause: () => {
        pauses += 1;
        return Promise.resolve();
      },
    });
    const whole = MemoryIndex.build(bytes);
    expect(pauses).toBeGreaterThan(2);
    expect(sliced.keyCount).toBe(50_002);
    for (const surt of [...keys, "com,a)/?q", "org,b)/a", "org,b)/b"]) {
      expect(sliced.lookupSurtSync(surt)).toEqual(whole.lookupSurtSync(surt));
    }
  });

  it("refuses rows of one key that are apart, with the line", () => {
    const map = encode("!meta {}\ncom,a)/ 1\ncom,b)/ 1\ncom,a)/ 2\n");
    expect(() => MemoryIndex.build(map, { source: "m.ukvs" })).toThrow(
      expect.objectContaining({ code: "MM_NOT_SORTED", position: { source: "m.ukvs", line: 4 } }),
    );
  });

  it("refuses a map too large to index, and tells what to do", () => {
    // Only its length is looked at: the memory itself is not needed.
    const huge = Object.create(Uint8Array.prototype, {
      length: { value: MAX_INDEX_BYTES + 1 },
    }) as Uint8Array;
    expect(() => MemoryIndex.build(huge)).toThrow(expect.objectContaining({ code: "MM_LIMIT" }));
    expect(() => MemoryIndex.build(huge)).toThrow("search the file instead");
  });
});
