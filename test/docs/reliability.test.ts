import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const PAGE = readFileSync(new URL("docs/reliability.md", ROOT), "utf8");
const NAMED = Array.from(PAGE.matchAll(/`(test\/[^`]+\.ts)`/g), ([, path = ""]) => path);

it("names a test for every guarantee, and only tests that exist", () => {
  const [guarantees = ""] = /## Guarantees[^]*?(?=\n## )/.exec(PAGE) ?? [];
  const rows = guarantees.split("\n").filter((line) => /^\| (?!guarantee )/.test(line));
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((row) => !/\| `test\/[^|]*\.test\.ts` \|$/.test(row))).toEqual([]);
  expect(NAMED.filter((path) => !existsSync(fileURLToPath(new URL(path, ROOT))))).toEqual([]);
});

it("names every test of faults", () => {
  const tests = readdirSync(new URL("test/faults", ROOT))
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => `test/faults/${name}`);
  expect(tests.filter((path) => !NAMED.includes(path))).toEqual([]);
});
