import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { ROOT } from "../support/code-blocks.ts";

it("npm start shows a tour that fits a terminal, and misses no held page", () => {
  const shown = execFileSync("npx", ["tsx", "examples/tour.ts"], { cwd: ROOT, encoding: "utf8" });
  // The length of the line with the path of this checkout depends on that path.
  const lines = shown.split("\n").filter((line) => !line.includes("mementomap() {"));
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  const found = /both find (\d+) of the (\d+) held pages \(recall 1\)/u.exec(shown);
  expect(found?.[1]).toBe(found?.[2]);
  expect(Number(found?.[1])).toBeGreaterThan(0);
  // A packed map is much smaller than a compacted one.
  const megabytes = (name: string): number =>
    Number(new RegExp(`${name} +([0-9.]+) MB`, "u").exec(shown)?.[1]);
  expect(megabytes("map.packed")).toBeLessThan(megabytes("compact.ukvs") / 10);
});
