import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { compareBytes, compareWithin } from "../../src/bytes/bytes.ts";

/** Few letters, so that long beginnings are shared; some above 0x7f, where signs would show. */
const key = fc.array(fc.constantFrom(0x61, 0x61, 0x61, 0x62, 0x7f, 0x80, 0xff), { maxLength: 12 });

describe("compareWithin", () => {
  it("agrees with comparing byte by byte", () => {
    fc.assert(
      fc.property(key, key, fc.nat({ max: 5 }), (left, right, gap) => {
        const filler = Array.from({ length: gap }, () => 0);
        const bytes = Uint8Array.from([...filler, ...left, ...filler, ...right]);
        const view = new DataView(bytes.buffer);
        const rightStart = gap * 2 + left.length;
        const order = compareWithin(view, gap, gap + left.length, rightStart, bytes.length);
        const expected = compareBytes(Uint8Array.from(left), Uint8Array.from(right));
        expect(Math.sign(order)).toBe(Math.sign(expected));
      }),
      { numRuns: 2000 },
    );
  });
});
