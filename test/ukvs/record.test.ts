import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Fields } from "../../src/ukvs/header.ts";
import { formatRecord, parseRecord, type UkvsRecord } from "../../src/ukvs/record.ts";

const badLine = expect.objectContaining({ code: "MM_BAD_LINE" });

const people: Fields = { keys: ["lname", "fname"], values: ["qualification", "profession"] };
const map: Fields = { keys: ["surt"], values: ["frequency"] };
const datetimeMap: Fields = { keys: ["surt", "datetime"], values: ["frequency"] };

describe("parseRecord", () => {
  it.each<[string, Fields, UkvsRecord]>([
    ["com,cnn)/ 5", map, { keys: ["com,cnn)/"], values: ["5"] }],
    ["com,cnn)/ \t 5\t ", map, { keys: ["com,cnn)/"], values: ["5"] }],
    ["com,cnn)/* -", map, { keys: ["com,cnn)/*"], values: [undefined] }],
    ["com,cnn)/* : 7", datetimeMap, { keys: ["com,cnn)/*", ":"], values: ["7"] }],
    [
      'Doe   Jane    PhD     Professor             {home: "https://example.edu/"}',
      people,
      {
        keys: ["Doe", "Jane"],
        values: ["PhD", "Professor"],
        json: { home: "https://example.edu/" },
      },
    ],
    [
      'Doe   John    Masters "Business Consultant"',
      people,
      { keys: ["Doe", "John"], values: ["Masters", "Business Consultant"] },
    ],
    ["Shmoe Joe - Assistant", people, { keys: ["Shmoe", "Joe"], values: [undefined, "Assistant"] }],
    ['a b "-" "say \\"x\\""', people, { keys: ["a", "b"], values: ["-", 'say "x"'] }],
    ['a b c"d e{f', people, { keys: ["a", "b"], values: ['c"d', "e{f"] }],
    [
      'com,twitter)/* 100/35 {datetime: {"2014": "20~/10", "2015": "60+/30+"}}',
      map,
      {
        keys: ["com,twitter)/*"],
        values: ["100/35"],
        json: { datetime: { "2014": "20~/10", "2015": "60+/30+" } },
      },
    ],
    ["com,cnn)/ 5 {}", map, { keys: ["com,cnn)/"], values: ["5"], json: {} }],
    [
      '20140101000000 {"uri": "a"}',
      { keys: ["datetime"], values: [] },
      { keys: ["20140101000000"], values: [], json: { uri: "a" } },
    ],
  ])("reads %s", (line, fields, expected) => {
    expect(parseRecord(line, fields)).toEqual(expected);
  });

  it.each([
    "",
    "com,cnn)/",
    "com,cnn)/ {}",
    "com,cnn)/ 5 6",
    "com,cnn)/ 5 {",
    "com,cnn)/ 5 {} x",
    "com,cnn)/ 5 []",
    " com,cnn)/ 5",
    'com,cnn)/ "5',
    'com,cnn)/ "5"x',
    'com,cnn)/ "\\q"',
    "com,cnn)/ 5\u0000",
    "com,cnn)/ 5\u007f",
    "com,cnn)/ 5\n",
  ])("refuses %j", (line) => {
    expect(() => parseRecord(line, map)).toThrow(badLine);
  });

  it("keeps a member named __proto__ a member", () => {
    const { json } = parseRecord("a 1 {__proto__: {polluted: 1}}", map);
    expect(Object.keys(json ?? {})).toEqual(["__proto__"]);
    expect(json?.["polluted"]).toBeUndefined();
  });
});

describe("formatRecord", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 6 }),
    fc.string({
      unit: fc.constantFrom(
        "a",
        " ",
        "\t",
        '"',
        "\\",
        "{",
        "-",
        ":",
        "!",
        "@",
        "\n",
        "\u2028",
        "\u0085",
        "\u00a0",
      ),
    }),
  );
  const json = fc
    .dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 })
    // JSON has no minus zero.
    .map((value): Record<string, unknown> => JSON.parse(JSON.stringify(value)));
  const record: fc.Arbitrary<UkvsRecord> = fc.record(
    {
      keys: fc.array(text, { minLength: 1, maxLength: 3 }),
      values: fc.array(fc.option(text, { nil: undefined }), { maxLength: 3 }),
      json,
    },
    { requiredKeys: ["keys", "values"] },
  );

  it("writes what parseRecord reads back", () => {
    fc.assert(
      fc.property(record, (original) => {
        const fields: Fields = {
          keys: original.keys.map((_, index) => `key${index}`),
          values: original.values.map((_, index) => `value${index}`),
        };
        const line = formatRecord(original, fields);
        expect(line).not.toMatch(/^[!@]|[\n\r\u007f]/);
        // Through bytes, which is where lone surrogates would be lost.
        const stored = new TextDecoder("utf-8", { ignoreBOM: true }).decode(
          new TextEncoder().encode(line),
        );
        expect(parseRecord(stored, fields)).toEqual(original);
      }),
      { numRuns: 2000 },
    );
  });

  it.each<[UkvsRecord, string]>([
    [{ keys: ["com,cnn)/"], values: ["5"] }, "com,cnn)/ 5"],
    [{ keys: ["com,cnn)/"], values: [undefined] }, "com,cnn)/ -"],
    [{ keys: ["com,cnn)/"], values: ["-"] }, 'com,cnn)/ "-"'],
    [{ keys: ["-"], values: ["a b"], json: { a: "\u007f" } }, '- "a b" {"a":"\\u007f"}'],
    [{ keys: ["!a"], values: [""] }, '"!a" ""'],
  ])("writes %j as %s", (original, line) => {
    expect(formatRecord(original, map)).toBe(line);
  });

  it("refuses records of other fields", () => {
    expect(() => formatRecord({ keys: ["a"], values: [] }, map)).toThrow(badLine);
    expect(() => formatRecord({ keys: ["a", "b"], values: ["1"] }, map)).toThrow(badLine);
  });
});
