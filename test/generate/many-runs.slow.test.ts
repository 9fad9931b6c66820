import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { generateFiles } from "../../src/generate/generate.ts";
import { withMapOutput } from "../../src/maps/map-output.ts";
import { rowsOf } from "./naive-map.ts";
import { scratchDir } from "../support/scratch.ts";

const STREAMS = { stdin: Readable.from([]), stdout: new Writable() };

describe("more runs than may be open at once", () => {
  it("are merged in rounds, and leave nothing behind", async () => {
    const folder = scratchDir();
    const hash = (i: number): string => ((i * 2_654_435_761) % 2 ** 32).toString(36);
    const keys = Array.from({ length: 120_000 }, (_, i) => `com,a)/${hash(i).repeat(12)}`);
    const input = join(folder, "index");
    writeFileSync(input, [...keys, ...keys].map((key) => `${key} 2014 {}\n`).join(""));
    for (const threads of [1, 2]) {
      const scratch = scratchDir();
      const path = join(folder, `map-${threads}`);
      const summary = await withMapOutput(path, STREAMS, (output) =>
        generateFiles([input], output, {
          streams: STREAMS,
          scratch,
          threads,
          memoryBytes: 2 ** 20,
          maxOpenRuns: 2,
        }),
      );
      expect(summary.runs).toBeGreaterThan(3);
      expect(rowsOf(readFileSync(path))).toEqual(keys.map((key) => `${key} 2`).toSorted());
      expect(readdirSync(scratch)).toEqual([]);
    }
  });
});
