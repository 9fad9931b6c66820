import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { UkvsHeaders } from "../../src/ukvs/header.ts";
import { readUkvs } from "../../src/ukvs/reader.ts";
import { formatRecord, type UkvsRecord } from "../../src/ukvs/record.ts";
import { UkvsWriter, type ByteSink } from "../../src/ukvs/writer.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Keeps what is written, and looks at it only at the end: chunks must not change later. */
class Collector implements ByteSink {
  readonly chunks: Uint8Array[] = [];

  async write(chunk: Uint8Array): Promise<void> {
    this.chunks.push(chunk);
    await Promise.resolve();
  }

  text(): string {
    return this.chunks.map((chunk) => decoder.decode(chunk)).join("");
  }
}

const headers = new UkvsHeaders([
  { name: "meta", value: { a: 1 } },
  { name: "fields", value: { keys: ["name"], values: ["frequency"] } },
]);

function row(key: string): UkvsRecord {
  return { keys: [key], values: ["1"] };
}

const records = fc
  .uniqueArray(fc.string({ unit: fc.constantFrom("a", ",", ")", "/", "é", "x y") }), {
    maxLength: 40,
  })
  .map((keys) =>
    keys
      .map((key): UkvsRecord => ({ keys: [key], values: [String(key.length)] }))
      .map((record) => ({ record, line: encoder.encode(formatRecord(record, headers.fields)) }))
      .sort((a, b) => Buffer.compare(a.line, b.line)),
  );

describe("UkvsWriter", () => {
  it("writes what the reader reads, in blocks of any size, from records or lines", async () => {
    await fc.assert(
      fc.asyncProperty(records, fc.integer({ min: 1, max: 200 }), async (rows, blockBytes) => {
        const sink = new Collector();
        const writer = new UkvsWriter(sink, headers, { blockBytes });
        for (const [index, { record, line }] of rows.entries()) {
          if (index % 2 === 0) await writer.write(record);
          else
            await writer.writeLine(encoder.encode(`x${decoder.decode(line)}x`), 1, line.length + 1);
        }
        await writer.flush();
        const reader = await readUkvs(sink.chunks);
        const read: UkvsRecord[] = [];
        for await (const record of reader.records()) read.push(record);
        expect(reader.headers.meta).toEqual({ a: 1 });
        expect(read).toEqual(rows.map((row) => row.record));
      }),
    );
  });

  it("writes sorted headers and single spaces", async () => {
    const sink = new Collector();
    const writer = new UkvsWriter(sink, headers);
    await writer.write({ keys: ["com,a)/"], values: ["1"], json: { x: 1 } });
    await writer.flush();
    await writer.flush();
    expect(sink.text()).toBe(
      '!fields {"keys":["name"],"values":["frequency"]}\n!meta {"a":1}\ncom,a)/ 1 {"x":1}\n',
    );
    expect(sink.chunks).toHaveLength(1);
  });

  it("refuses keys out of order", async () => {
    const writer = new UkvsWriter(new Collector(), headers);
    await writer.write(row("com,b)/"));
    await writer.write(row("com,b)/"));
    expect(() => writer.write(row("com,a)/"))).toThrow(
      expect.objectContaining({ code: "MM_NOT_SORTED" }),
    );
  });

  it("refuses a line without keys", () => {
    const writer = new UkvsWriter(new Collector(), headers);
    expect(() => writer.writeLine(new Uint8Array(), 0, 0)).toThrow(
      expect.objectContaining({ code: "MM_BAD_LINE" }),
    );
  });

  it("passes on what the sink fails with", async () => {
    const writer = new UkvsWriter({ write: () => Promise.reject(new Error("disk full")) }, headers);
    await expect(writer.flush()).rejects.toThrow("disk full");
  });
});
