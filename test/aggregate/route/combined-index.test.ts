import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EMPTY_HASH, extendHashRange } from "../../../src/map/lookup/row-table.ts";
import { Match, MemoryIndex } from "../../../src/map/lookup/memory-index.ts";
import { CombinedIndex } from "../../../src/aggregate/route/combined-index.ts";
import {
  DATETIME_FIELDS,
  datetimeRows,
  lookupSurt,
  mapBytes,
  PLAIN,
  rows,
} from "../../map/lookup/map-arbitraries.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

const map: fc.Arbitrary<MemoryIndex | undefined> = fc
  .oneof(
    { weight: 4, arbitrary: rows.map((content) => mapBytes(content, PLAIN)) },
    {
      weight: 1,
      arbitrary: datetimeRows.map((content) =>
        mapBytes(content, { ...PLAIN, headers: [DATETIME_FIELDS] }),
      ),
    },
    { weight: 1, arbitrary: fc.constant(undefined) },
  )
  .map((bytes) => (bytes === undefined ? undefined : MemoryIndex.build(bytes)));

/** What the index found for a map, as a single map would answer. */
function found(index: CombinedIndex, number: number): object {
  const row = index.rows[number];
  const single = index.indexes[number];
  if (single === undefined || row < 0) return { present: false, row };
  const { decides, ...answer } = single.answerRow(row);
  expect(decides).toBe(true);
  return { ...answer, distance: index.distances[number] };
}

function expected(single: MemoryIndex | undefined, surt: string): object {
  const answer = single?.lookupSurtSync(surt);
  return answer?.key === undefined ? { present: false, row: -1 } : answer;
}

/** Two of these keys have the same hash of 32 bits; the paths are long, for short ones differ. */
function keysOfOneHash(): readonly [string, string] {
  const keys = new Map<number, string>();
  for (let i = 0; i < 1_000_000; i++) {
    const key = `com,a)/${(i * 0.618_033_988_749).toString(36)}`;
    const bytes = encode(key);
    const hash = extendHashRange(EMPTY_HASH, bytes, 0, bytes.length);
    const other = keys.get(hash);
    if (other !== undefined) return [other, key];
    keys.set(hash, key);
  }
  throw new Error("no two keys have the same hash");
}

describe("CombinedIndex", () => {
  it.each([
    ["a few maps", { maxLength: 6 }, 500],
    ["more maps than a filter has bits", { minLength: 33, maxLength: 70 }, 30],
  ])("answers for %s as each of them does", (_name, lengths, numRuns) => {
    fc.assert(
      fc.property(
        fc.array(map, lengths),
        fc.array(lookupSurt, { minLength: 1 }),
        (indexes, surts) => {
          const combined = CombinedIndex.build(indexes);
          for (const surt of surts) {
            const padded = encode(`<${surt}>`);
            combined.lookupKeyBytes(padded, 1, padded.length - 1);
            expect(indexes.map((_, number) => found(combined, number))).toEqual(
              indexes.map((single) => expected(single, surt)),
            );
          }
        },
      ),
      { numRuns },
    );
  });

  it("is built in slices as it is at once", async () => {
    const maps = [0, 1, 2].map((number) => {
      const lines = Array.from({ length: 40_000 }, (_, i) => `com,a)/${number}/${i} ${i % 2}\n`);
      return MemoryIndex.build(encode(lines.join("")));
    });
    let pauses = 0;
    const combined = await CombinedIndex.buildInSlices([undefined, ...maps], () => {
      pauses += 1;
      return Promise.resolve();
    });
    expect(pauses).toBeGreaterThan(2);
    const match = new Match();
    for (let i = 0; i < 40_000; i += 7) {
      const key = encode(`com,a)/${i % 3}/${i}`);
      combined.lookupKeyBytes(key, 0, key.length);
      expect(Array.from(combined.rows, (row) => row >= 0)).toEqual(
        [-1, 0, 1, 2].map((number) => number === i % 3),
      );
      expect(maps[i % 3].matchRow(combined.rows[1 + (i % 3)], match)).toBe(i % 2 === 1);
    }
  });

  it("tells two keys of one hash apart", () => {
    const [a, b] = keysOfOneHash();
    const indexes = [a, b].map((key) => MemoryIndex.build(encode(`${key} 1\n`)));
    const combined = CombinedIndex.build(indexes);
    const key = encode(a);
    combined.lookupKeyBytes(key, 0, key.length);
    expect(Array.from(combined.rows)).toEqual([0, -1]);
  });
});
