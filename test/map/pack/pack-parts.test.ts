import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemorySource } from "../../../src/bytes/byte-source.ts";
import { PackedLookup } from "../../../src/map/lookup/packed-lookup.ts";
import { PackedAsker } from "../../../src/map/pack/held-check.ts";
import { LIST, listOf, namesOf } from "../../../src/map/pack/name-log.ts";
import { RibbonKernel } from "../../../src/map/pack/pack-kernel.ts";
import { isOlderKey } from "../../../src/map/pack/older-keys.ts";
import { presentKeys } from "../../../src/surt/key.ts";
import { scanPart, type ScanResult } from "../../../src/map/pack/scan-part.ts";
import { buildRibbon } from "../../../src/packed/ribbon.ts";
import { mapHeadOf } from "../../../src/map/lookup/map-head.ts";
import { isMementoMapError } from "../../../src/errors.ts";
import { scratchDir } from "../../support/scratch.ts";
import { encode } from "../map-files.ts";
import { anyMap, runs } from "../lookup/any-map-and-questions.ts";
import { packedBytes } from "./packed-bytes.ts";

const rows = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 300 });

/** A map of many short rows on a few hosts. */
function manyRows(numbers: readonly number[]): string {
  const keys = numbers.map((n) => `com,h${n % 7})/${n % 3 === 0 ? "a/" : ""}p${n}`);
  return [...new Set(keys)]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((key, i) => `${key} ${1 + (i % 5)}\n`)
    .join("");
}

