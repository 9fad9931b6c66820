import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { beginsWithLookup, foreignKind } from "../../src/input/line-kind.ts";

describe("foreignKind", () => {
  it.each([
    ["20150101000000", /timestamps/],
    ["2017-06-01T10:11:12Z\thttp://a.com/", /timestamps/],
    ["INFO: 2016/06/09 12:00:00.1 Aggregating Mementos for http://a.com/", /MemGator log/],
    ['1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 2326', /access log/],
    ["<!DOCTYPE html>", /HTML/],
    ["  <html>", /HTML/],
    ['!fields {"keys":["surt"],"values":["frequency"]}', /map/],
    ["com,a)/* 12", /compacted map/],
    ["com,a)/b/* 12", /compacted map/],
    ["com,* 12", /compacted map/],
    [" CDX N b a m s k r M S V g", /CDX/],
    ["\u0000\u0001\u0002", /binary/],
    ['{"url": "http://a.com/"}', /JSON/],
  ])("tells what %s is", (line, kind) => {
    expect(foreignKind(line)).toMatch(kind);
  });

  it("says nothing of URIs and SURTs, and both begin with a lookup", () => {
    const some = fc.oneof(
      fc.webUrl({ withQueryParameters: true, withFragments: true }),
      fc.domain(),
      fc.domain().map((host) => `${host}/a/*`),
      fc.domain().map((host) => `${host.split(".").toReversed().join(",")})/a?b=*`),
      fc.constantFrom("com,a)", "1.2.3.4/x", "bücher.example", "mailto:me@a.com", "ftp://a.com/"),
    );
    fc.assert(
      fc.property(some, fc.constantFrom("", " 7", "\t12 x"), (text, rest) => {
        expect(foreignKind(text + rest)).toBeUndefined();
        expect(beginsWithLookup(text + rest)).toBe(true);
      }),
    );
  });

  it.each(["This is prose.", "e.g. this", "example.org is a host", "note: x", "", "-", "http://"])(
    "%j does not begin with a lookup",
    (line) => {
      expect(beginsWithLookup(line)).toBe(false);
    },
  );
});

describe("hostile lines", () => {
  it("are recognised in linear time", () => {
    expect(foreignKind(`a a ${"[".repeat(500_000)}`)).toBeUndefined();
    expect(foreignKind(`a a [x] "${"\\".repeat(500_000)}`)).toBeUndefined();
  });
});
