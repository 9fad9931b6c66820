import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import { anyMap, type Question, questions } from "../lookup/any-map-and-questions.ts";
import { encode } from "../maps/map-files.ts";
import { LinearReading } from "../support/linear-reading.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";
import { cases } from "../support/cases.ts";

/** As false-absent.test.ts, for smaller maps: they may say present of more, but never of less. */
describe("a compacted map never says absent of what the map holds", () => {
  it("by weights", async () => {
    const path = join(scratchDir(), "map.ukvs");
    const weight = fc.constantFrom("0", "0.05", "0.2", "inf");
    await fc.assert(
      fc.asyncProperty(anyMap, weight, weight, questions, async (map, host, folder, asked) => {
        writeFileSync(path, map.text);
        const weights = ["--host-weight", host, "--path-weight", folder];
        const made = await compacted(["-q", ...weights], path);
        expect(made).toMatchObject({ code: 0, stderr: "" });
        expect(calledAbsent(map.text, made.stdout, asked)).toEqual([]);
      }),
      { numRuns: cases(150) },
    );
  });

  it("by a budget, and by the smallest", async () => {
    const path = join(scratchDir(), "map.ukvs");
    const someLines = fc.constantFrom(3, 6, 12);
    // Budgets are for maps with one key.
    const map = anyMap.filter(({ isTimed }) => !isTimed);
    await fc.assert(
      fc.asyncProperty(map, someLines, questions, async ({ text }, lines, asked) => {
        writeFileSync(path, text);
        expect(calledAbsent(text, await withinBudget(path, lines), asked)).toEqual([]);
      }),
      { numRuns: cases(30) },
    );
  });
});

/** What the map holds and the smaller one calls absent. */
function calledAbsent(map: string, smaller: string, asked: readonly Question[]): Question[] {
  const linear = new LinearReading(encode(map));
  const index = MemoryIndex.build(encode(smaller));
  return asked.filter(
    ([surt, at]) => linear.lookup(surt, at).present && !index.lookupSurtSync(surt, { at }).present,
  );
}

/** Compacts a map; the one that merge makes of it where its keys belong elsewhere as they are written now. */
async function compacted(options: readonly string[], path: string): ReturnType<typeof runCli> {
  const made = await runCli(["compact", ...options, path]);
  if (!made.stderr.includes("MM_NOT_SORTED")) return made;
  await runCli(["merge", "-q", path, "-o", path]);
  return runCli(["compact", ...options, path]);
}

/** Compacts a map to some lines, or to the least that it can have. */
async function withinBudget(path: string, lines: number): Promise<string> {
  const asked = ["-q", "--max-lines"];
  const first = await compacted([...asked, String(lines)], path);
  const [, least, allowed] = /smaller than (\d+) rows; .* of (-?\d+)/.exec(first.stderr) ?? [];
  const made =
    least === undefined
      ? first
      : await compacted([...asked, String(lines + Number(least) - Number(allowed))], path);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  return made.stdout;
}
