import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CdxReader, guessCdxColumns, parseCdxHeader } from "../../src/input/cdx.ts";
import { CdxjReader } from "../../src/input/cdxj.ts";
import { SurtListReader, UriListReader } from "../../src/input/line-formats.ts";
import { parsedRow } from "./parsed-row.ts";

function cdx(header: string): CdxReader {
  const columns = parseCdxHeader(header);
  if (columns === undefined) throw new TypeError("not a header");
  return new CdxReader(columns);
}

const CDX11 = " CDX N b a m s k r M S V g";

describe("CdxReader", () => {
  it.each([
    [
      "CDX 11",
      CDX11,
      "com,a)/ 20140101000000 http://a.com/ text/html 200 SHA - - 1 2 f.warc.gz",
      "capture key=com,a)/ uri=http://a.com/ date=20140101000000 status=200 mime=text/html",
    ],
    [
      "two columns only",
      " CDX N b",
      "no,vg)/x 20070905173549",
      "capture key=no,vg)/x date=20070905173549",
    ],
    [
      "Wget's order, with the URI first and no SURT",
      " CDX a b a m s k r M V g u",
      "http://a.com/ 20140101000000 http://a.com/ text/html 200 S - - 0 f u",
      "capture uri=http://a.com/ date=20140101000000 status=200 mime=text/html",
    ],
    [
      "tabs, as the header says by its first byte",
      "\tCDX\tN\tb\ta",
      "com,a)/b c\t2014\thttp://a.com/b c",
      "capture key=com,a)/b c uri=http://a.com/b c date=2014",
    ],
    [
      "a key that is not a SURT: by its URI",
      CDX11,
      "a.com/x 20140101000000 http://A.com/x text/html 200 S - - 1 2 f",
      "capture key=a.com/x uri=http://A.com/x date=20140101000000 status=200 mime=text/html",
    ],
    [
      "a host that is named like a scheme",
      " CDX N b",
      "dns:80)/ 2014",
      "capture key=dns:80)/ date=2014",
    ],
    [
      "a key behind the other columns, for a row without a URI",
      " CDX a b m s N",
      "- 2014 text/html 200 com,a)/x",
      "capture key=com,a)/x date=2014 status=200 mime=text/html",
    ],
    [
      "a key that is not a SURT and no URI column: the key is the URI",
      " CDX N b",
      "a.com/x 2014",
      "capture uri=a.com/x date=2014",
    ],
    ["a header in between", CDX11, CDX11, "header"],
    ["a header of as many columns as are needed", CDX11, " CDX N b a m s", "header"],
    ["blanks only", CDX11, "   ", "header"],
    ["a header with a column that is not looked at", " CDX N b", CDX11, "header"],
    [
      "a header that changes the columns",
      CDX11,
      " CDX a b m s N",
      "bad: this header changes the columns; split the file here",
    ],
    [
      "a row that begins with a blank",
      CDX11,
      " com,a)/ 2014 http://a.com/ text/html 200 S - - 1 2 f",
      "bad: expected a key, not the delimiter",
    ],
    ["dns:", CDX11, "dns:a.com 2014 dns:a.com text/dns - S - - 1 2 f", "nonWeb"],
    [
      "a SURT of metadata:",
      CDX11,
      "metadata)/a 2014 metadata://a text/plain - S - - 1 2 f",
      "nonWeb",
    ],
    ["filedesc:", CDX11, "- 2014 filedesc://x.arc x - S - - 0 f", "nonWeb"],
    ["neither key nor URI", CDX11, "- 2014 - warc/warcinfo - - - - 0 f", "nonWeb"],
    ["too few columns", CDX11, "com,a)/ 2014 http://a.com/", "bad: expected at least 5 columns"],
    [
      "no datetime",
      CDX11,
      "com,a)/ - http://a.com/ text/html 200 S - - 1 2 f",
      "bad: expected a datetime of 4 to 17 digits",
    ],
    [
      "a datetime too long",
      CDX11,
      "com,a)/ 201401010000001234 http://a.com/ text/html 200 S",
      "bad: expected a datetime of 4 to 17 digits",
    ],
  ])("reads %s", (_, header, line, expected) => {
    expect(parsedRow(cdx(header), line)).toBe(expected);
  });
});

describe("CDX columns", () => {
  it.each([
    [" CDX N b a m s k r M S V g", { delimiter: 32, key: 0, date: 1, uri: 2, mime: 3, status: 4 }],
    [" CDX A b a\r", { delimiter: 32, key: 0, date: 1, uri: 2, mime: -1, status: -1 }],
    [" CDX a e b m", { delimiter: 32, key: -1, date: 2, uri: 0, mime: 3, status: -1 }],
    ["|CDX|b|N", { delimiter: 124, key: 1, date: 0, uri: -1, mime: -1, status: -1 }],
    ["CDX N b", undefined],
    [" CDXJ N b", undefined],
    ["", undefined],
  ])("of the header %j", (line, expected) => {
    expect(parseCdxHeader(line)).toEqual(expected);
  });

  it.each([
    ["com,a)/ 20140101000000 http://a.com/ text/html 200 S 12", 0],
    ["http://a.com/ 1.2.3.4 20140101000000 text/html 485 f.arc 12", -1],
    ["com,a)/ 2014 http://a.com/ text/html 200 S 12", undefined],
    ["com,a)/ 20140101000000 http://a.com/", undefined],
  ])("guessed from %j", (line, key) => {
    expect(guessCdxColumns(line)?.key).toBe(key);
  });
});

