import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemorySource } from "../../src/bytes/byte-source.ts";
import { PackedLookup } from "../../src/lookup/packed-lookup.ts";
import { NameDealer } from "../../src/pack/deal-names.ts";
import { FilterWriter, SHARD_NAMES } from "../../src/pack/filter-writer.ts";
import { NAME, NameLog } from "../../src/pack/name-log.ts";
import { NameHash } from "../../src/packed/name-hash.ts";
import { anyMap } from "../lookup/any-map-and-questions.ts";
import { cases } from "../support/cases.ts";
import { scratchDir } from "../support/scratch.ts";
import { packedBytes } from "./packed-bytes.ts";

/** Filters of so many names of 3 bits and of 4 bits, dealt out in some partitions. */
function filtersOf(count: number, partitions: number): Uint32Array[][] {
  const names = new NameLog(partitions, 2 ** 28, () => {
    throw new Error("names fit in memory");
  });
  const bytes = new Uint8Array(4);
  for (let i = 0; i < count; i++) {
    new DataView(bytes.buffer).setInt32(0, i);
    const { low, high } = new NameHash().extend(bytes, 0, 4).finish();
    names.add(i % 5 === 0 ? NAME.home : NAME.row, low, high, 0);
  }
  const homes = Math.ceil(count / 5);
  const filters = [new FilterWriter("rows", homes, 3), new FilterWriter("rows", count - homes, 4)];
  const dealer = new NameDealer(names, [32, 0, 24, 0], filters);
  for (let partition = 0; partition < partitions; partition++) dealer.deal(partition);
  let words = 0;
  for (const filter of filters) for (const shard of filter.directory(0)) words += shard.slots;
  expect(words).toBeGreaterThan(count);
  return filters.map((filter) => filter.words);
}

describe("names dealt out to shards", () => {
  it.each([1, 7, 3000, 4 * SHARD_NAMES + 17])("are in the same shards: %d names", (count) => {
    const whole = filtersOf(count, 1);
    for (const partitions of [2, 4, 64]) expect(filtersOf(count, partitions)).toEqual(whole);
  });

  it("give the same file, whatever memory there is", async () => {
    const size = fc.constantFrom({ bits: 6.5 }, { maxBytes: 1500 }, { maxBytes: 3000 });
    const pages = Array.from({ length: 5000 }, (_, i) => `org,h${i % 7})/p${i} 1`);
    await fc.assert(
      fc.asyncProperty(anyMap, size, async ({ text }, sized) => {
        const [rows, headers] = [/^[^!]/, /^!/].map((form) =>
          text.split("\n").filter((line) => form.test(line)),
        );
        const isPlain = !headers.some((line) => line.startsWith("!fields"));
        const all = isPlain ? [...new Set([...rows, ...pages])] : rows;
        const sorted = all.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
        const map = [...headers, ...sorted, ""].join("\n");
        const packed = [0, 2 ** 28].map((memoryBytes) =>
          packedBytes(map, { ...sized, memoryBytes }, scratchDir()).catch(String),
        );
        const [small, large] = await Promise.all(packed);
        expect(small).toEqual(large);
      }),
      { numRuns: cases(10) },
    );
  });
});

describe("packing", () => {
  it("names the line of a row that is wrong", async () => {
    const good = Array.from({ length: 400 }, (_, i) => `com,h)/p${1000 + i} 1\n`).join("");
    const text = `!id {uri: "https://a.example/"}\n${good}org,a)/ x\n`;
    await expect(packedBytes(text, { bits: 8 })).rejects.toMatchObject({
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
