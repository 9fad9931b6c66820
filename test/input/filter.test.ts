import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Capture } from "../../src/input/capture.ts";
import type { CaptureFilter } from "../../src/input/filter.ts";
import { CaptureSieve, joinFilters, PAPER_PRESET } from "../../src/input/filter.ts";

interface Row {
  readonly date?: string;
  readonly status?: string;
  readonly mime?: string;
  readonly uri?: string;
  readonly key: string;
  readonly hasEscapes?: boolean;
}

function reasonFor(filter: CaptureFilter, row: Row): string | undefined {
  const { date = "", status = "", mime = "", uri = "", key } = row;
  const bytes = Buffer.from([date, status, mime, uri, key].join(" "), "latin1");
  const capture = new Capture();
  let at = 0;
  const range = (text: string, isThere: boolean): [number, number] => {
    const start = at;
    at += text.length + 1;
    return isThere ? [start, start + text.length] : [-1, -1];
  };
  [capture.dateStart, capture.dateEnd] = range(date, row.date !== undefined);
  [capture.statusStart, capture.statusEnd] = range(status, row.status !== undefined);
  [capture.mimeStart, capture.mimeEnd] = range(mime, row.mime !== undefined);
  [capture.uriStart, capture.uriEnd] = range(uri, row.uri !== undefined);
  [capture.keyStart, capture.keyEnd] = range(key, true);
  capture.hasEscapes = row.hasEscapes ?? false;
  return new CaptureSieve(filter).reject(bytes, capture);
}

/** The filter once more, over first and last seconds and plain comparisons. */
function naiveReason(filter: CaptureFilter, row: Row): string | undefined {
  const { date, status = "", mime = "" } = row;
  const [from = "0", to = "9"] = [filter.from, filter.to];
  if (filter.from !== undefined || filter.to !== undefined) {
    if (date === undefined) return "date";
    if (date.padEnd(17, "9") < from.padEnd(17, "0")) return "date";
    if (date.padEnd(17, "0") > to.padEnd(17, "9")) return "date";
  }
  const hasStatus = (code: string): boolean =>
    code.endsWith("xx") ? /^\d\d\d$/.test(status) && status[0] === code[0] : status === code;
  if (filter.status !== undefined && !filter.status.some(hasStatus)) return "status";
  const [type = ""] = mime.toLowerCase().split(/[; ]/);
  const hasType = (wanted: string): boolean =>
    wanted.endsWith("/*") ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
  if (filter.mime !== undefined && !filter.mime.some(hasType)) return "mime";
  const text = row.uri ?? row.key;
  return (filter.exclude ?? []).some((part) => text.toLowerCase().includes(part))
    ? "exclude"
    : undefined;
}

const dates = fc.constantFrom(
  "2012",
  "201206",
  "20120601",
  "20120630235959",
  "20121231235959",
  "2013",
  "20130101000000",
  "20120615120000123",
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });
const row = fc.record(
  {
    date: dates,
    status: fc.constantFrom("200", "204", "301", "404", "-", "2000", "20"),
    mime: fc.constantFrom(
      "text/html",
      "TEXT/HTML; charset=x",
      "text/html5",
      "image/png",
      "image/gif",
      "warc/revisit",
      "-",
    ),
    uri: fc.constantFrom("http://a.com/robots.txt", "http://a.com/", "http://A.com/Admin/x"),
    key: fc.constantFrom("com,a)/", "com,a)/admin", "com,a)/robots.txt"),
  },
  { requiredKeys: ["key"] },
);
const filter = fc.record({
  from: maybe(dates.filter((date) => date.length <= 14)),
  to: maybe(dates.filter((date) => date.length <= 14)),
  status: maybe(fc.subarray(["200", "2xx", "404", "3xx", "-"], { minLength: 1 })),
  mime: maybe(fc.subarray(["text/html", "image/*", "warc/revisit"], { minLength: 1 })),
  exclude: maybe(fc.subarray(["admin", "robots"])),
});

describe("CaptureSieve", () => {
  it("leaves out what a naive filter leaves out, for the same reason", () => {
    fc.assert(
      fc.property(filter, row, (wanted, capture) => {
        expect(reasonFor(wanted, capture as Row)).toBe(naiveReason(wanted, capture as Row));
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    [{ from: "2012" }, "20120101000000", undefined],
    [{ from: "2012" }, "20111231235959", "date"],
    [{ to: "2012" }, "20121231235959", undefined],
    [{ to: "2012" }, "20130101000000", "date"],
    [{ from: "201206", to: "201206" }, "20120615120000", undefined],
    [{ from: "201206", to: "201206" }, "20120701000000", "date"],
  ] as const)("%j, captured %s: %s", (wanted, date, reason) => {
    expect(reasonFor(wanted, { date, key: "com,a)/" })).toBe(reason);
  });

  it("leaves out a capture without a date when dates are asked for", () => {
    expect(reasonFor({ from: "2012" }, { key: "com,a)/" })).toBe("date");
    expect(reasonFor({ to: "2012" }, { key: "com,a)/" })).toBe("date");
  });

  it("sees through the escapes of JSON", () => {
    const escaped = { mime: "text\\/html", uri: "http:\\/\\/a.com\\/robots.txt", hasEscapes: true };
    expect(reasonFor({ mime: ["text/html"] }, { ...escaped, key: "com,a)/" })).toBe(undefined);
    expect(reasonFor(PAPER_PRESET, { ...escaped, status: "200", key: "com,a)/" })).toBe("exclude");
  });

  it.each([
    [{ from: "20" }, 'not a date of 4 to 14 digits: "20"'],
    [{ to: "2012-01" }, 'not a date of 4 to 14 digits: "2012-01"'],
    [{ status: ["2000"] }, 'not a status such as 200 or 2xx: "2000"'],
    [{ status: ["ok"] }, 'not a status such as 200 or 2xx: "ok"'],
    [{ exclude: ["("] }, 'not a regular expression: "("'],
  ])("refuses %j", (wanted, message) => {
    expect(() => new CaptureSieve(wanted)).toThrow(
      expect.objectContaining({ code: "MM_USAGE", message }),
    );
  });
});

describe("the paper's preset", () => {
  const page = { date: "2012", status: "200", mime: "text/html", key: "com,a)/" };

  it.each([
    ["http://a.com/", undefined],
    ["http://a.com/robots.txt", "exclude"],
    ["http://a.com/ROBOTS.TXT?x", "exclude"],
    ["http://a.com/b/sitemap.xml#y", "exclude"],
    ["http://a.com/robots.txt.html", undefined],
    ["http://a.com/my-robots.txt", undefined],
  ])("%s: %s", (uri, reason) => {
    expect(reasonFor(PAPER_PRESET, { ...page, uri })).toBe(reason);
  });

  it("leaves out other status codes and types", () => {
    expect(reasonFor(PAPER_PRESET, { ...page, status: "404" })).toBe("status");
    expect(reasonFor(PAPER_PRESET, { ...page, mime: "warc/revisit" })).toBe("mime");
  });
});

describe("filters", () => {
  it("join: the second decides where it says something, exclusions add up", () => {
    expect(joinFilters(PAPER_PRESET, { status: ["301"], from: "2012", exclude: ["x"] })).toEqual({
      status: ["301"],
      mime: ["text/html"],
      from: "2012",
      to: undefined,
      exclude: [...(PAPER_PRESET.exclude ?? []), "x"],
    });
  });
});
