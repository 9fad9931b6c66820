import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ERROR_CODES } from "../../src/errors.ts";

it("documents every error code, and no others, in the order of the list", () => {
  const text = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");
  const documented = Array.from(text.matchAll(/^\| `(MM_[A-Z_]+)` \|/gm), (match) => match[1]);
  expect(documented).toEqual([...ERROR_CODES]);
});
