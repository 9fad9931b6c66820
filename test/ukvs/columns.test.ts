import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { compareBytes } from "../../src/bytes/bytes.ts";
import { columnEnd, columnsEnd, compareColumns, formatRecord } from "../../src/ukvs/record.ts";

const encoder = new TextEncoder();
const twoKeys = { keys: ["a", "b"], values: [] };

function endOf(text: string): number {
  const bytes = encoder.encode(text);
  return columnEnd(bytes, 0, bytes.length);
}

describe("columnEnd", () => {
  it.each([
    ["com,cnn)/ 5", 9],
    ["com,cnn)/\t5", 9],
    ["com,cnn)/", 9],
    ['"a b" c', 5],
    ['"a \\" b" c', 8],
    ['"a\\\\" c', 5],
    ['"a b', 4],
    ['"a\\', 3],
    ['a"b c', 3],
  ])("finds the end of the first column of %j at %d", (text, expected) => {
    expect(endOf(text)).toBe(expected);
  });
});

describe("columnsEnd", () => {
  it.each([
    ["a  b c", 2, 4],
    ["a b", 2, 3],
    ["a b", 3, -1],
    ["a  ", 2, -1],
    ["", 1, -1],
  ])("of %j after %d columns is %d", (text, count, expected) => {
    const bytes = encoder.encode(text);
    expect(columnsEnd(bytes, 0, bytes.length, count)).toBe(expected);
  });
});

describe("compareColumns", () => {
  const column = fc.string({ unit: fc.constantFrom("a", "b", "!", "~", "é") });
  const pair = fc.tuple(column, column);

  it("orders as whole lines with single spaces are ordered, however many blanks there are", () => {
    fc.assert(
      fc.property(pair, pair, fc.constantFrom(" ", "   ", "\t"), (left, right, blanks) => {
        const [a, b] = [left, right].map((keys) =>
          formatRecord({ keys, values: [] }, twoKeys).split(" "),
        );
        const single = [a, b].map((keys) => encoder.encode(keys?.join(" ")));
        const spaced = [a?.join(blanks), b?.join(" \t")].map((line) => encoder.encode(line));
        const [x = new Uint8Array(), y = new Uint8Array()] = spaced;
        expect(Math.sign(compareColumns(x, 0, x.length, y, 0, y.length))).toBe(
          Math.sign(compareBytes(single[0] ?? x, single[1] ?? y)),
        );
      }),
      { numRuns: 500 },
    );
  });
});
