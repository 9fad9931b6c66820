import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { isMementoMapError } from "../../src/errors.ts";
import {
  addFrequencies,
  formatFrequency,
  type Frequency,
  frequencyIsZero,
  FrequencySum,
  isPresent,
  MAX_FREQUENCY_BYTES,
  tryParseFrequency,
} from "../../src/ukvs/frequency.ts";
import { frequency } from "./frequency-arbitraries.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Rows as they stand in a file: with bytes before and after that must not be read. */
function addText(sum: FrequencySum, text: string): void {
  const bytes = encoder.encode(`9/${text}9/9`);
  sum.addBytes(bytes, 2, bytes.length - 3);
}

function tryAddText(text: string): Frequency | undefined {
  const sum = new FrequencySum();
  try {
    addText(sum, text);
  } catch (error) {
    if (isMementoMapError(error) && error.code === "MM_BAD_FREQUENCY") return undefined;
    throw error;
  }
  return sum.toFrequency();
}

function written(sum: FrequencySum): string {
  const target = new Uint8Array(MAX_FREQUENCY_BYTES + 3);
  return decoder.decode(target.subarray(3, sum.writeTo(target, 3)));
}

const grammarText = fc
  .array(fc.constantFrom("0", "00", "7", "12", "+", "-", "~", "/", "x", " "), { maxLength: 5 })
  .map((parts) => parts.join(""));

describe("FrequencySum", () => {
  it("equals addFrequencies, however the rows come in", () => {
    fc.assert(
      fc.property(fc.array(frequency, { minLength: 1 }), fc.nat(), (rows, cut) => {
        const expected = rows.reduce(addFrequencies);
        const whole = new FrequencySum();
        const left = new FrequencySum();
        const right = new FrequencySum();
        for (const [index, row] of rows.entries()) {
          whole.add(row);
          addText(index < cut % (rows.length + 1) ? left : right, formatFrequency(row));
        }
        left.addSum(right);
        for (const sum of [whole, left]) {
          expect(sum.toFrequency()).toEqual(expected);
          expect(written(sum)).toBe(formatFrequency(expected));
          expect(sum.isPresent).toBe(isPresent(expected));
          expect(sum.isEmpty).toBe(false);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("reads and refuses the same texts as parseFrequency", () => {
    fc.assert(
      fc.property(grammarText, (text) => {
        expect(tryAddText(text)).toEqual(tryParseFrequency(text));
      }),
      { numRuns: 2000 },
    );
  });

  it("reads as 0 while empty, and after a reset", () => {
    const sum = new FrequencySum();
    expect(written(sum)).toBe("0");
    addText(sum, "5/2");
    expect(written(sum)).toBe("5/2");
    sum.reset();
    expect(sum.isEmpty).toBe(true);
    expect(sum.isPresent).toBe(false);
    expect(written(sum)).toBe("0");
    sum.addInteger(3);
    expect(written(sum)).toBe("3");
  });

  it("writes the longest frequency in the room it asks for", () => {
    const text = "9007199254740991~/9007199254740991~";
    const sum = new FrequencySum();
    addText(sum, text);
    expect(text).toHaveLength(MAX_FREQUENCY_BYTES);
    expect(written(sum)).toBe(text);
    expect(() => sum.writeTo(new Uint8Array(MAX_FREQUENCY_BYTES), 1)).toThrow(
      expect.objectContaining({ code: "MM_LIMIT" }),
    );
  });

  it("refuses counts that no number can hold; sums are at least the largest", () => {
    const sum = new FrequencySum();
    expect(() => addText(sum, "9007199254740992")).toThrow(
      expect.objectContaining({ code: "MM_BAD_FREQUENCY" }),
    );
    sum.addInteger(Number.MAX_SAFE_INTEGER);
    addText(sum, "1/7");
    expect(written(sum)).toBe("9007199254740991+/7+");
  });
});

function isZero(text: string): boolean {
  const bytes = encoder.encode(`0${text}0`);
  return frequencyIsZero(bytes, 1, bytes.length - 1);
}

describe("frequencyIsZero", () => {
  it.each(["0", "00", "0/20", "0+", "0-", "0~", "0~/", "0/"])("holds for %s", (text) => {
    expect(isZero(text)).toBe(true);
  });

  it.each(["/", "/50", "/0", "1", "01", "10", "", "0x", "0.5", "0 "])("fails for %j", (text) => {
    expect(isZero(text)).toBe(false);
  });

  it("is the opposite of isPresent", () => {
    fc.assert(
      fc.property(frequency, (f) => {
        expect(isZero(formatFrequency(f))).toBe(!isPresent(f));
      }),
    );
  });
});
