import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { requiredLiterals } from "../../src/input/filter.ts";

function compiled(source: string): RegExp | undefined {
  try {
    return new RegExp(source, "i");
  } catch {
    return undefined;
  }
}

describe("the literals that a regular expression requires", () => {
  it.each<[string, readonly string[] | undefined]>([
    ["robots", ["robots"]],
    ["ROBOTS\\.txt$", ["robots.txt"]],
    ["/(robots\\.txt|sitemap\\.xml)([?#]|$)", ["robots.txt", "sitemap.xml"]],
    ["(?:abc|def)+", ["abc", "def"]],
    ["abc?def", ["def"]],
    ["abcd+ef", ["abcd"]],
    ["abcd{2}", ["abcd"]],
    ["abcd{0,2}", ["abc"]],
    ["[xyz]session=\\d+", ["session="]],
    ["(abcdef)?xyz", ["xyz"]],
    ["abc|d", undefined],
    ["abc|", undefined],
    ["ab", undefined],
    [".*", undefined],
    ["", undefined],
    ["(?!abc)", undefined],
    ["(?<!abc)def", undefined],
    ["(?<name>abc)", undefined],
    ["\\x41bcd", undefined],
    ["(abc)\\1", undefined],
    ["abc{", undefined],
    ["caf\u00e9", undefined],
  ])("%s", (pattern, literals) => {
    expect(requiredLiterals(pattern)).toEqual(literals);
  });

  it("are in every string that matches", () => {
    const pattern = fc
      .array(
        fc.constantFrom(
          ...Array.from("aBcdaBcd"),
          ...Array.from("()|.*+?[]^$\\{}-,12"),
          "(?:",
          "\\.",
          "\\d",
          "abc",
          "{2}",
          "{0,1}",
          "[ab]",
        ),
        { maxLength: 14 },
      )
      .map((parts) => parts.join(""));
    const text = fc.string({ unit: fc.constantFrom(...Array.from("abcdABCD.1")), maxLength: 12 });
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 20, maxLength: 20 }), (source, texts) => {
        const regexp = compiled(source);
        const literals = requiredLiterals(source);
        fc.pre(regexp !== undefined && literals !== undefined);
        for (const candidate of texts) {
          if (!regexp.test(candidate)) continue;
          const lower = candidate.toLowerCase();
          expect(literals.some((literal) => lower.includes(literal))).toBe(true);
        }
      }),
      { numRuns: 2000, maxSkipsPerRun: 1000 },
    );
  });
});
