import { readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyTable } from "../../../src/generate/key-table.ts";
import { writeRun } from "../../../src/generate/runs.ts";
import { mergeStored } from "../../../src/study/analyze/analyze-files.ts";
import { type StoredRun, writingTo } from "../../../src/generate/stored-runs.ts";
import { Interrupt } from "../../../src/interruption.ts";
import { scratchDir } from "../../support/scratch.ts";

/** Puts keys away as a run. */
function storedRun(path: string, keys: readonly string[]): StoredRun {
  const blocks = keys.map((key) => Buffer.from(key));
  const table = new KeyTable(2 ** 20 + 2 * Buffer.concat(blocks).length);
  for (const bytes of blocks) expect(table.add(bytes, 0, bytes.length, 1)).toBe(true);
  const runs: StoredRun[] = [];
  writingTo(path, (write) => {
    table.drain((sorted) => {
      runs.push({ path, index: writeRun(sorted, write) });
    });
  });
  return runs[0];
}

describe("mergeStored", () => {
  it("adds up the counts of all runs, never with more than allowed at hand", async () => {
    const key = fc.integer({ min: 0, max: 300 }).map((n) => `com,a${n % 7})/${n}`);
    const keyLists = fc.array(fc.array(key, { minLength: 1, maxLength: 40 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(keyLists, fc.integer({ min: 2, max: 5 }), async (lists, maxOpenRuns) => {
        const scratch = scratchDir();
        const runs = lists.map((keys, i) => storedRun(join(scratch, `${i}.run`), keys));
        const found: [string, number][] = [];
        let filesAtHand = 0;
        await mergeStored(runs, { scratch, maxOpenRuns }, (bytes, keyLength, count) => {
          // What was merged in a round is gone, so these are the runs that are open.
          filesAtHand = Math.max(filesAtHand, readdirSync(scratch).length);
          found.push([Buffer.from(bytes.subarray(0, keyLength)).toString(), count]);
        });
        const expected = new Map<string, number>();
        for (const item of lists.flat()) expected.set(item, (expected.get(item) ?? 0) + 1);
        const sorted = [...expected].sort(([a], [b]) => (a < b ? -1 : 1));
        expect(found).toEqual(sorted);
        expect(filesAtHand).toBeLessThanOrEqual(maxOpenRuns);
      }),
      { numRuns: 60 },
    );
  });

  it("stops when the user wants it to, long before the end", async () => {
    const scratch = scratchDir();
    const keys = Array.from({ length: 120 }, (_, i) => `com,a)/${1000 + i}${"x".repeat(2 ** 19)}`);
    const runs = [keys.slice(0, 40), keys.slice(40, 80), keys.slice(80)].map((list, i) =>
      storedRun(join(scratch, `${i}.run`), list),
    );
    const interrupt = new Interrupt();
    let visited = 0;
    const merging = mergeStored(runs, { scratch, interrupt }, () => {
      if (visited++ === 0) setImmediate(() => interrupt.trigger("SIGINT"));
    });
    await expect(merging).rejects.toMatchObject({ code: "MM_INTERRUPTED" });
    expect(visited).toBeGreaterThan(0);
    expect(visited).toBeLessThan(keys.length);
  });

  it("says which run cannot be opened", async () => {
    const scratch = scratchDir();
    const run = storedRun(join(scratch, "0.run"), ["com,a)/"]);
    const path = join(scratch, "gone.run");
    const merging = mergeStored([run, { ...run, path }], { scratch }, () => undefined);
    await expect(merging).rejects.toMatchObject({ code: "MM_IO", position: { source: path } });
  });
});
