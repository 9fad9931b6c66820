import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";

import {
  DEFAULT_FIELDS,
  formatHeader,
  formatHeaders,
  parseHeader,
  UkvsHeaders,
  type Header,
} from "../../src/ukvs/header.ts";

const badHeader = expect.objectContaining({ code: "MM_BAD_HEADER" });

function headersOf(...lines: string[]): UkvsHeaders {
  return new UkvsHeaders(lines.map(parseHeader));
}

/** With what ends a line elsewhere: U+2028 needs no escape in JSON. */
const anyJson = fc.jsonValue({
  stringUnit: fc.oneof(
    fc.constantFrom("\u2028", "\u2029", "\r", "\u0085"),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
});

describe("parseHeader", () => {
  it.each<[string, Header]>([
    ['!id {"uri":"https://a.example/"}', { name: "id", value: { uri: "https://a.example/" } }],
    ['!id      {uri: "https://a.example/"}', { name: "id", value: { uri: "https://a.example/" } }],
    ["@id\t{uri: 'a'}  ", { name: "id", value: { uri: "a" } }],
    ['!meta 0 {"format": "x"}', { name: "meta", value: { format: "x" } }],
    ['!keys ["surt"]', { name: "keys", value: ["surt"] }],
    ["!version 1", { name: "version", value: 1 }],
    ['!note "two words"', { name: "note", value: "two words" }],
    ['!x-y {"a": [1, {"b": null}]}', { name: "x-y", value: { a: [1, { b: null }] } }],
  ])("reads %s", (line, expected) => {
    expect(parseHeader(line)).toEqual(expected);
  });

  it.each(["!", "! {}", "!meta", "!meta ", "!meta {", "!note two words", "meta {}", "!!meta {}"])(
    "refuses %j",
    (line) => {
      expect(() => parseHeader(line)).toThrow(badHeader);
    },
  );

  it("keeps a member named __proto__ a member", () => {
    for (const json of ['{"__proto__": {"polluted": 1}}', "{__proto__: {polluted: 1}}"]) {
      const headers = headersOf(`!meta ${json}`, '!meta {"a":1}');
      expect(Object.keys(headers.meta)).toEqual(["__proto__", "a"]);
      expect(headers.meta["polluted"]).toBeUndefined();
      expect(formatHeaders(headers)).toContain('!meta {"__proto__":{"polluted":1}}');
    }
    expect({}).not.toHaveProperty("polluted");
  });
});

describe("parseHeader, of numbers and line separators", () => {
  it.each(["1e999", "-1e400", "9".repeat(310), "Infinity", "[NaN]"])(
    "refuses %s, which no header could be written with",
    (number) => {
      expect(() => parseHeader(`!meta {"a": ${number}}`)).toThrow(/!meta/);
    },
  );

  it("reads a line separator in relaxed JSON, and prints no warning", () => {
    const warn = vi.spyOn(console, "warn");
    expect(parseHeader("!meta {a: 'b\u2028c\u2029'}").value).toEqual({ a: "b\u2028c\u2029" });
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });
});

describe("formatHeader", () => {
  it("writes what parseHeader reads back", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][a-z-]{0,8}$/), anyJson, (name, json) => {
        // JSON has no minus zero.
        const value: unknown = JSON.parse(JSON.stringify(json));
        const line = formatHeader({ name, value });
        expect(line).not.toMatch(/[\n\u007f]/);
        expect(parseHeader(line)).toEqual({ name, value });
      }),
    );
  });

  it.each(["", "a b", "!a"])("refuses the name %j", (name) => {
    expect(() => formatHeader({ name, value: 1 })).toThrow(badHeader);
  });

  it.each([Number.NaN, undefined, { a: Number.POSITIVE_INFINITY }, 1n])(
    "refuses the value %s, which JSON cannot express",
    (value) => {
      expect(() => formatHeader({ name: "a", value })).toThrow(
        expect.objectContaining({ code: "MM_BAD_INPUT" }),
      );
    },
  );
});

