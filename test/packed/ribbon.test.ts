import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRibbon, ribbonValue } from "../../src/packed/ribbon.ts";

const word = fc.integer({ min: 0, max: 2 ** 32 - 1 });

describe("a ribbon", () => {
  it("gives every name its value, and the same bytes for the same names", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(word, word, word), {
          selector: ([a, b]) => `${a} ${b}`,
          maxLength: 3000,
        }),
        fc.integer({ min: 1, max: 32 }),
        fc.integer({ min: 0, max: 32 }),
        (names, bits, checked) => {
          const checkedBits = Math.min(bits, checked);
          const mask = bits === 32 ? 0xffffffff : 2 ** bits - 1;
          const entries = {
            count: names.length,
            low: Uint32Array.from(names, ([low]) => low),
            high: Uint32Array.from(names, ([, high]) => high),
            values: Uint32Array.from(names, ([, , value]) => (value & mask) >>> 0),
          };
          const { words, slots, seed } = buildRibbon(entries, bits);
          expect(buildRibbon(entries, bits).words).toEqual(words);
          names.forEach(([low, high], i) => {
            const value = entries.values[i];
            const rest = checkedBits === 32 ? 0 : value >>> checkedBits;
            expect(
              ribbonValue(
                words,
                Int32Array.of(0, slots, seed),
                0,
                bits,
                low,
                high,
                checkedBits,
                value,
              ) >>> 0,
            ).toBe(rest);
          });
        },
      ),
      { numRuns: 60 },
    );
  });

  it("takes a name twice, and few slots for each of many names", () => {
    const count = 8192;
    const low = new Uint32Array(count).map((_, i) => Math.imul(i, 0x9e3779b1));
    const high = new Uint32Array(count).map((_, i) => Math.imul(i ^ 0x5bd1e995, 0x85ebca6b));
    low[1] = low[0];
    high[1] = high[0];
    const { slots } = buildRibbon({ count, low, high, values: new Uint32Array(count) }, 8);
    expect(slots / count).toBeLessThan(1.06);
  });

  it("mistakes other names about once in 2^bits", () => {
    const count = 4000;
    const names = (from: number): [Uint32Array, Uint32Array] => [
      new Uint32Array(count).map((_, i) => Math.imul(from + i, 0x9e3779b1) ^ (from + i)),
      new Uint32Array(count).map((_, i) => Math.imul(from + i + 77, 0x85ebca6b)),
    ];
    const [low, high] = names(1);
    const values = low.map((a, i) => (a ^ high[i]) & 0xff);
    const { words, slots, seed } = buildRibbon({ count, low, high, values }, 8);
    const [otherLow, otherHigh] = names(1_000_000);
    let mistaken = 0;
    for (let i = 0; i < count; i++) {
      const check = otherLow[i] ^ otherHigh[i];
      if (
        ribbonValue(
          words,
          Int32Array.of(0, slots, seed),
          0,
          8,
          otherLow[i],
          otherHigh[i],
          8,
          check,
        ) === 0
      )
        mistaken++;
    }
    expect(mistaken).toBeGreaterThan(4);
    expect(mistaken).toBeLessThan(40);
  });
});
