import { describe, expect, it } from "vitest";
import { mergeTimeMaps } from "../../src/aggregate/merge-timemaps.ts";
import { MementoList } from "../../src/memento/memento-list.ts";
import { summarizeTimeMap } from "../../src/memento/timemap-document.ts";

const ARCHIVES = ["a", "b", "c"].map((id) => ({ id, name: id.toUpperCase() }));

function listOf(
  archive: number,
  ...datetimes: number[]
): { archive: number; mementos: MementoList } {
  const list = datetimes.map((datetime) => ({ uri: `http://${archive}/${datetime}`, datetime }));
  return { archive, mementos: MementoList.of(list) };
}

describe("summarizeTimeMap", () => {
  it("counts by archive and year", () => {
    const mementos = mergeTimeMaps([
      listOf(2, 20150101000000, 20000620180259),
      listOf(0, 20080409203051, 20080410000000),
    ]);
    const service = "http://localhost:1208";
    expect(summarizeTimeMap({ original: "http://e/", service, mementos }, ARCHIVES)).toEqual({
      original_uri: "http://e/",
      mementos: {
        count: 4,
        from: "2000-06-20T18:02:59Z",
        until: "2015-01-01T00:00:00Z",
        years: { 2000: 1, 2008: 2, 2015: 1 },
      },
      archives: [
        {
          id: "a",
          name: "A",
          count: 2,
          from: "2008-04-09T20:30:51Z",
          until: "2008-04-10T00:00:00Z",
          years: { 2008: 2 },
        },
        {
          id: "c",
          name: "C",
          count: 2,
          from: "2000-06-20T18:02:59Z",
          until: "2015-01-01T00:00:00Z",
          years: { 2000: 1, 2015: 1 },
        },
      ],
      timemap_uri: {
        link_format: "http://localhost:1208/timemap/link/http://e/",
        json_format: "http://localhost:1208/timemap/json/http://e/",
        cdxj_format: "http://localhost:1208/timemap/cdxj/http://e/",
      },
      timegate_uri: "http://localhost:1208/timegate/http://e/",
    });
  });

  it("says so where there is nothing", () => {
    const document = { original: "http://e/", service: "http://s", mementos: mergeTimeMaps([]) };
    expect(summarizeTimeMap(document, ARCHIVES)).toMatchObject({
      mementos: undefined,
      archives: [],
    });
  });
});
