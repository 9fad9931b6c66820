import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compactMap } from "../../src/compact/compact-map.ts";
import { MemoryIndex } from "../../src/lookup/memory-index.ts";
import { type AnyMap, anyMap, questions, runs } from "../lookup/any-map.ts";
import { collected, encode, merged } from "../map/map-files.ts";
import { LinearReading } from "../support/linear-reading.ts";
import { runCli } from "../support/run-cli.ts";
import { scratchDir } from "../support/scratch.ts";

/** As false-absent.test.ts, for smaller maps: they may say present of more, but never of less. */
describe("a compacted map never says absent of what the map holds", () => {
  it("by weights", async () => {
    const weight = fc.constantFrom(0, 0.05, 0.2, Infinity);
    await fc.assert(
      fc.asyncProperty(
        mapWithoutTimes,
        weight,
        weight,
        questions,
        async (map, host, path, asked) => {
          const weights = { hostWeight: host, pathWeight: path };
          const linear = new LinearReading(encode(map.text));
          const chunks = await collected(compactMap([encode(await merged(map.text))], weights));
          const index = MemoryIndex.build(Uint8Array.from(Buffer.concat(chunks)));
          const held = asked.filter(([surt, at]) => linear.lookup(surt, at).present);
          expect(held.filter(([surt, at]) => !index.lookupSurtSync(surt, { at }).present)).toEqual(
            [],
          );
        },
      ),
      { numRuns: runs(400) },
    );
  });

  it("by a budget, and by the smallest", async () => {
    const path = join(scratchDir(), "map.ukvs");
    const someLines = fc.constantFrom(3, 6, 12);
    await fc.assert(
      fc.asyncProperty(mapWithoutTimes, someLines, questions, async (map, lines, asked) => {
        const linear = new LinearReading(encode(map.text));
        writeFileSync(path, await merged(map.text));
        const index = MemoryIndex.build(encode(await withinBudget(path, lines)));
        const held = asked.filter(([surt, at]) => linear.lookup(surt, at).present);
        expect(held.filter(([surt, at]) => !index.lookupSurtSync(surt, { at }).present)).toEqual(
          [],
        );
      }),
      { numRuns: runs(30) },
    );
  });
});

/** Compaction of rows that differ in time has tests of its own. */
const mapWithoutTimes: fc.Arbitrary<AnyMap> = anyMap.filter(
  ({ text, isTimed }) => !isTimed && !text.includes("datetime"),
);

/** Compacts a map to some lines, or to the least that it can have. */
async function withinBudget(path: string, lines: number): Promise<string> {
  const asked = ["compact", "-q", path, "--max-lines"];
  const first = await runCli([...asked, String(lines)]);
  const [, least, allowed] = /smaller than (\d+) rows; .* of (-?\d+)/.exec(first.stderr) ?? [];
  const made =
    least === undefined
      ? first
      : await runCli([...asked, String(lines + Number(least) - Number(allowed))]);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  return made.stdout;
}
