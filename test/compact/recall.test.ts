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

/** Smaller maps may say present of more, but never of less. */
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
        expect(await isCanonical(made.stdout)).toBe(true);
        // Sums of a wildcard, or of a time, may be those of another one only once.
        writeFileSync(path, made.stdout);
        const again = await compacted(["-q", ...weights], path);
        expect(calledAbsent(map.text, again.stdout, asked)).toEqual([]);
      }),
      { numRuns: cases(150) },
    );
  });

  it("by a budget, and by the smallest, with and without misses", async () => {
    const path = join(scratchDir(), "map.ukvs");
    const misses = join(scratchDir(), "misses.txt");
    const someLines = fc.constantFrom(3, 6, 12);
    // Budgets are for maps with one key.
    const map = anyMap.filter(({ isTimed }) => !isTimed);
    await fc.assert(
      fc.asyncProperty(
        map,
        someLines,
        questions,
        fc.boolean(),
        async (map, lines, asked, isTrained) => {
          const { text } = map;
          writeFileSync(path, text);
          writeFileSync(
            misses,
            [
              "com,zz)/x",
              ...asked.map(([surt]) => surt).filter((surt) => /^[^*]+\)\/[^*]*$/.test(surt)),
            ].join("\n"),
          );
          const made = await withinBudget(path, lines, isTrained ? ["--misses", misses] : []);
          expect(calledAbsent(text, made, asked)).toEqual([]);
          expect(await isCanonical(made)).toBe(true);
        },
      ),
      { numRuns: cases(60) },
    );
  });
});

/** Whether merging it alone changes nothing: but for the order of JSON blocks. */
async function isCanonical(map: string): Promise<boolean> {
  const path = join(scratchDir(), "map.ukvs");
  writeFileSync(path, map);
  const { stdout } = await runCli(["merge", "-q", path]);
  const [merged, given] = [stdout, map].map((text) => text.replaceAll(/ \{.*|^!size .*/gm, ""));
  return merged === given;
}

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
async function withinBudget(
  path: string,
  lines: number,
  options: readonly string[],
): Promise<string> {
  const asked = ["-q", ...options, "--max-lines"];
  const first = await compacted([...asked, String(lines)], path);
  const [, least, allowed] = /smaller than (\d+) rows; .* of (-?\d+)/.exec(first.stderr) ?? [];
  const made =
    least === undefined
      ? first
      : await compacted([...asked, String(lines + Number(least) - Number(allowed))], path);
  expect(made.code).toBe(0);
  return made.stdout;
}
