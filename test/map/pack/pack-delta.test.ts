import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemorySource } from "../../../src/bytes/byte-source.ts";
import { isMementoMapError } from "../../../src/errors.ts";
import { PackedLookup } from "../../../src/map/lookup/packed-lookup.ts";
import {
  packDelta,
  type PackDeltaOptions,
  type PackedDelta,
} from "../../../src/map/pack/pack-delta.ts";
import { OUTCOME, PackedNames } from "../../../src/packed/packed-map.ts";
import { checkPacked, parseParts } from "../../../src/packed/packed-parts.ts";
import { surtKey } from "../../../src/surt/key.ts";
import { LinearReading } from "../../support/linear-reading.ts";
import { scratchDir } from "../../support/scratch.ts";
import {
  type AnyMap,
  anyMap,
  type Question,
  questions,
  runs,
} from "../lookup/any-map-and-questions.ts";
import { encode } from "../map-files.ts";
import { packedBytes } from "./packed-bytes.ts";

/** The delta for a map given as text; undefined for one that holds nothing. */
async function deltaOf(
  bytes: Uint8Array,
  text: string,
  options: Partial<PackDeltaOptions> = {},
): Promise<PackedDelta | undefined> {
  const path = join(scratchDir(), "new.ukvs");
  writeFileSync(path, text);
  const all = { streams: { stdin: process.stdin }, ...options };
  try {
    return await packDelta(path, { bytes, source: "base" }, all);
  } catch (error) {
    if (isMementoMapError(error) && error.code === "MM_EMPTY") return undefined;
    throw error;
  }
}

function joined(...parts: readonly (Uint8Array | undefined)[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts.map((part) => part ?? new Uint8Array(0))));
}

async function packed(text: string, bits: number = 20): Promise<Uint8Array> {
  const file = await packedBytes(text, { bits });
  if (file === undefined) throw new Error("a map that holds something");
  return file;
}

/** What each part says by itself. */
function partsSay(file: Uint8Array, surt: string): boolean {
  return parseParts(file, "file").heads.some((head) => {
    const data = new Uint32Array(file.slice(head.dataStart, head.end).buffer);
    const key = new TextEncoder().encode(surtKey(surt, head.header));
    return new PackedNames(head, "file", { data }).find(key, 0, key.length) === OUTCOME.present;
  });
}

/** A page that each row of a map is about. */
function pagesOf({ text }: AnyMap): Question[] {
  const keys = text.split(/\s*\n\s*/).map((line) => line.split(/\s/, 1)[0]);
  return keys
    .filter((key) => key !== "" && !key.startsWith("!"))
    .map((key) => {
      const page = key.replace(/\/\*$/, "/q/r").replace(/\?\*$/, "?q").replace(/,\*\)/, ",q)");
      return [page.replace(/,\*$/, ",q)/r"), undefined];
    });
}

const bits = fc.constantFrom(undefined, 0, 1.5, 4, 20);

