import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemorySource } from "../../src/bytes/byte-source.ts";
import { PackedLookup } from "../../src/lookup/packed-lookup.ts";
import { isMementoMapError } from "../../src/errors.ts";
import { scratchDir } from "../support/scratch.ts";
import { anyMap } from "../lookup/any-map-and-questions.ts";
import { packedBytes } from "./packed-bytes.ts";
import { cases } from "../support/cases.ts";

const rows = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 300 });

/** A map of many short rows on a few hosts. */
function manyRows(numbers: readonly number[]): string {
  const keys = numbers.map((n) => `com,h${n % 7})/${n % 3 === 0 ? "a/" : ""}p${n}`);
  return [...new Set(keys)]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((key, i) => `${key} ${1 + (i % 5)}\n`)
    .join("");
}

describe("packing in parts", () => {
  it("gives the same bytes for any threads, memory and parts", async () => {
    const folder = scratchDir();
    const map = fc.oneof(
      rows.map(manyRows),
      anyMap.map(({ text }) => text),
    );
    const size = fc.constantFrom({ bits: 6.5 }, { maxBytes: 1500 }, { maxBytes: 900 }, {});
    const way = fc.record({
      threads: fc.constantFrom(1, 1, 1, 2, 3),
      memoryBytes: fc.constantFrom(0, 2 ** 28),
      partBytes: fc.integer({ min: 1, max: 2000 }),
      partitionBits: fc.integer({ min: 0, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(map, size, way, async (text, sized, { threads, memoryBytes, ...cut }) => {
        const plain = await packedOrError(text, sized, folder);
        const other = await packedOrError(text, { ...sized, threads, memoryBytes, cut }, folder);
        expect(other).toEqual(plain);
      }),
      { numRuns: cases(40) },
    );
  });

  it("names the line of a row that is wrong in a later part", async () => {
    const good = manyRows(Array.from({ length: 400 }, (_, i) => i));
    const cut = { partBytes: 500, partitionBits: 1 };
    const text = `!id {uri: "https://a.example/"}\n${good}org,a)/ x\n`;
    await expect(packedBytes(text, { bits: 8, cut })).rejects.toMatchObject({
      code: "MM_BAD_FREQUENCY",
      position: { line: good.split("\n").length + 1 },
    });
  });

  it("keeps keys without a host that are far apart, whatever their captures", async () => {
    const text = "dns:a.com 1\norg,a)/ 1\nwhois:b.com 100000\n";
    const file = await packedBytes(text, { bits: 20 });
    const map = await PackedLookup.open(new MemorySource(file ?? new Uint8Array()));
    for (const key of ["dns:a.com", "org,a)/", "whois:b.com"]) {
      expect((await map.lookupSurt(key)).present).toBe(true);
    }
  });
});

async function packedOrError(
  text: string,
  options: Parameters<typeof packedBytes>[1],
  folder: string,
): Promise<Uint8Array | string | undefined> {
  try {
    return await packedBytes(text, options, folder);
  } catch (error) {
    if (!isMementoMapError(error)) throw error;
    return `${error.code} ${error.message}`;
  }
}
