import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { contains, type DatetimeRange, overlap, parseDatetimeKey } from "../../src/ukvs/record.ts";

const badKey = expect.objectContaining({ code: "MM_BAD_KEY" });

/** Any second of the years 1990 to 2029, in 14 digits. */
const datetime14 = fc
  .date({
    min: new Date("1990-01-01T00:00:00Z"),
    max: new Date("2029-12-31T23:59:59Z"),
    noInvalidDate: true,
  })
  .map((date) => date.toISOString().replaceAll(/\D/g, "").slice(0, 14));

const prefix = fc
  .tuple(datetime14, fc.integer({ min: 4, max: 14 }))
  .map(([digits, length]) => digits.slice(0, length));

describe("parseDatetimeKey", () => {
  it.each<[string, DatetimeRange]>([
    ["2014", { from: "2014", until: "2014" }],
    ["20141", { from: "20141", until: "20141" }],
    ["20140131235959", { from: "20140131235959", until: "20140131235959" }],
    ["2014:2016", { from: "2014", until: "2016" }],
    ["201406:2014", { from: "201406", until: "2014" }],
    ["2014:201406", { from: "2014", until: "201406" }],
    [":2016", { until: "2016" }],
    ["2014:", { from: "2014" }],
    [":", {}],
    ["20160229", { from: "20160229", until: "20160229" }],
    ["20000229", { from: "20000229", until: "20000229" }],
  ])("reads %s", (text, expected) => {
    expect(parseDatetimeKey(text)).toEqual(expected);
  });

  it.each([
    "",
    "-",
    "201",
    "201401010000000",
    "2014-01",
    "201413",
    "201400",
    "20142",
    "20140100",
    "20140132",
    "20140431",
    "20150229",
    "19000229",
    "2014023",
    "2014010124",
    "201401013",
    "201401012360",
    "20140101235960",
    "2014:2013",
    "201407:201406",
    "2014:2015:2016",
    "a:b",
  ])("refuses %j", (text) => {
    expect(() => parseDatetimeKey(text)).toThrow(badKey);
  });
});

describe("ranges of time", () => {
  it("hold what begins with their prefixes, both ends included", () => {
    fc.assert(
      fc.property(prefix, prefix, datetime14, (from, until, time) => {
        fc.pre(from.slice(0, until.length) <= until);
        const second = parseDatetimeKey(time);
        const isBehind = time >= from.padEnd(14, "0");
        const isBefore = time <= until.padEnd(14, "9");
        for (const [text, isIn] of [
          [from, time.startsWith(from)],
          [time.slice(0, until.length), true],
          [`${from}:${until}`, isBehind && isBefore],
          [`${from}:`, isBehind],
          [`:${until}`, isBefore],
          [":", true],
        ] as const) {
          expect(overlap(parseDatetimeKey(text), second)).toBe(isIn);
          expect(contains(parseDatetimeKey(text), second)).toBe(isIn);
        }
      }),
    );
  });
});
