import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemorySource } from "../../src/bytes/byte-source.ts";
import { PackedLookup } from "../../src/lookup/packed-lookup.ts";
import { LinearReading } from "../support/linear-reading.ts";
import { scratchDir } from "../support/scratch.ts";
import { encode } from "../maps/map-files.ts";
import { packedBytes } from "./packed-bytes.ts";
import { anyMap, questions } from "../lookup/any-map-and-questions.ts";
import { cases } from "../support/cases.ts";

describe("a packed map", () => {
  it("names the key of each lookup that is under way", async () => {
    const file = await packedBytes("com,a)/* 3\norg,b,c)/x/y 1\n", { bits: 20 });
    const map = PackedLookup.of(file ?? new Uint8Array(), "memory");
    const answers = await Promise.all([
      map.lookup("http://a.com/1"),
      map.lookup("http://c.b.org/x/y"),
    ]);
    expect(answers.map(({ key }) => key)).toEqual(["com,a)/*", "org,b,c)/x/y"]);
  });

  it.each(["* 5\n", "com,a)/ 1\n", "com,a)/ 1\ncom,b)/x 2\n"])(
    "keeps to any size that a map of few rows fits into: %j",
    async (text) => {
      const { length } = (await packedBytes(text, { bits: 0 })) ?? new Uint8Array(0);
      expect((await packedBytes(text, { maxBytes: length }))?.length).toBe(length);
      const larger = await packedBytes(text, { maxBytes: length + 100 });
      expect(larger?.length).toBeLessThanOrEqual(length + 100);
      await expect(packedBytes(text, { maxBytes: length - 1 })).rejects.toMatchObject({
        code: "MM_BUDGET",
      });
    },
  );

  it.each([900, 1100, 1300, 1500])("fills %d bytes with home pages alone", async (maxBytes) => {
    const hosts = Array.from({ length: 10_000 }, (_, i) => `com,h${10_000 + i})/ 1\n`);
    const file = await packedBytes(hosts.join(""), { maxBytes });
    // An eighth of a bit of each is 161 bytes; plans assume a larger head.
    expect(file?.length).toBeLessThanOrEqual(maxBytes);
    expect(file?.length).toBeGreaterThan(maxBytes - 800);
  });

  it("never says absent of what the map holds", async () => {
    const bits = fc.oneof(
      fc.constant(undefined),
      fc.integer({ min: 0, max: 100 }).map((n) => n / 8),
    );
    const folder = scratchDir();
    await fc.assert(
      fc.asyncProperty(anyMap, questions, bits, async ({ text }, asked, bits) => {
        const linear = new LinearReading(encode(text));
        const file = await packedBytes(text, { bits }, folder);
        if (file === undefined) return;
        const doors = [
          PackedLookup.of(file, "memory"),
          await PackedLookup.open(new MemorySource(file)),
        ];
        for (const [surt, at] of asked) {
          const [held, read] = await Promise.all(
            doors.map((door) => door.lookupSurt(surt, { at })),
          );
          expect(read).toEqual(held);
          const isLost = linear.lookup(surt, at).present && !held.present;
          expect([surt, at, isLost]).toEqual([surt, at, false]);
        }
      }),
      { numRuns: cases(120) },
    );
  });
});
