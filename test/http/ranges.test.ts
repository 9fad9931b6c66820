import { describe, expect, it } from "vitest";
import { evaluateRange, type Representation } from "../../src/http/reply.ts";

// All that is looked at.
const found = { body: { size: 1000 } } as unknown as Representation;

describe("Range", () => {
  it.each([
    ["bytes=0-9", { start: 0, end: 10 }],
    ["bytes=990-", { start: 990, end: 1000 }],
    ["bytes=990-5000", { start: 990, end: 1000 }],
    ["bytes=-10", { start: 990, end: 1000 }],
    ["bytes=-5000", { start: 0, end: 1000 }],
    [" Bytes = 0 - 9 , ", { start: 0, end: 10 }],
    ["bytes=1000-", "unsatisfiable"],
    ["bytes=-0", "unsatisfiable"],
    ["bytes=9-0", "whole"],
    ["bytes=0-1,5-6", "whole"],
    ["lines=0-9", "whole"],
    ["bytes=", "whole"],
    ["bytes=a-b", "whole"],
    ["bytes=--1", "whole"],
    [`bytes=${"9".repeat(50)}-`, "whole"],
  ])("reads %j", (range, expected) => {
    expect(evaluateRange({ range }, found)).toEqual(expected);
  });

  it("ignores a header that is too long, in linear time", () => {
    const range = `bytes=1-${" ".repeat(60_000)}x`;
    expect(evaluateRange({ range }, found)).toBe("whole");
  });
});
