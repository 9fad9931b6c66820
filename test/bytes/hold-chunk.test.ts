import fc from "fast-check";
import { expect, it } from "vitest";
import { joinBytes } from "../../src/bytes/bytes.ts";
import { holdChunk } from "../../src/bytes/hold-chunk.ts";

it("holds all chunks in their order, and few of them however short they are", () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 6000 }), { maxLength: 40 });
  fc.assert(
    fc.property(lengths, fc.nat({ max: 3000 }), (some, single) => {
      const chunks = [...some, ...Array<number>(single).fill(1), ...some].map((length, at) =>
        new Uint8Array(length).fill(at),
      );
      const held: Uint8Array[] = [];
      for (const chunk of chunks) holdChunk(held, chunk);
      expect(Buffer.compare(joinBytes(held), joinBytes(chunks))).toBe(0);
      expect(held.length).toBeLessThanOrEqual(2 * some.length + 13);
    }),
    { numRuns: 50 },
  );
});

it("leaves a chunk as it is that is the only one, or long", () => {
  const chunks = [new Uint8Array(1), new Uint8Array(5000)];
  const held: Uint8Array[] = [];
  for (const chunk of chunks) holdChunk(held, chunk);
  expect(held.map((chunk, at) => chunk === chunks[at])).toEqual([true, true]);
});
