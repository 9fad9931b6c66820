import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { generateMap } from "../../src/generate/generate-map.ts";
import { arcRows, warcRows } from "../../src/input/warc.ts";
import type { DamageLog } from "../../src/bytes/damage.ts";
import { newDamageLog } from "../../src/bytes/damage.ts";
import { decompressed } from "../../src/files/decompress.ts";
import { arcRecord, versionBlock } from "../support/arc-fixture.ts";
import { rowTexts } from "../support/batch-text.ts";
import { chunked } from "../support/chunked.ts";
import { warcRecord } from "../support/warc-fixture.ts";

interface Read {
  readonly uris: string[];
  readonly damage: DamageLog;
}

/** The URIs of the captures of a file, passing over what is broken. */
async function read(
  file: Uint8Array,
  rows: typeof warcRows,
  lengths: readonly number[],
): Promise<Read> {
  const damage = newDamageLog();
  const plain = decompressed(chunked(file, lengths), { source: "x", damage });
  const texts = await rowTexts(rows(plain, { source: "x", maxLineBytes: 1 << 20, damage }));
  const uris = texts.map((line) => line.split("\t")[0] ?? "");
  return { uris: uris.filter((uri) => uri.startsWith("http:")), damage };
}

/** How a file is stored: plain, compressed as a whole, or record by record. */
const STORED = {
  plain: (records: readonly Buffer[]) => Buffer.concat(records),
  whole: (records: readonly Buffer[]) => gzipSync(Buffer.concat(records)),
  members: (records: readonly Buffer[]) => Buffer.concat(records.map((record) => gzipSync(record))),
} as const;
type Storage = keyof typeof STORED;
const STORAGES = Object.keys(STORED) as Storage[]; // what the object above has

const FORMATS = {
  warc: {
    rows: warcRows,
    record: (uri: string, body: Uint8Array) =>
      warcRecord({ type: "response", uri, http: "HTTP/1.1 200 OK\nServer: x", body }),
    length: /Content-Length: (\d+)/,
    headless: (record: string) => record.replace("WARC/1.1", "????"),
    start: warcRecord({ type: "warcinfo", body: "software: x" }),
  },
  arc: {
    rows: arcRows,
    record: (uri: string, body: Uint8Array) =>
      arcRecord({ uri, http: "HTTP/1.1 200 OK\nServer: x", body }),
    length: / (\d+)\n/,
    headless: (record: string) => record.replace(/^.*/, (line) => line.replaceAll(" ", "_")),
    start: versionBlock(),
  },
} as const;
type Format = keyof typeof FORMATS;

type Harm = "head" | "too long" | "far too long" | "too short" | "no number";

/** Breaks a record, without changing a byte of another. */
function broken(record: Buffer, format: Format, harm: Harm): Buffer {
  const text = record.toString("latin1");
  if (harm === "head") return Buffer.from(FORMATS[format].headless(text), "latin1");
  const changed = text.replace(FORMATS[format].length, (field, digits: string) => {
    const length = Number(digits);
    const lie = { "too long": length + 9, "far too long": 99_999_999, "too short": 7 };
    return field.replace(digits, harm === "no number" ? "many" : String(lie[harm]));
  });
  expect(changed).not.toBe(text);
  return Buffer.from(changed, "latin1");
}

const bodies = fc.array(fc.uint8Array({ minLength: 20, maxLength: 3000 }), {
  minLength: 2,
  maxLength: 6,
});
const lengths = fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 3 });

describe.each(["warc", "arc"] as const)("a file of records (%s) with a broken one", (format) => {
  const { record, rows, start } = FORMATS[format];

  it("gives all others, however it is stored and cut into chunks", async () => {
    await fc.assert(
      fc.asyncProperty(
        bodies,
        fc.nat(),
        fc.constantFrom<Harm>("head", "too long", "far too long", "too short", "no number"),
        fc.constantFrom(...STORAGES),
        lengths,
        async (list, which, harm, storage, chunkLengths) => {
          const bad = which % list.length;
          const uris = list.map((_, i) => `http://example.com/${i}`);
          const records = list.map((body, i) => record(uris[i], body));
          records[bad] = broken(records[bad], format, harm);
          const file = STORED[storage]([start, ...records]);
          const { uris: found, damage } = await read(file, rows, chunkLengths);
          expect(found).toEqual(uris.filter((_, i) => i !== bad));
          expect(damage).toMatchObject({ places: 1, bytes: expect.any(Number) });
          expect(damage.first[0]?.message).toMatch(new RegExp(`^record ${bad + 2}, at byte \\d+ `));
        },
      ),
      { numRuns: 150 },
    );
  });

  it("gives all records where none is, and finds nothing wrong", async () => {
    await fc.assert(
      fc.asyncProperty(
        bodies,
        fc.constantFrom(...STORAGES),
        lengths,
        async (list, storage, cut) => {
          const uris = list.map((_, i) => `http://example.com/${i}`);
          const records = list.map((body, i) => record(uris[i], body));
          const { uris: found, damage } = await read(
            STORED[storage]([start, ...records]),
            rows,
            cut,
          );
          expect(found).toEqual(uris);
          expect(damage).toEqual(newDamageLog());
        },
      ),
      { numRuns: 40 },
    );
  });

  it("gives what is there of a file that is cut off", async () => {
    const uris = Array.from({ length: 5 }, (_, i) => `http://example.com/${i}`);
    const records = uris.map((uri) => record(uri, randomBytes(500)));
    for (const storage of STORAGES) {
      const file = STORED[storage]([start, ...records]);
      const { uris: found, damage } = await read(file.subarray(0, -30), rows, [100]);
      expect(found).toEqual(uris.slice(0, 4));
      expect(damage.places).toBe(1);
    }
  });

  it("gives the records behind a damaged stretch of a file that is compressed in blocks", async () => {
    const uris = Array.from({ length: 40 }, (_, i) => `http://example.com/${i}`);
    const file = Buffer.concat([start, ...uris.map((uri) => record(uri, Buffer.alloc(300, uri)))]);
    // Blocks end within records.
    const blocks = Array.from({ length: 8 }, (_, i) =>
      gzipSync(file.subarray((i * file.length) / 8, ((i + 1) * file.length) / 8)),
    );
    blocks[4].fill(0xff, 12, 40);
    const { uris: found, damage } = await read(Buffer.concat(blocks), rows, [100]);
    expect(found).toEqual(uris.filter((uri) => found.includes(uri)));
    expect(found.length).toBeGreaterThanOrEqual(40 - 7);
    expect(found).toEqual(expect.arrayContaining([...uris.slice(0, 18), ...uris.slice(27)]));
    expect(damage.places).toBe(1);
  });
});

describe("generateMap", () => {
  it("counts broken records with skipBad, and fails without", async () => {
    const uris = ["http://a.com/", "http://b.com/", "http://c.com/"];
    const records = uris.map((uri) => warcRecord({ type: "resource", uri, body: "x" }));
    records[1] = broken(records[1], "warc", "head");
    const source = { name: "x.warc", chunks: [Buffer.concat(records)] };
    await expect(generateMap([source])).rejects.toMatchObject({ code: "MM_BAD_INPUT" });
    const { counts, damages, rows } = await generateMap([source], { skipBad: true });
    expect(rows).toBe(2);
    expect(counts).toMatchObject({ lines: 2, captures: 2, bad: 0, damaged: 1 });
    expect(counts.damagedBytes).toBe(records[1].length);
    expect(damages).toMatchObject([{ source: "x.warc", offset: records[0].length }]);
  });
});
