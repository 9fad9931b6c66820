import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RowInserter } from "../../../../src/map/compact/budget/budget-compaction.ts";

const key = fc
  .array(fc.constantFrom("a", "b", "a-b", ")/x", ",", "*", "/", "!"), {
    minLength: 1,
    maxLength: 5,
  })
  .map((parts) => parts.join(""));
const keys = fc.uniqueArray(key, { maxLength: 40 }).map((all) => all.toSorted(byBytes));

function byBytes(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function bytes(rows: readonly string[]): Uint8Array {
  return Buffer.from(rows.map((row) => `${row}\n`).join(""));
}

describe("RowInserter", () => {
  it("gives all rows in order, those of the map where both have a key, for any blocks", () => {
    fc.assert(
      fc.property(keys, keys, fc.integer({ min: 1, max: 10 }), (held, own, lines) => {
        const inserter = new RowInserter(own.map((text) => bytes([`${text} 0`])));
        const written: Uint8Array[] = [];
        for (let at = 0; at < held.length; at += lines) {
          const block = bytes(held.slice(at, at + lines).map((text) => `${text} 12`));
          written.push(inserter.insertInto(block));
        }
        written.push(inserter.rest());
        const expected = [
          ...held.map((text) => [text, "12"] as const),
          ...own.filter((text) => !held.includes(text)).map((text) => [text, "0"] as const),
        ].toSorted(([a], [b]) => byBytes(a, b));
        expect(Buffer.concat(written).toString()).toBe(
          expected.map((row) => `${row.join(" ")}\n`).join(""),
        );
      }),
    );
  });
});
