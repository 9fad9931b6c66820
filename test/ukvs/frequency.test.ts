import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  addFrequencies,
  formatFrequency,
  isPresent,
  parseFrequency,
  tryParseFrequency,
} from "../../src/ukvs/frequency.ts";
import { frequency } from "./frequency-arbitraries.ts";

describe("parseFrequency", () => {
  it.each([
    ["0", { mementos: { value: 0, bound: "exact" } }],
    ["007", { mementos: { value: 7, bound: "exact" } }],
    ["10000+", { mementos: { value: 10000, bound: "atLeast" } }],
    ["200/", { mementos: { value: 200, bound: "exact" } }],
    ["/50", { originals: { value: 50, bound: "exact" } }],
    ["/50+", { originals: { value: 50, bound: "atLeast" } }],
    ["/", {}],
    [
      "2500~/900",
      { mementos: { value: 2500, bound: "about" }, originals: { value: 900, bound: "exact" } },
    ],
    [
      "300+/20-",
      { mementos: { value: 300, bound: "atLeast" }, originals: { value: 20, bound: "atMost" } },
    ],
    ["9007199254740991", { mementos: { value: Number.MAX_SAFE_INTEGER, bound: "exact" } }],
  ])("reads %s", (text, expected) => {
    expect(parseFrequency(text)).toEqual(expected);
  });

  it.each(["", "1.5", "-3", "+3", "1_000", "1e3", "0x10", "~", "+", "1/2/3", "1//2", " 1", "1 "])(
    "refuses %j",
    (text) => {
      expect(() => parseFrequency(text)).toThrow(
        expect.objectContaining({ code: "MM_BAD_FREQUENCY" }),
      );
      expect(tryParseFrequency(text)).toBeUndefined();
    },
  );

  it("refuses digits of other scripts and line ends", () => {
    for (const text of ["٣", "1\n", "１"]) expect(tryParseFrequency(text)).toBeUndefined();
  });

  it("names a count that no number can hold", () => {
    expect(() => parseFrequency("3/9007199254740992")).toThrow(
      expect.objectContaining({
        code: "MM_BAD_FREQUENCY",
        message: expect.stringContaining("9007199254740992"),
      }),
    );
  });

  it("reads back what formatFrequency writes", () => {
    fc.assert(
      fc.property(frequency, (f) => {
        expect(parseFrequency(formatFrequency(f))).toEqual(f);
      }),
    );
  });
});

describe("formatFrequency", () => {
  it.each([
    ["200/", "200"],
    ["0007+/", "7+"],
    ["/", "/"],
    ["/5", "/5"],
  ])("writes %s as %s", (text, expected) => {
    expect(formatFrequency(parseFrequency(text))).toBe(expected);
  });

  it.each([-1, 1.5, Number.NaN, 2 ** 53])("refuses the count %d", (value) => {
    expect(() => formatFrequency({ mementos: { value, bound: "exact" } })).toThrow(
      expect.objectContaining({ code: "MM_BAD_FREQUENCY" }),
    );
  });
});

describe("addFrequencies", () => {
  it.each([
    ["2", "3", "5"],
    ["2", "3+", "5+"],
    ["2+", "3+", "5+"],
    ["2", "3-", "5-"],
    ["2-", "3-", "5-"],
    ["2+", "3-", "5~"],
    ["2", "3~", "5~"],
    ["2~", "3~", "5~"],
    ["2/1", "3/2+", "5/3+"],
    ["2/1", "3", "5/1+"],
    ["/", "3", "3+"],
    ["/", "3+", "3+"],
    ["/", "3-", "3~"],
    ["/", "3~", "3~"],
    ["/", "/", "/"],
    ["/", "0", "/"],
    ["/", "0~", "/"],
    ["/4", "/5", "/9"],
    ["/4", "5", "5+/4+"],
    ["0/20", "5/3", "5/23"],
    ["0", "0", "0"],
    ["0-", "5", "5"],
    ["0~", "5", "5+"],
    ["0+", "5", "5+"],
  ])("%s and %s make %s", (a, b, sum) => {
    expect(formatFrequency(addFrequencies(parseFrequency(a), parseFrequency(b)))).toBe(sum);
  });

  it("is commutative", () => {
    fc.assert(
      fc.property(frequency, frequency, (a, b) => {
        expect(addFrequencies(a, b)).toEqual(addFrequencies(b, a));
      }),
    );
  });

  it("is associative", () => {
    fc.assert(
      fc.property(frequency, frequency, frequency, (a, b, c) => {
        expect(addFrequencies(addFrequencies(a, b), c)).toEqual(
          addFrequencies(a, addFrequencies(b, c)),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it("is present where either part is", () => {
    fc.assert(
      fc.property(frequency, frequency, (a, b) => {
        expect(isPresent(addFrequencies(a, b))).toBe(isPresent(a) || isPresent(b));
      }),
    );
  });

  it("says at least the largest number of a sum that no number can hold", () => {
    const most = parseFrequency("9007199254740991-/1");
    const sum = addFrequencies(most, parseFrequency("9007199254740991/2"));
    expect(formatFrequency(sum)).toBe("9007199254740991~/3");
  });
});

describe("isPresent", () => {
  it.each([
    ["0", false],
    ["0/20", false],
    ["0+", false],
    ["1", true],
    ["/", true],
    ["/50", true],
  ])("of %s is %s", (text, expected) => {
    expect(isPresent(parseFrequency(text))).toBe(expected);
  });
});