describe("a packed map with deltas", () => {
  it("never says absent of what the newest map holds, and says what its parts say", async () => {
    let deltas = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyMap, { minLength: 2, maxLength: 5 }),
        questions,
        bits,
        async (maps: readonly AnyMap[], asked, bits) => {
          let file = await packedBytes(maps[0].text, { bits });
          if (file === undefined) return;
          let held = [maps[0]];
          for (const map of maps.slice(1)) {
            const next = await deltaOf(file, map.text, { bits, maxDeltas: 3 });
            if (next?.file === undefined) continue;
            const isWhole = next.position === undefined;
            deltas += isWhole ? 0 : 1;
            held = isWhole ? [map] : [...held, map];
            file = isWhole ? next.file : joined(file, next.file);
            await checkPacked(new MemorySource(file));
          }
          const doors = [
            PackedLookup.of(file, "memory"),
            await PackedLookup.open(new MemorySource(file)),
          ];
          for (const [surt, at] of [...asked, ...held.flatMap(pagesOf)]) {
            const [own, read] = await Promise.all(doors.map((door) => door.lookupSurt(surt)));
            expect(read).toEqual(own);
            expect([surt, own.present]).toEqual([surt, partsSay(file, surt)]);
            for (const { text } of held) {
              const isLost = new LinearReading(encode(text)).lookup(surt, at).present;
              expect([surt, at, isLost && !own.present]).toEqual([surt, at, false]);
            }
          }
        },
      ),
      { numRuns: runs(80) },
    );
    expect(deltas).toBeGreaterThan(25);
  });

  it("holds what is new, and what it covers only in part", async () => {
    const base = await packed("com,a)/b 1\ncom,a)/c/d 2\ncom,b)/ 1\n");
    const added = [
      ["com,a)/b 1\ncom,a)/c/d 2\ncom,a)/new 1\n", 1],
      ["com,a)/b 1\ncom,a)/c/d 2\n", 0],
      ["com,a)/c/* 5\n", 1],
      ["com,a,*)/b 5\n", 1],
      ["com,*  5\n", 0],
      ["com,a)/b 1\ncom,n)/ 2\n", 0],
    ] as const;
    for (const [text, rows] of added) {
      const delta = await deltaOf(base, text);
      expect([text, delta?.position, delta?.summary?.rows]).toEqual([text, 1, rows]);
    }
  });

  it("has the newest description, the sum of rows and the most captures of a host", async () => {
    const meta = (day: number): string => `!meta {"updated_at":"2026-01-0${day}T00:00:00Z"}\n`;
    let file = await packed(`${meta(1)}com,a)/b 1\ncom,c)/d 1\n`);
    const next = `${meta(2)}com,a)/b 900\ncom,c)/d 1\ncom,c)/e 6000\n`;
    file = joined(file, (await deltaOf(file, next))?.file);
    const map = PackedLookup.of(file, "memory");
    expect(map.headers.meta?.["updated_at"]).toBe("2026-01-02T00:00:00Z");
    expect([map.keyCount, map.size]).toEqual([4, file.length]);
    for (const [surt, least] of [
      ["com,a)/b", 900],
      ["com,c)/d", 6001],
      ["com,c)/e", 6001],
    ] as const) {
      const { frequency = "" } = await map.lookupSurt(surt);
      expect(Number.parseInt(frequency, 10)).toBeGreaterThanOrEqual(least);
      expect(Number.parseInt(frequency, 10)).toBeLessThan(16_384);
    }
  });

  it("is packed whole when the chain is full, too large, or of another kind", async () => {
    const base = await packed("com,a)/b 1\n");
    const larger = "com,a)/b 1\ncom,a)/c 1\n";
    const delta = await deltaOf(base, larger);
    const pages = Array.from({ length: 70_000 }, (_, i) => `com,a)/c${i + 1e5} 1\n`);
    const large = `com,a)/b 1\ncom,a)/c 1\n${pages.join("")}`;
    const chain = joined(base, delta?.file);
    const reasons = [
      [chain, `${larger}com,a)/d 1\n`, { maxDeltas: 1 }, "as many as it may have"],
      [base, large, {}, "more than a quarter"],
      [
        base,
        `!fields {"keys":["surt"],"values":["frequency"],"queries":true}\n${larger}`,
        {},
        "queries",
      ],
    ] as const;
    for (const [from, text, options, reason] of reasons) {
      const made = await deltaOf(from, text, options);
      expect(made?.position).toBeUndefined();
      expect(made?.reason).toContain(reason);
      const whole = PackedLookup.of(made?.file ?? new Uint8Array(0), "memory");
      expect((await whole.lookupSurt("com,a)/c")).present).toBe(true);
    }
    const same = await deltaOf(chain, larger, { packsUnchanged: false });
    expect(same?.file).toBeUndefined();
  });

  it("is refused by name where a delta is alone, foreign, twice, out of order, damaged or cut", async () => {
    const base = await packed("com,a)/b 1\n");
    const other = await packed("com,a)/b 1\ncom,x)/ 1\n");
    const first = (await deltaOf(base, "com,a)/c 1\n"))?.file;
    const chain = joined(base, first);
    const second = (await deltaOf(chain, "com,a)/d 1\n"))?.file;
    const flipped = joined(chain, second);
    flipped[flipped.length - 1] ^= 1;
    const files = [
      [joined(first), /is a delta: .* put both into one file/],
      [joined(other, first), /delta 1 belongs to another packed map/],
      [joined(chain, first), /delta 2 belongs to another packed map/],
      [joined(base, second), /delta 1 belongs to another packed map/],
      [joined(base, other), /a whole packed map follows/],
      [joined(chain, Uint8Array.of(1, 2, 3)), /bytes follow the last shard/],
      [flipped, /damaged: .*shard/],
      [joined(chain, second).subarray(0, -1), /cut short/],
      [joined(chain, second?.subarray(0, 40)), /cut short/],
    ] as const;
    for (const [file, message] of files) {
      expect(() => PackedLookup.of(file, "memory")).toThrow(message);
      await expect(checkPacked(new MemorySource(file, "memory"))).rejects.toThrow(message);
      await expect(deltaOf(file, "com,z)/ 1\n")).rejects.toThrow(message);
    }
    expect(() => PackedLookup.of(joined(chain, second), "memory")).not.toThrow();
  });
});
