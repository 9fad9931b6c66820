import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { KeyCuts } from "../../../src/map/generate/read-all.ts";
import type { Part, RangeTask } from "../../../src/input/index-input.ts";
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

function cutRanges(parts: readonly Part[], order: readonly number[]): RangeTask[] {
  const cuts = new KeyCuts(parts);
  const ranges: RangeTask[] = [];
  for (const n of order) {
    ranges[n] = cuts.part(n).task as RangeTask;
  }
  cuts.close();
  return ranges;
}

describe("cuts between keys", () => {
  it("keep every byte in one part, in order, and have a new host behind them", () => {
    const path = join(scratchDir(), "index");
    const lines = Array.from({ length: 600 }, (_, i) => {
      const host = `com,h${String(Math.floor(i / 20)).padStart(3, "0")}`;
      return `${host})/${String(i).padStart(4, "0")} 20200101000000 {}\n`;
    });
    const text = lines.join("");
    writeFileSync(path, text);
    for (const count of [1, 2, 8, 9]) {
      const order = Array.from({ length: count }, (_, i) => i);
      const parts = rangesOf(path, text.length, count);
      const ranges = cutRanges(parts, order);
      expect(cutRanges(parts, order.toReversed())).toEqual(ranges);
      expect(ranges[0]?.start).toBe(0);
      expect(ranges.at(-1)?.end).toBe(text.length);
      expect(ranges.slice(1).map(({ start }) => start)).toEqual(
        ranges.slice(0, -1).map(({ end }) => end),
      );
      // A new host begins with a multiple of 20.
      for (const { start } of ranges) {
        expect(text.slice(start)).toMatch(/^com,h\d+\)\/\d\d[02468]0 /);
      }
    }
  });

  it("stay where they were where no good one is near", () => {
    const path = join(scratchDir(), "index");
    const text = "com,one)/a 20200101000000 {}\n".repeat(1000);
    writeFileSync(path, text);
    const parts = rangesOf(path, text.length, 3);
    expect(cutRanges(parts, [0, 2, 1])).toEqual(parts.map(({ task }) => task));
  });

  it("say what is wrong with the file", () => {
    const cuts = new KeyCuts(rangesOf(join(scratchDir(), "nothing"), 100, 2));
    expect(() => cuts.part(1)).toThrow(expect.objectContaining({ code: "MM_IO" }));
    cuts.close();
  });
});
