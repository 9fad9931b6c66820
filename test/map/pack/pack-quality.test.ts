import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Random } from "../../../src/bytes/random.ts";
import { MissList } from "../../../src/map/compact/budget/misses.ts";
import { PackedLookup } from "../../../src/map/lookup/packed-lookup.ts";
import type { PackOptions } from "../../../src/map/pack/pack-files.ts";
import { parseHead } from "../../../src/packed/packed-file.ts";
import { OUTCOME } from "../../../src/packed/packed-map.ts";
import { BloomFilter } from "../../../src/study/evaluate/predictor.ts";
import { LinearReading } from "../../support/linear-reading.ts";
import { scratchDir } from "../../support/scratch.ts";
import { type AnyMap, anyMap, runs } from "../lookup/any-map-and-questions.ts";
import { encode } from "../map-files.ts";
import { packedBytes } from "./packed-bytes.ts";

const HOSTS = 400;

/** A page of a made-up archive: most are of few hosts. */
function page(random: Random): string {
  const host = Math.floor(HOSTS * (random.below(1000) / 1000) ** 3);
  const folders = Array.from({ length: 1 + random.below(3) }, () => `/f${random.below(40)}`);
  return `com,h${host})${folders.join("")}/p${random.below(1_000_000)}`;
}

const random = new Random(5, "pack quality");
const held = [...new Set(Array.from({ length: 6000 }, () => page(random)))].toSorted();
const heldKeys = new Set(held);
const missed = Array.from({ length: 6000 }, () => page(random)).filter((key) => !heldKeys.has(key));
const TEXT = `!fields {"keys":["surt"],"values":["frequency"]}\n${held.map((key) => `${key} 1\n`).join("")}`;

async function packed(options: Partial<PackOptions>): Promise<PackedLookup> {
  return PackedLookup.of((await packedBytes(TEXT, options)) ?? new Uint8Array(), "memory");
}

function mistaken(keys: readonly string[], says: (key: Uint8Array) => boolean): number {
  return keys.filter((key) => says(encode(key))).length / keys.length;
}

describe("a packed map of lookups like what is held", () => {
  it.each([2500, 4000, 6000, 9000])("is as good as a Bloom filter: %d B", async (maxBytes) => {
    const map = await packed({ maxBytes });
    const bloom = new BloomFilter(maxBytes, held.length);
    for (const key of held) bloom.add(encode(key));
    const own = mistaken(missed, (key) => map.findSurt(key) === OUTCOME.present);
    const least = mistaken(missed, (key) => bloom.has(key));
    expect(own).toBeLessThan(least + 0.02);
    expect(mistaken(held, (key) => map.findSurt(key) === OUTCOME.present)).toBe(1);
  });

  // The smaller one rolls up hosts that nobody asks for; the larger one has all rows, of different bits.
  it.each([4000, 6000])("serves hosts that are asked for: %d B", async (maxBytes) => {
    const asked = (key: string): boolean => /^com,h(1|2|3|5|8|13)\)/.test(key);
    const misses = new MissList(missed.filter(asked));
    const later = Array.from({ length: 20_000 }, () => page(random)).filter(asked);
    const isPresent = (map: PackedLookup) => (key: Uint8Array) =>
      map.findSurt(key) === OUTCOME.present;
    const plain = mistaken(later, isPresent(await packed({ maxBytes })));
    const file = (await packedBytes(TEXT, { maxBytes, misses })) ?? new Uint8Array();
    const { header, descriptors } = parseHead(file, file.length, "memory");
    const widths = new Set(descriptors.map(({ width }) => width));
    expect(header.rows < held.length || widths.size > 1).toBe(true);
    expect(header.rows === held.length).toBe(maxBytes === 6000);
    const map = PackedLookup.of(file, "memory");
    expect(mistaken(later, isPresent(map))).toBeLessThan(plain / 2);
    expect(mistaken(held, isPresent(map))).toBe(1);
  });
});

