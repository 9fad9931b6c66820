import { describe, expect, it } from "vitest";
import { detectFormat } from "../../src/input/detect.ts";
import { type InputFormat, lineReader } from "../../src/input/formats.ts";
import { parsedRow } from "./parsed-row.ts";

function detect(text: string, wanted: InputFormat = "auto"): string {
  return detectFormat(Buffer.from(text), wanted, "index").name;
}

function outcomeOf(run: () => string): string {
  try {
    return run();
  } catch (error) {
    return String(error);
  }
}

describe("detectFormat", () => {
  it.each([
    [" CDX N b a m s k r M S V g\ncom,a)/ 2014 x y z\n", "cdx"],
    ["com,a)/ 20140101000000 http://a.com/ text/html 200 S - - 1 2 f\n", "cdx"],
    ["http://a.com/ 1.2.3.4 20140101000000 text/html 485 f.arc 12\n", "cdx"],
    ["com,a)/ 20140101000000 {}\n", "cdxj"],
    ['!meta 0 {"format": "x"}\n\ncom,a)/ 2014 {}\n', "cdxj"],
    ["com,a)/ 20140101000000123\t{", "cdxj"],
    ["com,a)/\n", "surts"],
    ["com,a)\n", "surts"],
    ["com,a,)/b\n", "surts"],
    ["http://(com,a,)/b\n", "surts"],
    ["http://a.com/(x,y)\n", "urls"],
    ["com,a)/b\thttp://a.com/b\n", "surts"],
    ["http://a.com/\n", "urls"],
    ["HTTPS://a.com/(x)/\n", "urls"],
    ["a.com/b?c\r\n", "urls"],
    ["a.com:8080\n", "urls"],
    ["a.com/x)/y", "urls"],
    ["", "cdxj"],
    ["\n\r\n", "cdxj"],
    ["!meta {}\n", "cdxj"],
    [`${"!meta {}\n".repeat(500)}com,a)/ 2014 {}\n`, "cdxj"],
    ["\uFEFF CDX N b a\ncom,a)/ 2014 x\n", "cdx"],
    ["\uFEFFcom,a)/ 20140101000000 {}\n", "cdxj"],
    ["\uFEFFhttp://a.com/\n", "urls"],
  ])("takes %j for %s", (text, expected) => {
    expect(detect(text)).toBe(expected);
  });

  it.each(["cdx", "cdxj", "urls", "surts", "log"] as const)(
    "takes the user's word: %s",
    (wanted) => {
      const line = "com,a)/ 20140101000000 http://a.com/ text/html 200 S - - 1 2 f\n";
      expect(detect(line, wanted)).toBe(wanted);
    },
  );

  it.each([
    ["warc", "warc"],
    ["arc", "arc"],
    ["timemap", "timemap"],
    ["memgator-log", "memgator-log"],
    ["json", "json"],
  ] as const)("takes the user's word for what is in %s", (wanted, name) => {
    const head = new TextEncoder().encode("com,a)/ 20140101000000 http://a.com/\n");
    expect(detectFormat(head, wanted, "test")).toMatchObject({ name });
  });

  it.each([
    ["filedesc://x.arc 0.0.0.0 20060101000000 text/plain 9\n1 0 x\nURL …\n\n", "arc"],
    ["filedesc://x.arc 0.0.0.0 20060101000000 text/plain 75", "arc"],
    ["filedesc://x.arc 0.0.0.0 20060101000000 text/plain 75 x.arc 0\nhttp://a.com/", "cdx"],
    ["filedesc://x.arc 20060101000000 {}\ncom,a)/ 20060101000000 {}\n", "cdxj"],
    ["WARC/1.0\r\n", "warc"],
  ])("tells files of records from indexes of them: %j", (text, name) => {
    expect(detect(text)).toBe(name);
  });

  it.each([
    [
      "not an index at all\n",
      "auto",
      'index:1: unknown format: "not an index at all"; specify one with --format',
    ],
    ["\n!x\nwhat?\n", "auto", 'index:3: unknown format: "what?"; specify one with --format'],
    ["com,a)/\n", "cdx", 'index:1: not a line of CDX: "com,a)/"'],
    [
      "com,a)/ 20150101000000 {a b c d e f g h}\n",
      "cdx",
      'index:1: not a line of CDX: "com,a)/ 20150101000000 {a b c d e f g h}"',
    ],
    [
      "\n CDX b k r V g\n",
      "auto",
      'index:2: the header names no column of keys (N, A) or URIs (a): " CDX b k r V g"',
    ],
  ] as const)("names the line that fits no format: %j", (text, wanted, message) => {
    expect(() => detect(text, wanted)).toThrow(
      expect.objectContaining({
        code: "MM_BAD_INPUT",
        message: message.replace(/^index:\d: /, ""),
      }),
    );
    expect(() => detect(text, wanted)).toThrow(
      expect.objectContaining({ position: { source: "index", line: Number(message.slice(6, 7)) } }),
    );
  });

  it.each(["PK\u0003\u0004", "PAR1", "com,a)/\n\0", "\u007fELF\u0002\u0001"])(
    "refuses binary data: %j",
    (text) => {
      expect(() => detect(text)).toThrow(
        expect.objectContaining({ code: "MM_BAD_INPUT", position: { source: "index" } }),
      );
    },
  );

  it.each(["\0", "\u0001"])("takes text with one %j for text", (control) => {
    const row = (path: string): string =>
      `com,a)/${path} 20140101000000 http://a.com/${path} text/html 200 S - - 1 2 f\n`;
    const text = [row("a"), row(`b${control}b`), ...Array.from({ length: 20 }, () => row("c"))];
    expect(detect(text.join(""))).toBe("cdx");
  });

  it("leads to the reader of the format", () => {
    for (const text of [
      "com,a)/ 20140101000000 http://a.com/ text/html 200 S - - 1 2 f",
      "com,a)/ 20140101000000 {}",
      "com,a)/",
      "http://a.com/",
    ]) {
      const format = detectFormat(Buffer.from(text), "auto", "index");
      expect(parsedRow(lineReader(format), text)).toMatch(/^capture /);
    }
  });

  it.each(["a a [", "http://(,,,", "a.", "<"])("takes no long for a line of many %j", (part) => {
    const text = `${part}${part.slice(-1).repeat(200_000)}`;
    // The time that it may take is that of a test.
    expect([text.length > 200_000, typeof outcomeOf(() => detect(text))]).toEqual([true, "string"]);
  });
});
