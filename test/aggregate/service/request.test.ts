import { describe, expect, it } from "vitest";
import { readPreferences } from "../../../src/aggregate/service/request.ts";

describe("readPreferences", () => {
  it.each([
    ['archives="ia loc"', { only: ["ia", "loc"] }],
    ["archives=ia", { only: ["ia"] }],
    ['Archives="ia, loc", except-archives="pt"', { only: ["ia", "loc"], except: ["pt"] }],
    ["from=2010, until=2014", { from: 20100101000000, until: 20141231235959 }],
    ["until=20140213094521", { until: 20140213094521 }],
    ["top-k=3,min-likelihood=0.25", { topK: 3, minLikelihood: 0.25 }],
  ])("reads Prefer: %s", (prefer, route) => {
    const preferences = readPreferences({ prefer });
    expect(preferences.route).toEqual({ ...route, referer: undefined });
    expect(preferences.applied).toBe(prefer.split(/,\s*(?=[a-z-]+=)/).join(", "));
  });

  it("ignores preferences it does not know, and what is not a preference", () => {
    const prefer =
      'respond-async, depth=100;x="a,b", handling=lenient, "", routing=off, return=minimal';
    expect(readPreferences({ prefer })).toMatchObject({
      isBroadcast: true,
      applied: "routing=off",
    });
  });

  it("knows other ways to say the same", () => {
    const headers = { "x-memgator-archive-filter": "ia,!pt, loc", "x-mementomap-route": "1" };
    expect(readPreferences(headers)).toMatchObject({
      route: { only: ["ia", "loc"], except: ["pt"] },
      wantsReasons: true,
      applied: undefined,
    });
  });

  it.each([
    ["no-cache", "refresh"],
    ["max-age=0", "refresh"],
    ["max-age=60, No-Store", "refresh"],
    ["only-if-cached, no-cache", "only-cached"],
    ["max-age=60", "cached"],
  ])("reads Cache-Control: %s as %s", (text, expected) => {
    expect(readPreferences({ "cache-control": text }).how).toBe(expected);
  });

  it("takes the page that embeds from Referer", () => {
    expect(readPreferences({ referer: "http://a/" }).route).toEqual({ referer: "http://a/" });
  });

  it.each([
    ["from=soon", /the preference from is "soon"; write YYYY/],
    ["top-k=0", /an integer of at least 1/],
    ["min-likelihood=2", /a number from 0 to 1/],
    ["routing=perhaps", /write on or off/],
  ])("tells what is wrong with %s", (prefer, message) => {
    expect(() => readPreferences({ prefer })).toThrow(message);
  });
});

describe("headers that are too long", () => {
  it.each([`a${" ".repeat(60_000)}"`, `archives=${" ".repeat(60_000)}"a"`])(
    "are ignored, in linear time",
    (prefer) => {
      expect(readPreferences({ prefer }).route.only).toBeUndefined();
      expect(readPreferences({ "x-memgator-archive-filter": prefer }).route.only).toBeUndefined();
    },
  );
});