describe("CdxjReader", () => {
  const line = (json: string, key: string = "com,a)/", date: string = "20140101000000"): string =>
    `${key} ${date} ${json}`;

  it.each([
    ["pywb", '{"url": "http://a.com/", "mime": "text/html", "status": "200"}'],
    ["Internet Archive", '{"original":"http://a.com/","mimetype":"text/html","statuscode":"200"}'],
    ["IPWB", '{"mime_type": "text/html", "status_code": "200", "original_uri": "http://a.com/"}'],
    ["WACZ, with numbers", '{"url":"http://a.com/","mime":"text/html","status":200,"length":12}'],
  ])("finds what a filter needs in the names of %s", (_, json) => {
    expect(parsedRow(new CdxjReader(), line(json))).toBe(
      "capture key=com,a)/ uri=http://a.com/ date=20140101000000 status=200 mime=text/html",
    );
  });

  it.each([
    ["{broken", "the JSON block is malformed"],
    // The last line of a file that was cut.
    [
      '{"url": "http://a.com/", "mime": "a/b", "status": "200", "le',
      "the JSON block is not closed",
    ],
    ['{"url": "http://a.com/", "sta', "the JSON block is malformed"],
  ])("rejects %s", (json, fault) => {
    expect(parsedRow(new CdxjReader(), line(json))).toBe(`bad: ${fault}`);
  });

  it("says the same of a line whatever lines came before it", () => {
    const values = fc.constantFrom(
      '"http://a.com/"',
      '"a\\/b\\"c"',
      '"x\\\\"',
      "200",
      "-",
      "null",
      "{}",
      '"',
      '"-"',
    );
    const name = fc.constantFrom("url", "mime", "status", "original", "x", "uid");
    const block = fc
      .array(fc.tuple(name, values, fc.constantFrom(", ", ",")), { maxLength: 5 })
      .map((members) => members.map(([key, value, end]) => `"${key}": ${value}${end}`).join(""))
      .chain((text) => fc.constantFrom(`{${text}"y": 1}`, `{${text.slice(0, -2)}}`, `{${text}`));
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 12 }), (blocks) => {
        const reader = new CdxjReader();
        for (const json of blocks) parsedRow(reader, line(json));
        for (const json of blocks) {
          expect(parsedRow(reader, line(json))).toEqual(parsedRow(new CdxjReader(), line(json)));
        }
      }),
    );
  });

  it("takes the URI, and the key column where there is none", () => {
    const reader = new CdxjReader();
    expect(parsedRow(reader, line('{"uid": "urn:x:1", "url": "http://a.com/b"}'))).toBe(
      "capture key=com,a)/ uri=http://a.com/b date=20140101000000",
    );
    expect(parsedRow(reader, line('{"digest": "A", "url": "metadata://a.com/"}'))).toBe("nonWeb");
    expect(parsedRow(reader, line("{}", "dns:8080)/a"))).toBe(
      "capture key=dns:8080)/a date=20140101000000",
    );
    expect(parsedRow(reader, line("{}", "a.com/b?x)"))).toBe(
      "capture uri=a.com/b?x) date=20140101000000",
    );
  });

  it.each([
    ["!meta {}", "header"],
    ['@context ["x"]', "header"],
    ["dns:a.com 2014 {}", "nonWeb"],
    ["warcinfo:/x 2014 {}", "nonWeb"],
    ["@com,b)/y 2014 {}", "capture key=@com,b)/y date=2014"],
    ["com,a)/\t2014\t{}", "capture key=com,a)/ date=2014"],
    ["com,a)/", "bad: expected a key, a blank and a datetime"],
    [" 2014 {}", "bad: expected a key, a blank and a datetime"],
    ["com,a)/ ", "bad: expected a datetime of 4 to 17 digits after the key"],
    ["com,a)/ 201 {}", "bad: expected a datetime of 4 to 17 digits after the key"],
    ["com,a)/ 2014x {}", "bad: expected a datetime of 4 to 17 digits after the key"],
    ["com,a)/ 2014", "bad: expected a JSON block after the datetime"],
    ["com,a)/ 2014 x", "bad: expected a JSON block after the datetime"],
  ])("reads %j", (text, expected) => {
    expect(parsedRow(new CdxjReader(), text)).toBe(expected);
  });
});

describe("lists", () => {
  it.each([
    ["com,a)/b?x", "capture key=com,a)/b?x"],
    ["com,a)/b\tanything", "capture key=com,a)/b"],
    ["localhost)/", "capture key=localhost)/"],
    ["!meta x", "header"],
    ["dns:a.com", "nonWeb"],
    ["http://a.com/", 'bad: expected a SURT such as "com,example)/path"'],
  ])("a SURT: %j", (text, expected) => {
    expect(parsedRow(new SurtListReader(), text)).toBe(expected);
  });

  it.each([
    ["http://a.com/b c", "capture uri=http://a.com/b c"],
    ["  a.com \t", "capture uri=a.com"],
    ["   ", "header"],
    ["whois://a.com", "nonWeb"],
    ["urn:pageinfo:http://a.com/x)/y", "nonWeb"],
  ])("a URI: %j", (text, expected) => {
    expect(parsedRow(new UriListReader(), text)).toBe(expected);
  });
});
