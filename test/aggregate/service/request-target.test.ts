import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aggregatorTarget } from "../../../src/aggregate/service/request-target.ts";

describe("aggregatorTarget", () => {
  it.each([
    [
      "timemap/link/example.org",
      { name: "timemap", format: "link", original: "http://example.org" },
    ],
    [
      "timemap/json/http://a/?x=1&y=2",
      { name: "timemap", format: "json", original: "http://a/?x=1&y=2" },
    ],
    [
      "timemap/cdxj/3/http://a/",
      { name: "timemap", format: "cdxj", page: 3, original: "http://a/" },
    ],
    [
      "timemap/link/2130706433/x",
      { name: "timemap", page: undefined, original: "http://2130706433/x" },
    ],
    ["timemap/link/12", { name: "timemap", page: undefined, original: "http://12" }],
    ["timemap/link/12/", { name: "timemap", page: undefined, original: "http://12/" }],
    ["timegate/https://a/%2F//../b", { name: "timegate", original: "https://a/%2F//../b" }],
    [
      "memento/2015/http://a/",
      { name: "memento", datetime: 20150101000000, original: "http://a/" },
    ],
    [
      "api/json/20150213/a",
      { name: "description", format: "json", datetime: 20150213000000, original: "http://a" },
    ],
    ["memento/proxy/20150213094521/http://a/", { name: "proxy", datetime: 20150213094521 }],
    ["route/a", { name: "route", original: "http://a" }],
    ["summary/a", { name: "summary", original: "http://a" }],
    ["", { name: "about" }],
    ["about?x", { name: "about" }],
    ["about.json", { name: "about.json" }],
    ["metrics", { name: "metrics" }],
  ])("reads %s", (text, target) => {
    expect(aggregatorTarget(text)).toMatchObject(target);
  });

  it.each([
    ["timemap", /write \/timemap\/FORMAT\/URI/],
    ["timemap/", /write \/timemap/],
    ["timemap/link", /write \/timemap/],
    ["timemap/link/", /write \/timemap/],
    ["timemap/xml/http://a/", /write \/timemap/],
    ["timemap/link/0/http://a/", /counted from 1/],
    ["timegate/", /write \/timegate\/URI/],
    ["memento/2015", /write \/memento/],
    ["memento/2015/", /write \/memento/],
    ["memento/20151/http://a/", /not a datetime: "20151"/],
    ["memento/20150230/http://a/", /not a datetime: "20150230"/],
    ["memento/xml/2015/http://a/", /not a datetime: "xml"/],
    ["timegate/http://a/\u0001", /control character/],
    ["route/", /write \/route\/URI/],
  ])("tells what is wrong with %j", (text, detail) => {
    expect(aggregatorTarget(text)).toEqual({
      name: "malformed",
      detail: expect.stringMatching(detail) as string,
    });
  });

  it.each(["timemaps/link/a", "abou", "about/x", "x", "metrics/", "../about", "/"])(
    "leaves %s to others",
    (text) => {
      expect(aggregatorTarget(text)).toEqual({ name: "unknown" });
    },
  );

  it("takes the original as it was sent, whatever it is", () => {
    const text = fc.string({ unit: fc.constantFrom(...Array.from('/.%2F?#&=;,a1:é"<>')) });
    const kinds = [
      "timemap/link/",
      "timemap/json/7/",
      "timegate/",
      "memento/2015/",
      "memento/proxy/2015/",
      "api/cdxj/2015/",
      "route/",
    ];
    fc.assert(
      fc.property(fc.constantFrom(...kinds), text, (kind, rest) => {
        expect(aggregatorTarget(`${kind}http://${rest}`)).toMatchObject({
          original: `http://${rest}`,
        });
      }),
    );
  });
});
