import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  commonPrefix,
  compareBytes,
  compareWithin,
  commonPrefixWithin,
  equalWithin,
} from "../../src/bytes/bytes.ts";

/** Few letters, so that long beginnings are shared; some above 0x7f, where signs would show. */
const key = fc.array(fc.constantFrom(0x61, 0x61, 0x61, 0x62, 0x7f, 0x80, 0xff), { maxLength: 12 });

describe("compareWithin, commonPrefixWithin and equalWithin", () => {
  it("agree with comparing byte by byte", () => {
    fc.assert(
      fc.property(key, key, fc.nat({ max: 5 }), (left, right, gap) => {
        const filler = Array.from({ length: gap }, () => 0);
        const bytes = Uint8Array.from([...filler, ...left, ...filler, ...right]);
        const view = new DataView(bytes.buffer);
        const rightStart = gap * 2 + left.length;
        const ranges = [gap, gap + left.length, rightStart, bytes.length] as const;
        const [from, to, ...others] = ranges;
        const order = compareWithin(view, ...ranges);
        const expected = compareBytes(Uint8Array.from(left), Uint8Array.from(right));
        expect(Math.sign(order)).toBe(Math.sign(expected));
        expect(equalWithin(view, ...ranges)).toBe(expected === 0);
        const shared = commonPrefix(bytes, from, to, bytes, ...others);
        expect(commonPrefixWithin(view, ...ranges)).toBe(shared);
      }),
      { numRuns: 2000 },
    );
  });
});
