import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { isPlainText } from "../../src/bytes/bytes.ts";

/** Mostly printable, so that a whole array often is, with the bytes at the edges of the classes. */
const byte = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 0x20, max: 0x7e }) },
  { weight: 2, arbitrary: fc.constantFrom(0x09, 0x0a) },
  { weight: 1, arbitrary: fc.constantFrom(0x00, 0x0d, 0x1f, 0x7f, 0x80, 0x81, 0xff) },
);

describe("isPlainText", () => {
  it("agrees with looking at every byte, wherever the range begins and ends", () => {
    fc.assert(
      fc.property(
        fc.array(byte, { maxLength: 24 }),
        fc.nat({ max: 5 }),
        fc.nat({ max: 5 }),
        fc.nat({ max: 5 }),
        (values, offset, before, after) => {
          const buffer = Uint8Array.from([...Array.from({ length: offset }, () => 0), ...values]);
          const bytes = buffer.subarray(offset);
          const start = Math.min(before, bytes.length);
          const end = Math.max(start, bytes.length - after);
          const text = String.fromCharCode(...bytes.subarray(start, end));
          const next = String.fromCharCode(...bytes.subarray(end, end + 1));
          const isPlain = /^(?:[ -~\t\n]|\r\n)*$/.test(text.endsWith("\r") ? text + next : text);
          expect(isPlainText(bytes, start, end)).toBe(isPlain);
        },
      ),
      { numRuns: 5000 },
    );
  });

  it("finds each byte that is not plain in each place of a word", () => {
    for (let value = 0; value < 256; value++) {
      const isPlain = value === 9 || value === 10 || (value >= 0x20 && value < 0x7f);
      for (let place = 0; place < 8; place++) {
        const bytes = new Uint8Array(8).fill(0x61);
        bytes[place] = value;
        expect(isPlainText(bytes, 0, 8), `byte ${value} at ${place}`).toBe(isPlain);
      }
    }
  });
});
