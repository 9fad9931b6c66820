import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineTally } from "../../src/harvest/harvest-page.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("LineTally", () => {
  it("counts the same however the text is cut", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[ab\n]{0,9}$/)), (parts) => {
        const tally = new LineTally(1000, "test");
        for (const part of parts) tally.add(bytes(part));
        const lines = parts.join("").split("\n");
        expect(tally.lines).toBe(lines.length - 1);
        expect(tally.isWithinLine).toBe(lines.at(-1) !== "");
      }),
    );
  });

  /** Adds a text in pieces of a size, to a tally that lets lines have three bytes. */
  function add(text: string, size: number): LineTally {
    const tally = new LineTally(3, "test");
    for (let at = 0; at < text.length; at += size) tally.add(bytes(text.slice(at, at + size)));
    return tally;
  }

  it.each([1, 2, 100])("does not count the end of a line as its length, %i at a time", (size) => {
    expect(add("abc\n", size).lines).toBe(1);
    expect(add("abc\r\nabc\r", size).lines).toBe(1);
  });

  it.each([
    ["a\nabcde\n", 2],
    ["a\nb\nabcde", 3],
  ])("refuses a line that is too long: %j", (text, line) => {
    for (const size of [1, 2, 100]) {
      expect(() => add(text, size)).toThrow(
        expect.objectContaining({ code: "MM_LIMIT", position: { source: "test", line } }),
      );
    }
  });
});
