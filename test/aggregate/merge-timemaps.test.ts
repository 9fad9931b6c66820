import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type MergedTimeMap,
  type MergeSource,
  mergeTimeMaps,
} from "../../src/aggregate/merge-timemaps.ts";
import { datetimeOfEpochMs, epochMs } from "../../src/memento/datetime.ts";
import { MementoList } from "../../src/memento/memento-list.ts";

/** Few times and URIs, so that many are the same; also around the ends of months and years. */
const mementos = fc.record({
  uri: fc.constantFrom(
    "http://a/1",
    "http://a/2",
    "http://b/1",
    "http://b/é",
    "http://c/\uD83D\uDE00",
  ),
  datetime: fc.constantFrom(
    19991231235959,
    20000101000000,
    20000101000001,
    20000229120000,
    20000301120000,
    20151231000000,
  ),
});

const sources = fc.array(
  fc.record({ archive: fc.nat({ max: 4 }), list: fc.array(mementos, { maxLength: 30 }) }),
  { maxLength: 6 },
);

type Sources = readonly { archive: number; list: readonly { uri: string; datetime: number }[] }[];

function merged(of: Sources): MergedTimeMap {
  return mergeTimeMaps(
    of.map(({ archive, list }) => ({ archive, mementos: MementoList.of(list) })),
  );
}

function naive(of: Sources): { uri: string; datetime: number; archive: number }[] {
  const all = of
    .flatMap(({ archive, list }) => list.map((memento) => ({ ...memento, archive })))
    // The sort of arrays is stable.
    .sort((a, b) => a.datetime - b.datetime || a.archive - b.archive);
  const seen = new Set<string>();
  return all.filter(({ uri, datetime }) => {
    const key = `${datetime} ${uri}`;
    return seen.has(key) ? false : seen.add(key);
  });
}

describe("mergeTimeMaps", () => {
  it("gives what sorting everything gives", () => {
    fc.assert(
      fc.property(sources, (of) => {
        expect([...merged(of)]).toEqual(naive(of));
      }),
      { numRuns: 300 },
    );
  });

  it("finds the nearest, of equals the last in the list", () => {
    const asked = fc
      .integer({ min: 10_500, max: 17_500 })
      .map((day) => datetimeOfEpochMs(day * 86_400_000));
    fc.assert(
      fc.property(
        sources,
        fc.oneof(
          asked,
          mementos.map(({ datetime }) => datetime),
        ),
        (of, at) => {
          const all = naive(of);
          let best = -1;
          const distance = (i: number): number =>
            Math.abs(epochMs(all[i]?.datetime ?? 0) - epochMs(at));
          for (let i = 0; i < all.length; i++) {
            if (best === -1 || distance(i) <= distance(best)) best = i;
          }
          expect(merged(of).closest(at)).toBe(best);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("knows that two days before a new year are as near as two days behind it", () => {
    const list = [20141230000000, 20150103000000].map((datetime) => ({
      uri: "http://a/",
      datetime,
    }));
    const map = merged([{ archive: 0, list }]);
    expect(map.closest(20150101000000)).toBe(1);
    expect(map.closest(20141231235959)).toBe(0);
  });

  it("cuts by time and in pages", () => {
    fc.assert(
      fc.property(sources, mementos, mementos, fc.integer({ min: 1, max: 9 }), (of, a, b, size) => {
        const map = merged(of);
        const all = naive(of);
        const [from, until] = [a.datetime, b.datetime];
        expect([...map.part(map.range(from, until))]).toEqual(
          all.filter(({ datetime }) => datetime >= from && datetime <= until),
        );
        expect(map.range()).toEqual({ start: 0, end: all.length });
        const pages = map.pages(size).map((range) => [...map.part(range)]);
        expect(pages.flat()).toEqual(all);
        expect(pages.slice(0, -1).every((page) => page.length === size)).toBe(true);
      }),
    );
  });

  it("takes many mementos of one second, and finds those that are the same", () => {
    const list = Array.from({ length: 20_000 }, (_, i) => ({
      uri: `http://a/${i % 15_000}`,
      datetime: 20150101000000,
    }));
    expect(merged([{ archive: 3, list }]).count).toBe(15_000);
  });

  it("has nothing where there is nothing", () => {
    const map = merged([{ archive: 0, list: [] }]);
    expect([map.count, map.closest(20150101000000), map.pages(5)]).toEqual([0, -1, []]);
  });

  it("refuses more sources than it can number", () => {
    const mementos = MementoList.of([{ uri: "http://a/", datetime: 20150101000000 }]);
    const source: MergeSource = { archive: 0, mementos };
    expect(() => mergeTimeMaps(Array.from({ length: 65_537 }, () => source))).toThrow(
      expect.objectContaining({ code: "MM_LIMIT" }),
    );
  });
});
