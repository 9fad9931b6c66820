import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatHttpDate } from "../../src/memento/datetime.ts";
import { timeMapReader, type TimeMapReaderOptions } from "../../src/memento/timemap-reader.ts";
import type { TimeMapReading } from "../../src/memento/timemap-reading.ts";

function read(
  text: string | Uint8Array,
  options: TimeMapReaderOptions = {},
  cuts: readonly number[] = [1 << 20],
): TimeMapReading {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const reader = timeMapReader(options);
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const next = at + (cuts[turn % cuts.length] ?? 1);
    // What a reader was given may be overwritten afterwards.
    const chunk = Buffer.from(bytes.subarray(at, next));
    reader.write(chunk);
    chunk.fill(0x22);
    at = next;
  }
  return reader.end();
}

function plain(reading: TimeMapReading): object {
  return { ...reading, mementos: [...reading.mementos] };
}

/** A TimeMap as the RFC shows it, folded lines and all. */
const RFC_7089 = `<http://a.example.org>;rel="original",
 <http://arxiv.example.net/timemap/http://a.example.org>
   ; rel="self";type="application/link-format"
   ; from="Tue, 20 Jun 2000 18:02:59 GMT"
   ; until="Wed, 09 Apr 2008 20:30:51 GMT",
 <http://arxiv.example.net/timegate/http://a.example.org>
   ; rel="timegate",
 <http://arxiv.example.net/web/20000620180259/http://a.example.org>
   ; rel="first memento";datetime="Tue, 20 Jun 2000 18:02:59 GMT"
   ; license="http://creativecommons.org/publicdomain/zero/1.0/",
 <http://arxiv.example.net/web/20091027204954/http://a.example.org>
    ; rel="last memento";datetime="Tue, 27 Oct 2009 20:49:54 GMT"
    ; license="http://creativecommons.org/publicdomain/zero/1.0/",
 <http://arxiv.example.net/web/20000621011731/http://a.example.org>
   ; rel="memento";datetime="Wed, 21 Jun 2000 01:17:31 GMT"
`;

const JSON_TIMEMAP = JSON.stringify({
  original_uri: 'http://a.example.org/"x"',
  self: "http://localhost:1208/timemap/json/http://a.example.org",
  mementos: {
    first: { datetime: "2000-06-20T18:02:59Z", uri: "http://a/1" },
    list: [
      { datetime: "2000-06-20T18:02:59Z", uri: "http://a/1" },
      { uri: "http://b/é\\2", extra: { list: [1, "]", {}] }, datetime: "2009-10-27T20:49:54Z" },
      { uri: "http://c/", datetime: "then" },
      "junk",
    ],
  },
  timemap_uri: { link_format: "http://localhost:1208/timemap/link/http://a.example.org" },
  timegate_uri: "http://localhost:1208/timegate/http://a.example.org",
  pages: { next: { uri: "/2", from: "2010-01-01T00:00:00Z", until: "2011-01-01T00:00:00Z" } },
});

const CDXJ = `!context ["https://oduwsdl.github.io/contexts/memento"]
!id {"uri": "http://localhost:1208/timemap/cdxj/http://a.example.org/x"}
!keys ["memento_datetime_YYYYMMDDhhmmss"]
!meta {"original_uri": "http://a.example.org/x"}
!meta {"timegate_uri": "http://localhost:1208/timegate/http://a.example.org/x"}
20000620180259 {"uri": "http://a/1", "rel": "first memento", "datetime": "Tue, 20 Jun 2000 18:02:59 GMT"}
20091027204954 {"rel": "last memento", "datetime"="Tue, 27 Oct 2009 20:49:54 GMT", "uri": "http://b/2"}\r

200910272049 {"uri": "http://short/"}
20091327204954 {"uri": "http://month/"}
`;

const PYWB_CDXJ = `com,example)/ 20130729195151 {"url": "http://test@example.com/", "mime": "warc/revisit"}
com,example)/ 20140127171200 {"url": "http://example.com", "mime": "text/html", "status": "200"}
`;

const PYWB_JSON = `{"urlkey": "com,example)/", "timestamp": "20130729195151", "url": "http://test@example.com/"}
{"urlkey": "com,example)/", "timestamp": "20140127171200", "url": "http://example.com", "status": "200"}
`;

