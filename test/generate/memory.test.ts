import { describe, expect, it } from "vitest";
import { tableBytes, threadsWithin } from "../../src/generate/key-table.ts";

const MEBIBYTE = 2 ** 20;

describe("threads that there is memory for", () => {
  it.each([
    [512, 2, 2],
    [512, 64, 5],
    [2048, 16, 16],
    [256, 8, 2],
    [64, 8, 1],
    [0, 1, 1],
  ])("in %i MiB, of %i cores: %i", (memory, cores, threads) => {
    expect(threadsWithin(memory * MEBIBYTE, cores)).toBe(threads);
  });

  it("leave each a table that is larger than the least", () => {
    for (let memory = 160; memory <= 4096; memory += 16) {
      const threads = threadsWithin(memory * MEBIBYTE, 64);
      if (threads === 1) continue;
      expect(tableBytes(memory * MEBIBYTE, threads, true)).toBeGreaterThanOrEqual(4 * MEBIBYTE);
      // Whatever the table is, all of it is within the memory.
      const held =
        72 + threads * (40 + 32 + tableBytes(memory * MEBIBYTE, threads, true) / MEBIBYTE);
      expect(held).toBeLessThanOrEqual(memory);
    }
  });
});