describe("UkvsHeaders", () => {
  const figure2 = [
    '!context ["https://git.io/mementomap"]',
    '!id      {uri: "https://archive.example.org/"}',
    '!fields  {keys: ["surt"], values: ["frequency"]}',
    '!meta    {name: "Example Archive", year: 1996}',
    '!meta    {type: "MementoMap"}',
    '!meta    {updated_at: "2018-09-03T13:27:52Z"}',
  ];

  it("reads the headers of the paper's figure 2", () => {
    const headers = headersOf(...figure2);
    expect(headers.context).toEqual(["https://git.io/mementomap"]);
    expect(headers.id).toBe("https://archive.example.org/");
    expect(headers.fields).toEqual({ keys: ["surt"], values: ["frequency"] });
    expect(headers.meta).toEqual({
      name: "Example Archive",
      year: 1996,
      type: "MementoMap",
      updated_at: "2018-09-03T13:27:52Z",
    });
  });

  it("writes strict JSON, in byte order", () => {
    const headers = headersOf(...figure2);
    const given = [
      '!context ["https://git.io/mementomap"]',
      '!id {"uri":"https://archive.example.org/"}',
      '!fields {"keys":["surt"],"values":["frequency"]}',
      '!meta {"name":"Example Archive","year":1996}',
      '!meta {"type":"MementoMap"}',
      '!meta {"updated_at":"2018-09-03T13:27:52Z"}',
    ];
    expect(formatHeaders(headers)).toEqual([given[0], given[2], given[1], ...given.slice(3)]);
  });

  it("sorts by bytes, not by UTF-16 units", () => {
    const lines = formatHeaders(headersOf('!a "\u{10000}"', '!a "\uFFFD"'));
    expect(lines).toEqual(['!a "\uFFFD"', '!a "\u{10000}"']);
  });

  it("has defaults where nothing is said", () => {
    const headers = new UkvsHeaders();
    expect(headers.fields).toEqual(DEFAULT_FIELDS);
    expect(headers.meta).toEqual({});
    expect(headers.id).toBeUndefined();
    expect(headers.context).toEqual([]);
    expect(formatHeaders(headers)).toEqual([]);
  });

  it("reads the older !keys, and writes !fields", () => {
    const profile = headersOf('@keys ["surt", "datetime"]');
    expect(profile.fields).toEqual({ keys: ["surt", "datetime"], values: ["frequency"] });
    expect(formatHeaders(profile)).toEqual([
      '!fields {"keys":["surt","datetime"],"values":["frequency"]}',
    ]);
    const timeMap = headersOf('!keys ["memento_datetime_YYYYMMDDhhmmss"]');
    expect(timeMap.fields.values).toEqual([]);
  });

  it("prefers !fields to !keys", () => {
    const headers = headersOf('!keys ["a"]', '!fields {"keys":["b"],"note":1}');
    expect(headers.fields).toEqual({ keys: ["b"], values: [] });
    expect(formatHeaders(headers)).toEqual(['!fields {"keys":["b"],"note":1}']);
  });

  it("keeps headers and members it does not know", () => {
    const lines = ['!acl {"x":[1]}', '!fields {"keys":["a"],"more":true,"values":["b"]}'];
    expect(formatHeaders(headersOf(...lines))).toEqual(lines);
  });

  it("lets later meta members hold, and adds headers without changing the old ones", () => {
    const headers = headersOf('!meta {"a":1,"b":1}');
    const more = headers.with({ name: "meta", value: { b: 2 } });
    expect(more.meta).toEqual({ a: 1, b: 2 });
    expect(headers.meta).toEqual({ a: 1, b: 1 });
  });

  it("takes an id or a context that is a plain string", () => {
    const headers = headersOf('@id "https://a.example/"', '@context "https://b.example/"');
    expect(headers.id).toBe("https://a.example/");
    expect(headers.context).toEqual(["https://b.example/"]);
  });

  it.each([
    ['!fields ["surt"]'],
    ['!fields {"values":["frequency"]}'],
    ['!fields {"keys":[]}'],
    ['!fields {"keys":["a"],"values":["a"]}'],
    ['!fields {"keys":["a",1]}'],
    ['!fields {"keys":["a"]}', '!fields {"keys":["b"]}'],
    ['!keys "surt"'],
    ["!meta 7"],
    ["!meta []"],
    ["!id {}"],
    ['!id "a"', '!id "b"'],
  ])("refuses %s %s", (...lines) => {
    expect(() => headersOf(...lines.filter((line) => line !== undefined))).toThrow(badHeader);
  });
});

describe("hostile headers", () => {
  it("are refused in linear time", () => {
    expect(() => parseHeader(`!a${" ".repeat(900_000)}x\v`)).toThrow(badHeader);
    expect(() => parseHeader(`!a ${"1 ".repeat(400_000)}\v`)).toThrow(badHeader);
  });

  it("may not nest deeply", () => {
    const nested = (levels: number): string =>
      `!meta ${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    expect(() => parseHeader(nested(5000))).toThrow(badHeader);
    expect(formatHeader(parseHeader(nested(90)))).toBe(nested(90));
  });
});