/** A map of few segments in any order and depth, some of them empty, with wildcards: keys have much in common. */
const alike: fc.Arbitrary<string> = fc
  .array(
    fc.record({
      host: fc.constantFrom("a", "a,b", "ab"),
      path: fc.array(fc.constantFrom("", "a", "b", "ab", "a("), { maxLength: 5 }),
      isWildcard: fc.boolean(),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((keys) => {
    const texts = keys.map(({ host, path, isWildcard }) => {
      const segments = isWildcard ? [...path, "*"] : path;
      return `com,${host})/${segments.join("/")}`;
    });
    return [...new Set(texts)]
      .toSorted((a, b) => (a < b ? -1 : 1))
      .map((key) => `${key} 1\n`)
      .join("");
  });

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
      { numRuns: runs(40) },
    );
  });

  it("asks for the rows of a map as TypeScript does, whatever they are", async () => {
    const folder = scratchDir();
    const map = fc.oneof(
      alike,
      rows.map(manyRows),
      anyMap.filter(({ isTimed }) => !isTimed).map(({ text }) => text),
    );
    const size = fc.constantFrom({ bits: 3.5 }, { bits: 9 }, { maxBytes: 900 });
    await fc.assert(
      fc.asyncProperty(map, map, size, async (packed, other, sized) => {
        const file = await packedOrError(packed, sized, folder);
        if (!(file instanceof Uint8Array)) return;
        for (const text of [packed, other]) {
          const [path, bytes] = [join(folder, "asked.ukvs"), encode(text)];
          writeFileSync(path, bytes);
          const { headers, recordsOffset } = mapHeadOf(bytes, path);
          const part = { path, source: path, start: recordsOffset, end: bytes.length };
          const ask = (usesKernel: boolean): unknown =>
            new PackedAsker(file, "map", usesKernel).ask(part, headers.fields);
          expect(ask(true)).toEqual(ask(false));
        }
      }),
      { numRuns: runs(120) },
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

describe("the kernel", () => {
  it("finds the same hosts and names as TypeScript", () => {
    const path = join(scratchDir(), "map.ukvs");
    fc.assert(
      fc.property(
        anyMap,
        fc.boolean(),
        fc.boolean(),
        fc.integer({ min: 0, max: 3 }),
        ({ text }, queries, keepsVoids, partitionBits) => {
          const bytes = encode(text);
          writeFileSync(path, bytes);
          const { headers, recordsOffset } = mapHeadOf(bytes, "map");
          if (headers.fields.keys.length > 1) return;
          const [kernel, plain] = [true, false].map((usesKernel) =>
            scannedOrError({
              path,
              source: "map",
              start: recordsOffset,
              end: bytes.length,
              fields: { ...headers.fields, queries },
              kinds: { queries, keepsVoids },
              partitionBits,
              memoryBytes: 2 ** 24,
              scratch: `${path}.names`,
              usesKernel,
            }),
          );
          expect(kernel).toEqual(plain);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it.each([
    // Lookups find addresses by SURTs with brackets, too.
    ["::1)/", true],
    ["::1:8080)/x", true],
    ["2001:db8::1:ff)/", true],
    [":1)/", false],
    ["2001:db8::1:80,*", true],
    ["4,3,2,::ffff:1)/", true],
    ["[::1]:8080)/x", false],
    ["com,a:8080)/(b)/c", false],
    ["com,a)b)/", true],
    ["com,a)b,*)/x", true],
    ["com,a/b)/", true],
    ["com,a,)/", true],
    [",com)/", true],
    [")/x", true],
    ["com,a)/é", true],
    ["com,a)?x=1", true],
    ["com,a:8080)?x=1", true],
    ["dns:a?x=1", false],
    [",*", true],
    ["com,,*", true],
    ["[::1)b)/", true],
    ["com,a?b)/", true],
    ["com,a)/b/?x=1", true],
    ["com,a)/?x=1", false],
    ["com,a)/b?x=/?y", false],
  ])("knows whether %s is a key of older maps", (key, isOlder) => {
    const path = join(scratchDir(), "map.ukvs");
    const bytes = encode(`${key} 1\n`);
    writeFileSync(path, bytes);
    const fields = { keys: ["surt"], values: ["frequency"], queries: true };
    for (const usesKernel of [true, false]) {
      const { hosts } = scanPart({
        path,
        source: "map",
        start: 0,
        end: bytes.length,
        fields,
        kinds: { queries: true, keepsVoids: true },
        partitionBits: 0,
        memoryBytes: 2 ** 24,
        scratch: `${path}.names`,
        usesKernel,
      });
      expect(hosts.hasOlderKeys).toBe(isOlder);
    }
    expect(isOlderKey(bytes, 0, bytes.length - 3, fields)).toBe(isOlder);
    expect(isOlder || presentKeys(key, { queries: true }).join() === key).toBe(true);
  });

  it("solves ribbons as TypeScript does", () => {
    const kernel = RibbonKernel.open();
    expect(kernel).toBeDefined();
    const word = fc.integer({ min: 0, max: 2 ** 32 - 1 });
    const names = fc.uniqueArray(fc.tuple(word, word, word), {
      selector: ([low]) => low,
      maxLength: 2000,
    });
    fc.assert(
      fc.property(names, fc.integer({ min: 1, max: 32 }), (list, bits) => {
        const column = (index: 0 | 1 | 2): Uint32Array =>
          Uint32Array.from(list, (name) => name[index]);
        const mask = bits === 32 ? -1 : 2 ** bits - 1;
        const entries = {
          count: list.length,
          low: column(0),
          high: column(1),
          values: column(2).map((value) => value & mask),
        };
        expect(kernel?.build(entries, bits)).toEqual(buildRibbon(entries, bits));
      }),
      { numRuns: runs(60) },
    );
    const twice = new Uint32Array(2).fill(7);
    const entries = { count: 2, low: twice, high: twice, values: Uint32Array.of(0, 1) };
    expect(kernel?.build(entries, 4)).toBeUndefined();
  });
});

function scannedOrError(task: Parameters<typeof scanPart>[0]): unknown {
  try {
    return plainResult(scanPart(task), task.partitionBits ?? 0);
  } catch (error) {
    if (!isMementoMapError(error)) throw error;
    return [error.code, error.message, error.position];
  }
}

/** Columns without their spare room, and names without their order. */
function plainResult({ hosts, names, ...rest }: ScanResult, partitionBits: number): unknown {
  const { opaque, ...others } = hosts;
  const lists = Object.values(LIST).flatMap((kind) =>
    Array.from({ length: 2 ** partitionBits }, (_, partition) => {
      if (names === undefined) return [];
      const list = listOf(kind, partitionBits, partition);
      return [...namesOf(names, list)].flatMap((chunk) => [...chunk]);
    }),
  );
  const columns = ["low", "high", "masks", "flags", "rows", "captures"] as const;
  const trimmed = columns.map((name) => [...opaque[name].subarray(0, opaque.count)]);
  return { ...rest, hosts: others, opaque: trimmed, lists };
}
