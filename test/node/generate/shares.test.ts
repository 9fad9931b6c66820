import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contiguousShares, Shares } from "../../../src/node/generate/shares.ts";
import type { Part } from "../../../src/node/generate/tasks.ts";
import { scratchDir } from "../../support/scratch.ts";

function rangesOf(path: string, size: number, count: number): Part[] {
  return Array.from({ length: count }, (_, i) => {
    const [start, end] = [i, i + 1].map((n) => Math.floor((size * n) / count));
    return {
      source: path,
      bytes: end - start,
      task: { kind: "range", path, start, end, format: { name: "cdxj" } },
    };
  });
}

describe("sharing a file among lanes", () => {
  it("keeps every byte in one part, in order, and moves cuts between sites", async () => {
    const path = join(scratchDir(), "index");
    const lines = Array.from({ length: 600 }, (_, i) => {
      const host = `com,h${String(Math.floor(i / 20)).padStart(3, "0")}`;
      return `${host})/${String(i).padStart(4, "0")} 20200101000000 {}\n`;
    });
    const text = lines.join("");
    writeFileSync(path, text);
    for (const [count, lanes] of [
      [8, 2],
      [9, 3],
      [1, 2],
      [2, 3],
    ] as const) {
      const parts = rangesOf(path, text.length, count);
      const shares = await contiguousShares(parts, lanes);
      expect(shares.flat()).toEqual(parts.map((_, i) => i));
      const ranges = parts.flatMap(({ task }) => (task.kind === "range" ? [task] : []));
      expect(ranges[0]?.start).toBe(0);
      expect(ranges.at(-1)?.end).toBe(text.length);
      expect(ranges.slice(1).map(({ start }) => start)).toEqual(
        ranges.slice(0, -1).map(({ end }) => end),
      );
      // A new site begins at each share: its first page is a multiple of 20.
      for (const [first] of shares.filter((share) => share.length > 0)) {
        expect(text.slice(ranges[first]?.start)).toMatch(/^com,h\d+\)\/\d\d[02468]0 /);
      }
    }
  });

  it("hands out every part once, a lane's own first", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 0, max: 40 }),
        fc.array(fc.nat(), { minLength: 1, maxLength: 300 }),
        (lanes, count, turns) => {
          const shares = Array.from({ length: lanes }, (_, lane) =>
            Array.from({ length: count }, (_unused, i) => lane * count + i),
          );
          const hands = new Shares(shares);
          const taken: number[] = [];
          for (const turn of turns) taken.push(...[hands.take(turn % lanes)].filter(isNumber));
          for (let lane = 0; lane < lanes; lane++) {
            for (let n = hands.take(lane); n !== undefined; n = hands.take(lane)) taken.push(n);
          }
          expect(taken.toSorted((a, b) => a - b)).toEqual(
            Array.from({ length: lanes * count }, (_, i) => i),
          );
        },
      ),
    );
  });
});

function isNumber(value: number | undefined): value is number {
  return value !== undefined;
}
