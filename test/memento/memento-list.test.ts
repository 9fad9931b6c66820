import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Memento, MementoList } from "../../src/memento/memento-list.ts";

const mementos: fc.Arbitrary<Memento[]> = fc.array(
  fc.record({
    uri: fc.oneof(fc.webUrl(), fc.string({ unit: "grapheme" }), fc.string({ minLength: 900 })),
    datetime: fc.integer({ min: 0, max: 99_991_231_235_959 }),
  }),
  { maxLength: 40 },
);

describe("MementoList", () => {
  it("gives what was added, also to lists that grow side by side", () => {
    fc.assert(
      fc.property(mementos, mementos, (a, b) => {
        const first = new MementoList();
        const second = new MementoList();
        for (let i = 0; i < Math.max(a.length, b.length); i++) {
          if (a[i] !== undefined) first.add(a[i].uri, a[i].datetime);
          if (b[i] !== undefined) second.add(b[i].uri, b[i].datetime);
        }
        expect([...first]).toEqual(a);
        expect([...second]).toEqual(b);
        first.append(second);
        expect([...first]).toEqual([...a, ...b]);
        expect(first.count).toBe(a.length + b.length);
      }),
    );
  });

  it("knows whether it is sorted", () => {
    fc.assert(
      fc.property(mementos, (all) => {
        const list = MementoList.of(all);
        const isSorted = all.every(({ datetime }, i) => datetime >= (all[i - 1]?.datetime ?? 0));
        expect(list.isSorted).toBe(isSorted);
      }),
    );
  });

  it("tells the same URIs from others, byte for byte", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4 }), fc.uint8Array({ maxLength: 4 }), (a, b) => {
        const list = new MementoList();
        list.addBytes(a, 0, a.length, 0);
        list.addBytes(b, 0, b.length, 0);
        const isSame = Buffer.compare(a, b) === 0;
        expect(list.uriIdentityAt(0) === list.uriIdentityAt(1)).toBe(isSame);
        expect(list.uriLengthAt(1)).toBe(b.length);
      }),
      { numRuns: 300 },
    );
  });
});
