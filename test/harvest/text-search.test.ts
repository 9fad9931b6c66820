import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_LINE_BYTES } from "../../src/bytes/lines.ts";
import { foundLine, parseSearchAnswer, searchUrl } from "../../src/harvest/sample-search.ts";

const ITEM = {
  title: "O mar",
  snippet: "<em>mar</em> &amp; <b class='x'>sol</b>",
  originalURL: "http://a.pt/x",
  tstamp: "20080101000000",
  mimeType: "text/html",
  statusCode: 200,
};

function answer(...items: unknown[]): string {
  return JSON.stringify({ response_items: items });
}

describe("searchUrl", () => {
  it("asks for any word, and keeps what the address says", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (word) => {
        const url = new URL(searchUrl("https://a.pt/search?lang=pt", { word, maxItems: 9 }));
        expect(url.searchParams.get("q")).toBe(word);
        expect([...url.searchParams.keys()]).toEqual(["lang", "q", "maxItems"]);
      }),
    );
  });

  it("passes dates on", () => {
    const search = { word: "mar", maxItems: 9, from: "2008", to: "2009" };
    expect(searchUrl("https://a.pt/search", search)).toBe(
      "https://a.pt/search?q=mar&maxItems=9&from=2008&to=2009",
    );
  });

  it("says that an address is none", () => {
    expect(() => searchUrl("nowhere", { word: "mar", maxItems: 9 })).toThrow(
      expect.objectContaining({ code: "MM_USAGE" }),
    );
  });
});

describe("parseSearchAnswer", () => {
  it("finds captures, and the text about them without marks", () => {
    const { captures, leftOut } = parseSearchAnswer(answer(ITEM), "test");
    expect(leftOut).toBe(0);
    expect(captures).toEqual([
      {
        uri: "http://a.pt/x",
        date: "20080101000000",
        mime: "text/html",
        status: "200",
        text: expect.stringMatching(/^O mar +mar +sol +$/) as string,
      },
    ]);
  });

  it.each([
    [{ ...ITEM, originalURL: undefined }],
    [{ ...ITEM, originalURL: " \n" }],
    [{ ...ITEM, originalURL: ["http://a.pt/"] }],
    [{ ...ITEM, originalURL: `http://a.pt/${"x".repeat(16_400)}` }],
    [{ ...ITEM, tstamp: "2008" }],
    [{ ...ITEM, tstamp: null }],
    [null],
    ["http://a.pt/"],
    [[ITEM]],
  ])("leaves out what is of no use, and counts it", (item) => {
    const { captures, leftOut } = parseSearchAnswer(answer(item, ITEM), "test");
    expect([captures.length, leftOut]).toEqual([1, 1]);
  });

  it.each(["", "<html>", "[]", "null", '{"response_items": {}}', '{"response_items": [', "7"])(
    "refuses %j",
    (text) => {
      expect(() => parseSearchAnswer(text, "test")).toThrow(
        expect.objectContaining({ code: "MM_BAD_INPUT", position: { source: "test" } }),
      );
    },
  );

  it("takes anything that has items, and makes lines of it that can be read", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue());
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text, text)), (rows) => {
        const all = rows.map(([originalURL, mimeType, statusCode]) => ({
          ...ITEM,
          originalURL,
          mimeType,
          statusCode,
        }));
        const { captures, leftOut } = parseSearchAnswer(answer(...all), "test");
        expect(captures.length + leftOut).toBe(rows.length);
        for (const capture of captures) expect(foundLine(capture)).toMatch(LINE);
      }),
    );
  });

  it("makes no line that is too long", () => {
    const long = "\u0001\uffff".repeat(50_000);
    const uri = `http://a.pt/${"\uffff".repeat(16_000)}`;
    const item = { ...ITEM, originalURL: uri, mimeType: long, statusCode: long, title: long };
    const [capture] = parseSearchAnswer(answer(item), "test").captures;
    expect(new TextEncoder().encode(foundLine(capture)).length).toBeLessThan(MAX_LINE_BYTES);
    expect(capture.text.length).toBeLessThan(40_000);
  });
});

/** A key without blanks, a date and an object, all in one line. */
const LINE = /^\S+ \d{14} \{"url":[^\n\r]*\}$/;
