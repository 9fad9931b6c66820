import { describe, expect, it } from "vitest";
import { parseArchiveList } from "../../../src/aggregate/route/archive.ts";

const LEAST = { id: "a.example", timemap: "http://a.example/tm/", timegate: "http://a.example/" };

function parsed(...entries: readonly object[]): ReturnType<typeof parseArchiveList> {
  return parseArchiveList(JSON.stringify(entries), "archives.json");
}

describe("parseArchiveList", () => {
  it("reads the list of MemGator as it is", () => {
    const text = `[
      {"id": "a.example", "name": "A", "timemap": "https://a.example/timemap/link/",
       "timegate": "https://a.example/timegate"},
      {"id": "gone", "name": "Gone", "timemap": "http://gone.example/", "ignore": true,
       "timegate": "http://gone.example/"}
    ]`;
    expect(parseArchiveList(text, "archives.json")).toEqual([
      {
        id: "a.example",
        name: "A",
        timemap: "https://a.example/timemap/link/",
        timegate: "https://a.example/timegate/",
      },
    ]);
  });

  it("reads the members that MemGator does not know, and keeps those nobody knows", () => {
    const ours = {
      mementomap: "maps/a.ukvs",
      timeoutMs: 2000,
      from: "2001-03",
      until: 2015,
      concurrency: 4,
      rate: 0.5,
      scope: ["gov,", "pt,sapo)", "com,a:8080)/", "4,3,2,1)/a/b/", "de,xn--mnchen-3ya)/%c3%bc/"],
      colour: "blue",
    };
    expect(parsed({ ...LEAST, ...ours, probability: null })).toEqual([
      { ...LEAST, ...ours, name: "a.example", from: 20010301000000, until: 20151231235959 },
    ]);
  });

  it("puts the likeliest first, and keeps the order otherwise", () => {
    const chances = [undefined, 0.2, 0, 0.9, 0.2, undefined];
    const list = parsed(
      ...chances.map((probability, i) => ({ ...LEAST, id: String(i), probability })),
    );
    expect(list.map(({ id }) => id).join("")).toBe("314025");
  });

  it.each([
    ["{}", "not a list of archives: a JSON array of objects is expected"],
    ["[", "not a list of archives: "],
    ["[7]", "archive 1: 7 is not an object"],
    ["[{}]", 'archive 1: it has no "id"'],
  ])("refuses %s", (text, message) => {
    expect(() => parseArchiveList(text, "archives.json")).toThrow(
      expect.objectContaining({
        code: "MM_BAD_INPUT",
        message: expect.stringContaining(message),
        position: { source: "archives.json" },
      }),
    );
  });

  it.each([
    [{ id: "first" }, 'archive 2 ("first"): archive 1 has the same "id"'],
    [
      { timemap: undefined, timegate: null },
      'archive 2 ("a.example"): it has no "timemap", "timegate" or "cdx"',
    ],
    [{ timegate: 3 }, '"timegate" is 3; expected a non-empty string'],
    [{ timemap: "ftp://a.example/" }, '"timemap" is "ftp://a.example/"; expected an http'],
    [{ timemap: "http://" }, '"timemap" is "http://"; expected an http'],
    [{ probability: 1.5 }, '"probability" is 1.5; expected a number, 0 to 1'],
    [{ probability: "0.5" }, '"probability" is "0.5"; expected a number'],
    [{ timeoutMs: 0 }, '"timeoutMs" is 0'],
    [{ concurrency: 1.5 }, '"concurrency" is 1.5'],
    [{ rate: -1 }, '"rate" is -1'],
    [{ scope: "gov," }, '"scope" has "gov,"; expected a list of prefixes of keys'],
    [{ scope: ["pt,", 1] }, '"scope" has 1; expected a list of prefixes'],
    [{ scope: ["http://x.gov/"] }, '"scope" has "http://x.gov/"; expected a list'],
    [{ scope: ["http://(gov,"] }, '"scope" has "http://(gov,"; expected a list'],
    [{ scope: ["GOV,"] }, '"scope" has "GOV,"; expected a list of prefixes of keys, in lower case'],
    [{ scope: ["gov"] }, '"scope" has "gov"; expected a list'],
    [{ scope: ["gov,*"] }, '"scope" has "gov,*"; expected a list'],
    [{ scope: ["com,a)/News/"] }, '"scope" has "com,a)/News/"; expected a list'],
    [{ scope: ["com,a)/news"] }, '"scope" has "com,a)/news"; expected a list'],
    [{ scope: [""] }, '"scope" has ""; expected a list'],
    [{ from: "201413" }, '"from" is "201413"; expected a time'],
    [{ until: "soon" }, '"until" is "soon"; expected a time'],
  ])("names the entry and what is wrong: %j", (members, message) => {
    expect(() => parsed({ ...LEAST, id: "first" }, { ...LEAST, ...members })).toThrow(message);
  });

  it.each([
    ["true", 0],
    [true, 0],
    ["false", 1],
    [null, 1],
  ])('leaves entries out with "ignore": %j', (ignore, count) => {
    expect(parsed({ ...LEAST, ignore })).toHaveLength(count);
  });

  it.each(["yes", 1])('refuses "ignore": %j', (ignore) => {
    expect(() => parsed({ ...LEAST, ignore })).toThrow(
      `"ignore" is ${JSON.stringify(ignore)}; expected true or false`,
    );
  });
});
