import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDatetime } from "../../src/cli/common/options.ts";

describe("parseDatetime", () => {
  it.each([
    ["2014", "2014"],
    ["201403", "201403"],
    ["20140305101112", "20140305101112"],
    ["2014-03", "201403"],
    ["2014-03-05", "20140305"],
    ["2014-03-05T10:11:12Z", "20140305101112"],
    ["2014-03-05T10:11Z", "20140305101100"],
    ["2014-03-05T00:30:00+01:00", "20140304233000"],
    ["2014-03-05T10:11:12.345Z", "20140305101112"],
    ["2014-03-05T10:11:12", "20140305101112"],
    ["Wed, 05 Mar 2014 10:11:12 GMT", "20140305101112"],
    ["2016-02-29", "20160229"],
  ])("reads %s as %s", (text, digits) => {
    expect(parseDatetime(text)).toBe(digits);
  });

  it.each([
    "",
    "14",
    "20145",
    "201413",
    "20140230",
    "2014-02-30",
    "2014-02-30T00:00:00Z",
    "2015-02-29",
    "20140305246000",
    "yesterday",
    "201403051011120",
    "Wed, 05 Foo 2014 10:11:12 GMT",
  ])("refuses %j", (text) => {
    expect(() => parseDatetime(text)).toThrow(expect.objectContaining({ code: "MM_USAGE" }));
  });

  it("takes any time of these centuries in all its forms", () => {
    const times = fc.date({
      min: new Date("1900-01-01T00:00:00Z"),
      max: new Date("2199-12-31T23:59:59Z"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(times, (time) => {
        const digits = time.toISOString().replaceAll(/\D/g, "").slice(0, 14);
        expect(parseDatetime(time.toISOString())).toBe(digits);
        expect(parseDatetime(time.toUTCString())).toBe(digits);
        expect(parseDatetime(digits)).toBe(digits);
      }),
    );
  });
});