describe("a packed map of folders", () => {
  const pages = Array.from({ length: 2000 }, (_, i) => `com,a)/p${i} 1\n`);
  const folders = Array.from({ length: 200 }, (_, i) => `com,a)/f${i}/* 9\n`);
  const rows = [...pages, ...folders].toSorted().join("");
  const text = `!fields {"keys":["surt"],"values":["frequency"]}\n${rows}`;

  it("seldom mistakes a folder, which many lookups ask for", async () => {
    const map = PackedLookup.of((await packedBytes(text, { bits: 3 })) ?? new Uint8Array(), "m");
    const says = (key: Uint8Array): boolean => map.findSurt(key) === OUTCOME.present;
    const asked = (end: (i: number) => string): string[] =>
      Array.from({ length: 4000 }, (_, i) => `com,a)/x${end(i)}`);
    // A page of depth 1 may be mistaken itself, one of depth 2 only through its folder.
    expect(mistaken(asked(String), says)).toBeGreaterThan(0.08);
    expect(
      mistaken(
        asked((i) => `${i}/q`),
        says,
      ),
    ).toBeLessThan(0.02);
  });
});

describe("a packed map of home pages alone", () => {
  const homes = Array.from({ length: 10_000 }, (_, i) => `com,h${10_000 + i})/`);
  const text = homes.map((key) => `${key} 1\n`).join("");

  it.each([2000, 3000, 4500, 6000])("is as good as a Bloom filter: %d B", async (maxBytes) => {
    const file = (await packedBytes(text, { maxBytes })) ?? new Uint8Array();
    const map = PackedLookup.of(file, "memory");
    const bloom = new BloomFilter(maxBytes, homes.length);
    for (const key of homes) bloom.add(encode(key));
    const others = homes.map((key) => key.replace("h", "other"));
    const own = mistaken(others, (key) => map.findSurt(key) === OUTCOME.present);
    expect(own).toBeLessThan(mistaken(others, (key) => bloom.has(key)) + 0.02);
    expect(mistaken(homes, (key) => map.findSurt(key) === OUTCOME.present)).toBe(1);
  });
});

function asMap(text: string): AnyMap {
  return { text, isTimed: false, queries: false };
}

describe("a packed map of a few rows", () => {
  const few = '!fields {"keys":["surt"],"values":["frequency"]}\ncom,a)/ 3\norg,b)/x/* 9\n';

  it.each([undefined, 800, 900, 1000])("tells what is not held: %s B", async (maxBytes) => {
    const map = PackedLookup.of(
      (await packedBytes(few, { maxBytes })) ?? new Uint8Array(),
      "memory",
    );
    const says = (key: string): boolean => map.findSurt(encode(key)) === OUTCOME.present;
    expect(["com,a)/", "org,b)/x/1"].every(says)).toBe(true);
    const others = Array.from({ length: 200 }, (_, i) => `net,other${i})/page${i}`);
    expect(others.filter(says).length).toBeLessThan(160);
  });

  it.each([720, 800])("needs no table where misses are known: %d B", async (maxBytes) => {
    const misses = new MissList(["com,a)/x", "com,a)/y", "net,other)/page"]);
    const file = (await packedBytes(few, { maxBytes, misses })) ?? new Uint8Array();
    const { header } = parseHead(file, file.length, "memory");
    expect(header.table.fingerprint).toBe(0);
    const map = PackedLookup.of(file, "memory");
    const says = (key: string): boolean => map.findSurt(encode(key)) === OUTCOME.present;
    expect(["com,a)/", "org,b)/x/1"].every(says)).toBe(true);
  });

  it("tells other hosts apart, whatever the rows are", async () => {
    const others = Array.from({ length: 100 }, (_, i) => `net,other${i})/page${i}`);
    const folder = scratchDir();
    await fc.assert(
      fc.asyncProperty(anyMap, async ({ text }) => {
        const linear = new LinearReading(encode(text));
        const file = await packedBytes(text, {}, folder);
        if (file === undefined || linear.lookup("net,other)/").present) return;
        const map = PackedLookup.of(file, "memory");
        expect(mistaken(others, (key) => map.findSurt(key) === OUTCOME.present)).toBe(0);
      }),
      {
        numRuns: runs(60),
        examples: [[asMap("com,example)/* 5\ncom,example)/a/* 0\n")]],
      },
    );
  });

  it("is refused where it could not", async () => {
    await expect(packedBytes(few, { maxBytes: 450 })).rejects.toMatchObject({ code: "MM_BUDGET" });
  });
});
