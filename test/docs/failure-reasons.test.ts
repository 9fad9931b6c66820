import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { FAILURE_REASONS } from "../../src/http/retry.ts";

it("explains every reason why an archive may be missing", () => {
  const text = readFileSync(new URL("../../docs/aggregating.md", import.meta.url), "utf8");
  const [, section = ""] = /\n### Why an archive is missing\n([^]*?)\n### /.exec(text) ?? [];
  const words = Array.from(section.matchAll(/^\| `([\w-]+)` \|/gm), ([, word]) => word);
  expect(words.filter((word) => word !== "pending" && word !== "status-500").sort()).toEqual(
    [...FAILURE_REASONS].sort(),
  );
});