describe("timeMapReader", () => {
  it("reads the TimeMap of RFC 7089", () => {
    expect(plain(read(RFC_7089))).toEqual({
      original: "http://a.example.org",
      timegate: "http://arxiv.example.net/timegate/http://a.example.org",
      pages: [
        {
          uri: "http://arxiv.example.net/timemap/http://a.example.org",
          rel: "self",
          type: "application/link-format",
          from: 20000620180259,
          until: 20080409203051,
        },
      ],
      mementos: [
        {
          uri: "http://arxiv.example.net/web/20000620180259/http://a.example.org",
          datetime: 20000620180259,
        },
        {
          uri: "http://arxiv.example.net/web/20091027204954/http://a.example.org",
          datetime: 20091027204954,
        },
        {
          uri: "http://arxiv.example.net/web/20000621011731/http://a.example.org",
          datetime: 20000621011731,
        },
      ],
      faults: 0,
      firstFault: undefined,
    });
    expect(read(RFC_7089).mementos.isSorted).toBe(false);
  });

  const date = 'datetime="Wed, 09 Apr 2008 20:30:51 GMT"';

  it.each([
    ["a comma and a semicolon in the URI", `<http://a/x,y;z?q=<>;rel="memento";${date}`, []],
    ["commas and semicolons", `<http://a/x,y;z>;rel="memento";${date}`, ["http://a/x,y;z"]],
    ["an escaped quote", `<a>;title="\\", <b>;rel=memento";rel="memento";${date}`, ["a"]],
    [
      "bare tokens and upper case",
      `<a>;REL=MEMENTO;DATETIME="Wed, 09 Apr 2008 20:30:51 GMT"`,
      ["a"],
    ],
    ["blanks everywhere", `\r\n , < a > ; rel = "memento" ;\n ${date} , ,`, ["a"]],
    ["no comma between", `<a>;rel=memento;${date}\n<b>;rel=memento;${date}`, ["a", "b"]],
    ["several words", `<a>;rel="prev  memento\tfirst";${date}`, ["a"]],
    ["the first of two parameters", `<a>;rel="memento";rel="x";${date}`, ["a"]],
    ["a longer word", `<a>;rel="mementos";${date}`, []],
    ["empty parameters", `<a>;;rel=memento; ;${date};`, ["a"]],
    ["a parameter without a value", `<a>;crossorigin;rel=memento;${date}`, ["a"]],
    ["junk behind a value", `<a>;rel=memento;${date} junk, <b>;rel=memento;${date}`, ["a", "b"]],
    ["the anchor of another", `<a>;anchor="http://x/";rel=memento;${date}`, ["a"]],
  ])("understands links with %s", (_name, text, uris) => {
    expect([...read(text).mementos].map(({ uri }) => uri)).toEqual(uris);
  });

  it.each([
    ["a memento without a datetime", `<a>;rel=memento`, 1, []],
    ["a memento of no time", `<a>;rel=memento;datetime="then",<b>;rel=memento;${date}`, 1, ["b"]],
    ["a link without a relation", `<a>;${date},<b>;rel=memento;${date}`, 1, ["b"]],
    ["junk before a link", `,junk, more, <b>;rel=memento;${date}`, 1, ["b"]],
    ["an unclosed target", `<a;rel=memento;${date},\n<b>;rel=memento;${date}`, 1, ["b"]],
    ["a cut-off link", `<b>;rel=memento;${date},\n<a>;rel="mem`, 1, ["b"]],
    ["a cut-off target", `<b>;rel=memento;${date},\n<http://`, 1, ["b"]],
    ["a page of HTML", "<!DOCTYPE html>\n<title>Not, found</title>", 3, []],
  ])("counts %s", (_name, text, faults, uris) => {
    const reading = read(text);
    expect(reading.faults).toBe(faults);
    expect(reading.firstFault).toEqual(expect.any(String));
    expect([...reading.mementos].map(({ uri }) => uri)).toEqual(uris);
  });

  it("reads JSON", () => {
    expect(plain(read(JSON_TIMEMAP))).toEqual({
      original: 'http://a.example.org/"x"',
      timegate: "http://localhost:1208/timegate/http://a.example.org",
      pages: [
        {
          uri: "http://localhost:1208/timemap/json/http://a.example.org",
          rel: "self",
          type: undefined,
          from: undefined,
          until: undefined,
        },
        { uri: "/2", rel: "next", type: undefined, from: 20100101000000, until: 20110101000000 },
      ],
      mementos: [
        { uri: "http://a/1", datetime: 20000620180259 },
        { uri: "http://b/é\\2", datetime: 20091027204954 },
      ],
      faults: 2,
      firstFault: '{"uri":"http://c/","datetime":"then"}',
    });
  });

  it("reads an index of TimeMaps in JSON", () => {
    const text = JSON.stringify({
      original_uri: "http://a/",
      timemap_index: [
        { from: "2000-01-01T00:00:00Z", until: "2001-01-01T00:00:00Z", uri: "http://t/1" },
        { uri: "http://t/2" },
        7,
      ],
      mementos: 5,
    });
    const { pages, faults } = read(text);
    expect(pages.map(({ uri, rel, from }) => [uri, rel, from])).toEqual([
      ["http://t/1", "timemap", 20000101000000],
      ["http://t/2", "timemap", undefined],
    ]);
    expect(faults).toBe(0);
  });

  it.each([
    "{",
    "{]",
    '{"a" 1}',
    '{"mementos": {"list": [}]}',
    '{"mementos": {"list": [{"uri": "x',
    "{{}}",
  ])("counts what is not JSON: %s", (text) => {
    expect(read(text)).toMatchObject({ faults: 1, mementos: { count: 0 } });
  });

  it("reads CDXJ, with a colon or the wrong sign", () => {
    expect(plain(read(CDXJ))).toMatchObject({
      original: "http://a.example.org/x",
      timegate: "http://localhost:1208/timegate/http://a.example.org/x",
      pages: [{ uri: "http://localhost:1208/timemap/cdxj/http://a.example.org/x", rel: "self" }],
      mementos: [
        { uri: "http://a/1", datetime: 20000620180259 },
        { uri: "http://b/2", datetime: 20091027204954 },
      ],
      faults: 2,
      firstFault: '200910272049 {"uri": "http://short/"}',
    });
  });

  it.each([
    ["CDXJ", PYWB_CDXJ],
    ["JSON", PYWB_JSON],
  ])("reads the lines of an index in %s, where it knows their replay", (_name, text) => {
    const url = "http://h/coll/timemap/cdxj/http://example.com/timemap/link/x";
    expect([...read(text, { url }).mementos]).toEqual([
      { uri: "http://h/coll/20130729195151/http://test@example.com/", datetime: 20130729195151 },
      { uri: "http://h/coll/20140127171200/http://example.com", datetime: 20140127171200 },
    ]);
    expect(read(text)).toMatchObject({ faults: 2, mementos: { count: 0 } });
  });

  it("believes the header only where the content does not tell", () => {
    const contentType = "Application/Link-Format; charset=utf-8";
    expect(read(CDXJ, { contentType }).mementos.count).toBe(2);
    expect(read(`x <y>, <a>;rel=memento;${date}`, { contentType }).mementos.count).toBe(1);
    expect(read("x", { contentType: "application/json" }).faults).toBe(1);
    expect(read("").faults).toBe(0);
    expect(read(" \n").faults).toBe(0);
  });

  it("skips a byte order mark", () => {
    for (const text of [RFC_7089, JSON_TIMEMAP, CDXJ]) {
      expect(plain(read(`\uFEFF${text}`))).toEqual(plain(read(text)));
    }
  });

  const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 });
  const long = Array.from(
    { length: 400 },
    (_, i) => `<http://h/${i}>; rel="memento"; datetime="${formatHttpDate(20080409203051)}"`,
  ).join(",\n");

  it.each([
    ["link-format", RFC_7089],
    ["long link-format", long],
    ["JSON", JSON_TIMEMAP],
    ["CDXJ", CDXJ],
    ["lines of an index", PYWB_JSON],
    ["HTML", '<!DOCTYPE html>\n<title>Not, found</title>, <, <, <a>; rel="x'],
  ])("reads %s the same however it is cut", (_name, text) => {
    const options = { url: "http://h/timemap/json/x" };
    const whole = plain(read(text, options));
    fc.assert(
      fc.property(cuts, (lengths) => {
        expect(plain(read(text, options, lengths))).toEqual(whole);
      }),
      { numRuns: 30 },
    );
  });

  it("takes any bytes, cut anywhere, and says the same of them", () => {
    const pieces = fc.constantFrom(
      ...Array.from('<>,;="\\ \n{}[]:!9'),
      "rel=memento",
      `${date},`,
      '"uri":',
      '"mementos":{"list":[',
      "<http://a>",
      "20080409203051 {",
    );
    const text = fc.array(fc.oneof(pieces, fc.string({ maxLength: 3 }))).map((all) => all.join(""));
    fc.assert(
      fc.property(text, cuts, (garbage, lengths) => {
        const whole = read(garbage);
        const { faults, mementos } = read(garbage, {}, lengths);
        expect([faults, [...mementos]]).toEqual([whole.faults, [...whole.mementos]]);
      }),
      { numRuns: 500 },
    );
  });

  it("stops at its limits", () => {
    const limit = expect.objectContaining({ code: "MM_LIMIT" }) as Error;
    expect(() => read(long, { maxMementos: 399 })).toThrow(limit);
    expect(read(long, { maxMementos: 400 }).mementos.count).toBe(400);
    const garbage = `junk ${"x".repeat(300_000)}, <a>;rel=memento;${date}`;
    const contentType = "application/link-format";
    for (const length of [1000, 1_000_000]) {
      expect(read(garbage, { contentType }, [length])).toMatchObject({
        faults: 1,
        mementos: { count: 1 },
      });
    }
    for (const begin of ["<", '{"a": "', '{"mementos": {"list": [{"uri": "', "20080409203051 {"]) {
      const endless = begin + "x".repeat(300_000);
      expect(() => read(endless, {}, [1000])).toThrow(limit);
      expect(() => read(endless, {}, [1_000_000])).toThrow(limit);
    }
    for (const whole of [
      `<${"x".repeat(70_000)}>;rel=memento;${date}\n,`,
      `{"mementos": {"list": [{"uri": "${"x".repeat(70_000)}"}]}}`,
      `{"x": "${"x".repeat(70_000)}"}`,
      `20080409203051 {"uri": "${"x".repeat(70_000)}"}\n`,
    ]) {
      for (const length of [1000, 1_000_000]) {
        expect(() => read(whole, {}, [length])).toThrow(limit);
        expect(read(whole, { maxLinkBytes: 71_000 }, [length])).toBeDefined();
      }
    }
  });

  it("takes single bytes in linear time", () => {
    const text = `<a>; title="${"x,".repeat(30_000)}"; rel=memento; ${date}`;
    expect(read(text, {}, [1]).mementos.count).toBe(1);
  });
});
