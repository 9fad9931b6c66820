import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyTable } from "../../src/generate/key-table.ts";
import { bytesOf, byUnits, key, keyCounts, naiveCounts, textOf } from "./key-arbitraries.ts";

function add(table: KeyTable, text: string, count: number): boolean {
  const bytes = bytesOf(`<${text}>`);
  return table.add(bytes, 1, bytes.length - 1, count);
}

function drained(table: KeyTable): [string, number][] {
  const entries: [string, number][] = [];
  table.drain((keys) => {
    keys.forEach((arena, start, end, count) => {
      entries.push([textOf(arena, start, end), count]);
    });
    expect(keys.size).toBe(entries.length);
  });
  return entries;
}

const orders: Record<string, (entries: [string, number][]) => [string, number][]> = {
  unsorted: (entries) => entries,
  sorted: (entries) => entries.toSorted(([a], [b]) => byUnits(a, b)),
  "sorted backwards": (entries) => entries.toSorted(([a], [b]) => byUnits(b, a)),
  "nearly sorted": (entries) => {
    const sorted = entries.toSorted(([a], [b]) => byUnits(a, b));
    return [...sorted.filter((_, i) => i % 7 !== 0), ...sorted.filter((_, i) => i % 7 === 0)];
  },
  // What is left of a sorted index when its queries go: `/a/b`, then `/a` again.
  "sorted by what follows the key": (entries) =>
    entries
      .map(([text, count], i) => ({ text, count, sortedAs: `${text}${["", "/b", "?x"][i % 3]}` }))
      .toSorted((a, b) => byUnits(a.sortedAs, b.sortedAs))
      .map(({ text, count }) => [text, count]),
};

describe("KeyTable", () => {
  it.each(Object.entries(orders))("counts as a Map does: %s", (_, ordered) => {
    fc.assert(
      fc.property(keyCounts, fc.integer({ min: 1, max: 40 }), (entries, runEvery) => {
        const table = new KeyTable(1 << 18);
        ordered(entries).forEach(([text, count], i) => {
          if (i % runEvery === 0) table.startRun();
          expect(add(table, text, count)).toBe(true);
        });
        expect(drained(table)).toEqual(naiveCounts(entries));
      }),
    );
  });

  it("adds to the key that was added last, in whichever lane it is", () => {
    fc.assert(
      fc.property(fc.array(key, { minLength: 1, maxLength: 60 }), (keys) => {
        const table = new KeyTable(1 << 18);
        for (const text of keys) {
          add(table, text, 1);
          table.repeat(2);
        }
        expect(drained(table)).toEqual(naiveCounts(keys.map((text) => [text, 3])));
      }),
    );
  });

  it("refuses a key when it is full, without losing or half adding one, and starts over", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 }), fc.boolean(), (seed, areLong) => {
        const table = new KeyTable(1);
        const entries = Array.from({ length: 4000 }, (_, i): [string, number] => [
          `com,x)/${(i * seed) % 2777}${areLong ? "-".repeat(200) : ""}`,
          1,
        ]);
        const total: [string, number][] = [];
        let drains = 0;
        for (const [text, count] of entries) {
          if (add(table, text, count)) continue;
          total.push(...drained(table));
          drains++;
          expect(table.size).toBe(0);
          expect(add(table, text, count)).toBe(true);
        }
        total.push(...drained(table));
        expect(naiveCounts(total)).toEqual(naiveCounts(entries));
        expect(drains > 0).toBe(naiveCounts(entries).length > (areLong ? 300 : 1024));
      }),
      { numRuns: 8 },
    );
  });

  it("has nothing to give when nothing was added", () => {
    expect(drained(new KeyTable(0))).toEqual([]);
  });
});
