import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { formatHeaders } from "../../src/ukvs/header.ts";
import { readUkvs, type ReadUkvsOptions } from "../../src/ukvs/reader.ts";
import type { UkvsRecord } from "../../src/ukvs/record.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

async function recordsOf(
  input: string | Uint8Array,
  options?: ReadUkvsOptions,
): Promise<UkvsRecord[]> {
  const bytes = typeof input === "string" ? encoder.encode(input) : input;
  const reader = await readUkvs([bytes], options);
  const records: UkvsRecord[] = [];
  for await (const record of reader.records()) records.push(record);
  return records;
}

const rows = (records: readonly UkvsRecord[]): string[] =>
  records.map(({ keys, values }) => [...keys, ...values].join(" "));

/** Figure 2 of the paper, letter for letter. */
const FIGURE_2 = `!context ["https://git.io/mementomap"]
!id      {uri: "https://archive.example.org/"}
!fields  {keys: ["surt"], values: ["frequency"]}
!meta    {name: "Example Archive", year: 1996}
!meta    {type: "MementoMap"}
!meta    {updated_at: "2018-09-03T13:27:52Z"}
*                   54321/20000
com,*               10000+
org,arxiv)/         100
org,arxiv)/*        2500~/900
org,arxiv)/pdf/*    0
uk,co,bbc)/images/* 300+/20-
`;

