import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { rangeChunks } from "../../src/input/read-range.ts";
import { scratchDir } from "../support/scratch.ts";

describe("a file that is cut short while it is read", () => {
  const TEXT = "com,a)/ 2014 {}\n".repeat(1000);

  it.each([
    ["in the part", 0, TEXT.length, 100],
    ["to nothing", 0, TEXT.length, 0],
    ["before the part", 8000, TEXT.length, 100],
    ["at a line end", 0, TEXT.length, 160],
    ["by its last byte", 0, TEXT.length, TEXT.length - 1],
  ])("is an error, not the end of it: %s", (_where, start, end, size) => {
    const path = join(scratchDir(), "index");
    writeFileSync(path, TEXT);
    truncateSync(path, size);
    const task = { kind: "range", path, start, end, format: { name: "cdxj" } } as const;
    expect(() => [...rangeChunks(task, Buffer.alloc(1 << 16))]).toThrow(
      expect.objectContaining({
        code: "MM_IO",
        message: expect.stringMatching(/^the file was truncated while it was read/),
        position: { source: path },
      }),
    );
  });
});
