import { formatAmount } from "../../src/format.ts";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../support/code-blocks.ts";

const NOUNS =
  "pages|lines|rows|records|archives|requests|searches|files|maps|headers|errors|warnings";
/** A number in a template, and a plural behind it that does not go by the number. */
const FIXED_PLURAL = new RegExp(`\\$\\{[^}]*\\}\\)? (?:${NOUNS})\\b`);
/** Numbers that are never 1, and what other programs write so. */
const KNOWN = [
  /MAX_\w+\} /,
  /=> Success: /,
  /formatShort\(/,
  /formatCount\(Math/,
  /wanted\} /,
  /num_rows/,
];

describe("amounts in messages", () => {
  it("go by the number", () => {
    expect(formatAmount(1, "page")).toBe("1 page");
    expect(formatAmount(0, "page")).toBe("0 pages");
    expect(formatAmount(1200, "search", "searches")).toBe("1,200 searches");
  });

  it("are written by one function wherever there is a number", () => {
    const found = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !path.startsWith("server/page"))
      .flatMap((path) => {
        const lines = readFileSync(join(ROOT, "src", path), "utf8").split("\n");
        return lines.flatMap((line, i) =>
          FIXED_PLURAL.test(line) && !KNOWN.some((known) => known.test(line))
            ? [`${path}:${i + 1}: ${line.trim()}`]
            : [],
        );
      });
    expect(found).toEqual([]);
  });
});
