import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BloomFilter } from "../../bench/bloom-filter.ts";
import { Random } from "../../src/bytes/random.ts";
import { hasSurt } from "../../src/lookup/map-lookup.ts";
import { PackedLookup } from "../../src/lookup/packed-lookup.ts";
import type { PackOptions } from "../../src/pack/pack-files.ts";
import { LinearReading } from "../support/linear-reading.ts";
import { scratchDir } from "../support/scratch.ts";
import { type AnyMap, anyMap } from "../lookup/any-map-and-questions.ts";
import { encode } from "../maps/map-files.ts";
import { packedBytes } from "./packed-bytes.ts";
import { cases } from "../support/cases.ts";

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
    const own = mistaken(missed, (key) => hasSurt(map, key, 0, key.length));
    const least = mistaken(missed, (key) => bloom.has(key));
    expect(own).toBeLessThan(least + 0.02);
    expect(mistaken(held, (key) => hasSurt(map, key, 0, key.length))).toBe(1);
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
    const own = mistaken(others, (key) => hasSurt(map, key, 0, key.length));
    expect(own).toBeLessThan(mistaken(others, (key) => bloom.has(key)) + 0.02);
    expect(mistaken(homes, (key) => hasSurt(map, key, 0, key.length))).toBe(1);
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
    const says = (key: string): boolean => map.lookupSurtSync(key).present;
    expect(["com,a)/", "org,b)/x/1"].every(says)).toBe(true);
    const others = Array.from({ length: 200 }, (_, i) => `net,other${i})/page${i}`);
    expect(others.filter(says).length).toBeLessThan(160);
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
        expect(mistaken(others, (key) => hasSurt(map, key, 0, key.length))).toBe(0);
      }),
      {
        numRuns: cases(60),
        examples: [[asMap("com,example)/* 5\ncom,example)/a/* 0\n")]],
      },
    );
  });

  it("is refused where it could not", async () => {
    await expect(packedBytes(few, { maxBytes: 350 })).rejects.toMatchObject({ code: "MM_BUDGET" });
  });
});