describe("readUkvs", () => {
  it("reads the paper's figure 2 whole", async () => {
    const reader = await readUkvs([encoder.encode(FIGURE_2)]);
    expect(reader.headers.id).toBe("https://archive.example.org/");
    expect(reader.headers.meta["year"]).toBe(1996);
    expect(formatHeaders(reader.headers)).toHaveLength(6);
    const records: UkvsRecord[] = [];
    for await (const record of reader.records()) records.push(record);
    expect(rows(records)).toEqual([
      "* 54321/20000",
      "com,* 10000+",
      "org,arxiv)/ 100",
      "org,arxiv)/* 2500~/900",
      "org,arxiv)/pdf/* 0",
      "uk,co,bbc)/images/* 300+/20-",
    ]);
  });

  it("reads the same however the input is cut", async () => {
    const bytes = encoder.encode(FIGURE_2.replaceAll("org,", "org,é"));
    const whole = await recordsOf(bytes);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: bytes.length })), async (places) => {
        const cuts = [0, ...places, bytes.length].sort((a, b) => a - b);
        const chunks = cuts.slice(1).map((cut, index) => bytes.slice(cuts[index], cut));
        const reader = await readUkvs(chunks);
        const records: UkvsRecord[] = [];
        for await (const record of reader.records()) records.push(record);
        expect(reader.headers.meta["type"]).toBe("MementoMap");
        expect(records).toEqual(whole);
      }),
    );
  });

  it("gives offsets of keys, of the key tuple and of the rest, and the lines", async () => {
    const text =
      '!fields {"keys":["name","datetime"],"values":["frequency"]}\n\n' +
      'com,a)/\t 2014  5 {"x":1} \r\n' +
      '"com b" 2015 6\n';
    const reader = await readUkvs([encoder.encode(text)], { checkOrder: false });
    const seen: unknown[] = [];
    for await (const batch of reader.batches()) {
      const slice = (from: Uint32Array, to: Uint32Array, i: number): string =>
        decoder.decode(batch.bytes.subarray(from[i], to[i]));
      for (let i = 0; i < batch.count; i++) {
        seen.push([
          slice(batch.keyStarts, batch.keyEnds, i),
          slice(batch.keyStarts, batch.tupleEnds, i),
          slice(batch.restStarts, batch.restEnds, i),
          batch.lines[i],
        ]);
      }
    }
    expect(seen).toEqual([
      ["com,a)/", "com,a)/\t 2014", '5 {"x":1}', 3],
      ['"com b"', '"com b" 2015', "6", 4],
    ]);
  });

  it.each([
    ["nothing", "", []],
    ["blank lines only", "\n \n\t\n", []],
    ["headers only", '!meta {"a":1}\n', []],
    ["one line without a newline", "com,a)/ 1", ["com,a)/ 1"]],
    ["a byte order mark before a header", '\uFEFF!meta {"a":1}\ncom,a)/ 1\n', ["com,a)/ 1"]],
    ["a byte order mark before a record", "\uFEFFcom,a)/ 1\n", ["com,a)/ 1"]],
    ["blank lines between", "\n\ncom,a)/ 1\n\n \ncom,b)/ 2\n", ["com,a)/ 1", "com,b)/ 2"]],
    ["CRLF", '!meta {"a":1}\r\ncom,a)/ 1\r\n\r\ncom,b)/ 2\r\n', ["com,a)/ 1", "com,b)/ 2"]],
    ["keys of other scripts", "com,é)/ 1\ncom,\u{10000})/ 2\n", ["com,é)/ 1", "com,\u{10000})/ 2"]],
  ])("reads %s", async (_, text, expected) => {
    expect(rows(await recordsOf(text))).toEqual(expected);
  });

  it.each([
    ["a header after a record", "com,a)/ 1\n!meta {}\n", "MM_BAD_HEADER", 2],
    ["an old header after a record", "com,a)/ 1\n@meta {}\n", "MM_BAD_HEADER", 2],
    ["a broken header", "!id {}\n\n!meta {\n", "MM_BAD_HEADER", 3],
    ["fields that make no sense", '!fields {"keys":[]}\n', "MM_BAD_HEADER", undefined],
    ["a control character", "com,a)/ 1\ncom,b)/\u0001 1\n", "MM_BAD_LINE", 2],
    ["a control character in the rest", "com,a)/ 1\ncom,b)/ 1\u007f\n", "MM_BAD_LINE", 2],
    ["a CR within a line", "com,a)/\r1 1\n", "MM_BAD_LINE", 1],
    ["a key alone", "com,a)/ 1\n\ncom,b)/ \n", "MM_BAD_LINE", 3],
    ["a JSON block alone", '{"a": 1} 2\n', "MM_BAD_LINE", 1],
    ["a blank before the key", " com,a)/ 1\n", "MM_BAD_LINE", 1],
    ["a quoted key of a map", '"com,a)/" 1\n', "MM_BAD_KEY", 1],
    ["a key of a map that comes twice", "com,a)/ 1\ncom,a)/ 2\n", "MM_NOT_SORTED", 2],
    ["keys out of order", "com,b)/ 1\ncom,a)/ 1\n", "MM_NOT_SORTED", 2],
    ["a prefix after what it begins", "com,a)/b 1\ncom,a)/ 1\n", "MM_NOT_SORTED", 2],
    ["UTF-16 order", "\u{10000} 1\n\uFFFD 1\n", "MM_NOT_SORTED", 2],
    ["columns beyond the fields", "com,a)/ 1\ncom,b)/ 1 2\n", "MM_BAD_LINE", 2],
    [
      "too few keys",
      '!fields {"keys":["surt","datetime"],"values":[]}\ncom,a)/\n',
      "MM_BAD_LINE",
      2,
    ],
  ])("refuses %s", async (_, text, code, line) => {
    await expect(recordsOf(text, { source: "a.ukvs" })).rejects.toMatchObject({
      code,
      position: line === undefined ? { source: "a.ukvs" } : { source: "a.ukvs", line },
    });
  });

  it("refuses bytes that are not UTF-8, in records and in headers", async () => {
    const position = { source: "input", line: 2 };
    const record = Uint8Array.of(...encoder.encode("com,a)/ 1\ncom,"), 0xe9, 0x20, 0x31);
    await expect(recordsOf(record)).rejects.toMatchObject({ code: "MM_BAD_LINE", position });
    const header = Uint8Array.of(...encoder.encode('!meta {}\n!meta "'), 0xe9, 0x22);
    await expect(recordsOf(header)).rejects.toMatchObject({ code: "MM_BAD_LINE", position });
  });

  it("names both keys that are out of order, also where a chunk ends between them", async () => {
    const chunks = ["com,b)/ 1\n", "com,a)/ 1\n"].map((text) => encoder.encode(text));
    const reader = await readUkvs(chunks, { source: "a.ukvs" });
    await expect(reader.records().next()).resolves.toBeDefined();
    const again = (await readUkvs(chunks, { source: "a.ukvs" })).batches();
    await again.next();
    await expect(again.next()).rejects.toMatchObject({
      code: "MM_NOT_SORTED",
      message: expect.stringMatching(/"com,a\)\/" comes after "com,b\)\/"/),
      position: { source: "a.ukvs", line: 2 },
    });
  });

  it("compares all key columns, whatever stands between them", async () => {
    const fields = '!fields {"keys":["surt","datetime"],"values":["frequency"]}\n';
    const text = `${fields}com,a)/ 2014 1\ncom,a)/   2015 1\ncom,a)/\t2016 1\ncom,a)/ 2016:2017 1\n`;
    await expect(recordsOf(text)).resolves.toHaveLength(4);
    await expect(recordsOf(`${fields}com,a)/  2015 1\ncom,a)/ 2014 1\n`)).rejects.toMatchObject({
      code: "MM_NOT_SORTED",
    });
  });

  it("reads unsorted input on demand", async () => {
    await expect(recordsOf("com,b)/ 1\ncom,a)/ 1\n", { checkOrder: false })).resolves.toHaveLength(
      2,
    );
  });

  it("stops at a line of 2 MB, and reads it when allowed", async () => {
    const text = `com,a)/ 1\ncom,b)/${"x".repeat(2_000_000)} 1\n`;
    await expect(recordsOf(text)).rejects.toMatchObject({
      code: "MM_LIMIT",
      position: { line: 2 },
    });
    await expect(recordsOf(text, { maxLineBytes: 4_000_000 })).resolves.toHaveLength(2);
  });

  it("lets go of its input when left early, closed, or failing", async () => {
    let closed = 0;
    async function* input(first: string): AsyncGenerator<Uint8Array> {
      try {
        yield encoder.encode(first);
        yield encoder.encode("com,b)/ 1\n");
      } finally {
        closed++;
      }
    }
    const left = await readUkvs(input("com,a)/ 1\n"));
    for await (const record of left.records()) if (record.keys[0] === "com,a)/") break;
    expect(closed).toBe(1);
    await (await readUkvs(input("com,a)/ 1\n"))).close();
    expect(closed).toBe(2);
    await expect(readUkvs(input("!meta {\n"))).rejects.toMatchObject({ code: "MM_BAD_HEADER" });
    expect(closed).toBe(3);
  });

  it("is read once", async () => {
    const reader = await readUkvs([encoder.encode("com,a)/ 1\n")]);
    await reader.batches().next();
    await expect(reader.records().next()).rejects.toMatchObject({ code: "MM_USAGE" });
  });
});
