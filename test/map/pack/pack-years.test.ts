import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compactMapFile, generateMapFile, openMap } from "../../../src/node.ts";
import { isMementoMapError } from "../../../src/errors.ts";
import { MemoryIndex } from "../../../src/map/lookup/memory-index.ts";
import { PackedLookup } from "../../../src/map/lookup/packed-lookup.ts";
import type { PackOptions } from "../../../src/map/pack/pack-files.ts";
import { scratchDir } from "../../support/scratch.ts";
import { anyMap, questions, runs } from "../lookup/any-map-and-questions.ts";
import { packedBytes } from "./packed-bytes.ts";

const FIELDS = '!fields {"keys":["surt","datetime"],"values":["frequency"]}\n';

async function packed(text: string, options: Partial<PackOptions>): Promise<PackedLookup> {
  const bytes = await packedBytes(text, { years: true, ...options });
  return PackedLookup.of(bytes ?? new Uint8Array(), "packed");
}

/** Hosts with the years that each of their pages has. */
const hostYears = fc.uniqueArray(
  fc.record({
    name: fc.stringMatching(/^[a-f]{1,3}(,[a-f]{1,2})?$/),
    pages: fc.array(fc.array(fc.integer({ min: 1996, max: 2025 }), { minLength: 1 }), {
      minLength: 1,
      maxLength: 4,
    }),
  }),
  { selector: ({ name }) => name, minLength: 1, maxLength: 40 },
);

function mapOf(hosts: readonly { name: string; pages: readonly number[][] }[]): string {
  const rows = hosts.flatMap(({ name, pages }) =>
    pages.flatMap((years, page) =>
      [...new Set(years)].map((year) => `com,${name})/p${page} ${year} 1\n`),
    ),
  );
  return FIELDS + rows.toSorted().join("");
}

const SIZES = fc.constantFrom<Partial<PackOptions>>(
  { bits: 3.25 },
  { bits: 0 },
  { bits: 12 },
  { maxBytes: 900 },
  { maxBytes: 1500 },
  {},
);

describe("years in a packed map", () => {
  it("never leave out what the map holds of a time", async () => {
    await fc.assert(
      fc.asyncProperty(anyMap, questions, SIZES, async ({ text, isTimed }, asked, options) => {
        fc.pre(isTimed);
        const map = await packed(text, options).catch((error: unknown) => {
          const codes = ["MM_BUDGET", "MM_EMPTY", "MM_BAD_INPUT"];
          if (isMementoMapError(error) && codes.includes(error.code)) return undefined;
          throw error;
        });
        if (map === undefined) return;
        const index = MemoryIndex.build(new TextEncoder().encode(text));
        for (const [surt, at] of asked) {
          if (!index.lookupSurtSync(surt, { at }).present) continue;
          expect((await map.lookupSurt(surt, { at })).present, `${surt} ${at}`).toBe(true);
        }
      }),
      { numRuns: runs(100) },
    );
  });

  it("are those of the host, or of more, whatever is rolled up or mistaken", async () => {
    await fc.assert(
      fc.asyncProperty(hostYears, SIZES, async (hosts, options) => {
        const map = await packed(mapOf(hosts), options);
        for (const { name, pages } of hosts) {
          for (const [page, years] of pages.entries()) {
            for (const year of years) {
              const at = String(year);
              const answer = await map.lookupSurt(`com,${name})/p${page}`, { at });
              expect(answer.present, `${name} ${page} ${year}`).toBe(true);
            }
          }
        }
      }),
      { numRuns: runs(100) },
    );
  });

  it("are exact where there are few different ones", async () => {
    const hosts = Array.from({ length: 500 }, (_, i) => ({
      name: `h${i}`,
      pages: [[1996 + (i % 10), 2010 + (i % 6)]],
    }));
    const map = await packed(mapOf(hosts), { bits: 10 });
    const answers = await Promise.all(hosts.map(({ name }) => map.lookupSurt(`com,${name})/p0`)));
    const expected = hosts.map(({ pages: [[first, last]] }) => [first, last]);
    expect(answers.map(({ years }) => years)).toEqual(expected);
    expect(map.header.table.period).toBe(5);
    expect((await map.lookupSurt("com,h0)/p0", { at: "1995" })).present).toBe(false);
    expect((await map.lookupSurt("com,h0)/p0", { at: "200006" })).present).toBe(true);
  });

  it("are shared where there are many different ones", async () => {
    const hosts = Array.from({ length: 900 }, (_, i) => ({
      name: `h${i}`,
      pages: [[1990 + Math.floor(i / 30), 2025 - (i % 6)]],
    }));
    const map = await packed(mapOf(hosts), { bits: 10 });
    expect(map.header.periods).toHaveLength(64);
    const spans = await Promise.all(
      hosts.map(async ({ name, pages: [[first, last]] }) => {
        const { years = [0, 0] } = await map.lookupSurt(`com,${name})/p0`);
        expect(years[0] <= first && years[1] >= last).toBe(true);
        return years[1] - years[0] - (last - first);
      }),
    );
    const meanExcess = spans.reduce((sum, span) => sum + span, 0) / spans.length;
    expect(meanExcess).toBeLessThan(10);
  });

  it("keep the bytes of the file within what is allowed", async () => {
    const hosts = Array.from({ length: 400 }, (_, i) => ({
      name: `h${i}`,
      pages: [[1990 + (i % 30)], [2020]],
    }));
    for (const maxBytes of [2000, 3000, 6000]) {
      const bytes = await packedBytes(mapOf(hosts), { years: true, maxBytes });
      expect(bytes?.length).toBeLessThanOrEqual(maxBytes);
      const again = await packedBytes(mapOf(hosts), { years: true, maxBytes, threads: 2 });
      expect(again).toEqual(bytes);
    }
  });

  it("come from an index, too, and are known to all ways to ask", async () => {
    const folder = scratchDir();
    const index = join(folder, "a.cdxj");
    const lines = ["com,a)/ 20100501000000", "com,a)/b 20140101000000", "org,b)/ 20200101000000"];
    writeFileSync(index, lines.map((line) => `${line} {"status":"200"}\n`).join(""));
    const [timed, target] = [join(folder, "timed.ukvs"), join(folder, "a.packed")];
    await generateMapFile([index], timed, { datetimeDigits: 4 });
    const { summary } = await compactMapFile(timed, target, { pack: { years: true, bits: 12 } });
    expect(summary?.years).toEqual([2010, 2020]);
    for (const inMemory of [true, false]) {
      const map = await openMap(target, { inMemory });
      expect(await map.lookup("http://a.com/b")).toMatchObject({ years: [2010, 2014] });
      expect(await map.has("http://a.com/b", { at: "2012" })).toBe(true);
      expect(await map.has("http://a.com/b", { at: "2015" })).toBe(false);
      expect(await map.has("http://a.com/b", { at: new Date("2009-12-31") })).toBe(false);
      await map.close();
    }
  });

  it("need a map with times, and no base", async () => {
    const folder = scratchDir();
    const [plain, target] = [join(folder, "plain.ukvs"), join(folder, "a.packed")];
    writeFileSync(plain, '!fields {"keys":["surt"],"values":["frequency"]}\ncom,a)/ 1\n');
    await expect(compactMapFile(plain, target, { pack: { years: true } })).rejects.toThrow(
      "the map has no times",
    );
    await compactMapFile(plain, target, { pack: {} });
    await expect(
      compactMapFile(plain, target, { pack: { years: true, base: target } }),
    ).rejects.toThrow("a delta cannot add years");
  });
});
