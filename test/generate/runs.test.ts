import { readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type KeyRange,
  memorize,
  type MemoryRun,
  readerOf,
  RunMerge,
} from "../../src/generate/runs.ts";
import type { SortedKeys } from "../../src/generate/key-table.ts";
import { type MergeOptions, mergeStored, storeKeys } from "../../src/generate/stored-runs.ts";
import { Interrupt } from "../../src/interruption.ts";
import { scratchDir } from "../support/scratch.ts";
import { bytesOf, byUnits, key, keyCounts, naiveCounts, textOf } from "./key-arbitraries.ts";

type Entry = [string, number];

function sortedKeys(entries: readonly Entry[]): SortedKeys {
  return {
    size: entries.length,
    forEach(visit) {
      for (const [text, count] of entries) visit(bytesOf(text), 0, text.length, count);
    },
  };
}

function store(entries: readonly Entry[]): MemoryRun {
  const run = memorize(sortedKeys(entries));
  expect(run.index).toMatchObject({ byteLength: run.bytes.length, keys: entries.length });
  return run;
}

function entriesOf(run: MemoryRun, from?: string): Entry[] {
  const reader = readerOf(run, from === undefined ? undefined : bytesOf(from));
  const entries: Entry[] = [];
  while (reader.next()) entries.push([textOf(reader.key, 0, reader.keyLength), reader.count]);
  return entries;
}

function merged(runs: readonly MemoryRun[], range: KeyRange = {}): Entry[] {
  const entries: Entry[] = [];
  const merge = new RunMerge(
    runs.map((run) => readerOf(run, range.from)),
    range,
  );
  while (merge.next()) entries.push([textOf(merge.key, 0, merge.keyLength), merge.count]);
  return entries;
}

/** About 300 KiB of keys, in several blocks of a run and more than one read. */
function manyEntries(step: number): Entry[] {
  return naiveCounts(
    Array.from({ length: 6000 }, (_, i): Entry => [
      `com,host${(i * step) % 977})/${"path/".repeat(i % 9)}${i * step}${"x".repeat(i % 50)}`,
      i + 1,
    ]),
  );
}

describe("a run", () => {
  it("gives back what was written", () => {
    fc.assert(
      fc.property(keyCounts, (entries) => {
        const sorted = naiveCounts(entries);
        expect(entriesOf(store(sorted))).toEqual(sorted);
      }),
    );
  });

  it("holds counts up to the largest safe integer", () => {
    const counts = [1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32, 2 ** 40 + 1, 2 ** 53 - 1];
    const entries = counts.map((count, i): Entry => [`k${i}`, count]);
    expect(entriesOf(store(entries))).toEqual(entries);
  });

  it("holds keys longer than a block or a read", () => {
    const entries: Entry[] = [
      ["a", 1],
      [`a${"b".repeat(70_000)}`, 2],
      [`a${"b".repeat(300_000)}`, 3],
      [`a${"b".repeat(299_990)}c${"d".repeat(600_000)}`, 4],
      ["b", 5],
    ];
    expect(entriesOf(store(entries))).toEqual(entries);
    expect(merged([store(entries), store(manyEntries(7))])).toEqual(
      naiveCounts([...entries, ...manyEntries(7)]),
    );
  });

  it("can be entered at any key: nothing at or after it is missed", () => {
    const entries = manyEntries(7);
    const run = store(entries);
    expect(run.index.blocks.length).toBeGreaterThan(3);
    const places = [...entries.filter((_, i) => i % 611 === 0).map(([text]) => text), "", "~"];
    for (const from of places) {
      const read = entriesOf(run, from);
      expect(read).toEqual(entries.slice(entries.length - read.length));
      const missed = entries.slice(0, entries.length - read.length);
      expect(missed.every(([text]) => text < from)).toBe(true);
      // At most one block is read in vain.
      expect(read.filter(([text]) => text < from).length).toBeLessThan(2500);
    }
  });
});

describe("a merge of runs", () => {
  it("gives their union, in order, with added counts", () => {
    fc.assert(
      fc.property(fc.array(keyCounts, { maxLength: 6 }), (lists) => {
        const runs = lists.map((entries) => store(naiveCounts(entries)));
        expect(merged(runs)).toEqual(naiveCounts(lists.flat()));
      }),
    );
  });

  it("keeps to its range, so that ranges side by side give the whole", () => {
    fc.assert(
      fc.property(
        fc.array(keyCounts, { maxLength: 4 }),
        fc.array(key, { maxLength: 5 }),
        (lists, cuts) => {
          const runs = lists.map((entries) => store(naiveCounts(entries)));
          const edges = [...new Set(cuts)].sort(byUnits).map(bytesOf);
          const ranges = [undefined, ...edges].map((from, i) => ({ from, to: edges[i] }));
          expect(ranges.flatMap((range) => merged(runs, range))).toEqual(merged(runs));
          for (const { from, to } of ranges) {
            const isOutside = (text: string): boolean =>
              (from !== undefined && text < textOf(from)) ||
              (to !== undefined && text >= textOf(to));
            expect(merged(runs, { from, to }).filter(([text]) => isOutside(text))).toEqual([]);
          }
        },
      ),
    );
  });
});

describe("a merge of stored runs", () => {
  const collect = async (
    lists: readonly (readonly Entry[])[],
    options: MergeOptions,
    isOpen: (files: number) => void = () => undefined,
  ): Promise<Entry[]> => {
    const { scratch } = options;
    const runs = lists.map((entries, i) =>
      storeKeys(sortedKeys(naiveCounts(entries)), join(scratch, `${i}.run`)),
    );
    const found: Entry[] = [];
    await mergeStored(runs, options, (bytes, length, count) => {
      // What was merged in a round is gone, so these are the runs that are open.
      isOpen(readdirSync(scratch).length);
      found.push([textOf(bytes, 0, length), count]);
    });
    return found;
  };

  it("never has more of them open than allowed", async () => {
    const keyLists = fc.array(keyCounts, { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(keyLists, fc.integer({ min: 2, max: 5 }), async (lists, maxOpenRuns) => {
        let most = 0;
        const found = await collect(lists, { scratch: scratchDir(), maxOpenRuns }, (files) => {
          most = Math.max(most, files);
        });
        expect(found).toEqual(naiveCounts(lists.flat()));
        expect(most).toBeLessThanOrEqual(maxOpenRuns);
      }),
      { numRuns: 60 },
    );
  });

  it("keeps runs of another folder", async () => {
    const [scratch, folder] = [scratchDir(), scratchDir()];
    const paths = ["a", "b", "c"].map((name) => join(folder, name));
    const runs = paths.map((path) => storeKeys(sortedKeys([["com,a)/", 1]]), path));
    await mergeStored(runs, { scratch, maxOpenRuns: 2 }, () => undefined);
    expect(readdirSync(folder)).toEqual(["a", "b", "c"]);
  });

  it("stops when the user wants it to, long before the end", async () => {
    const keys = Array.from({ length: 120 }, (_, i): Entry => [
      `com,a)/${1000 + i}${"x".repeat(2 ** 19)}`,
      1,
    ]);
    const interrupt = new Interrupt();
    let visited = 0;
    const merging = collect([keys], { scratch: scratchDir(), interrupt }, () => {
      if (visited++ === 0) setImmediate(() => interrupt.trigger("SIGINT"));
    });
    await expect(merging).rejects.toMatchObject({ code: "MM_INTERRUPTED" });
    expect(visited).toBeLessThan(keys.length);
  });

  it("says which run cannot be opened", async () => {
    const scratch = scratchDir();
    const run = storeKeys(sortedKeys([["com,a)/", 1]]), join(scratch, "0.run"));
    const path = join(scratch, "gone.run");
    const merging = mergeStored([run, { ...run, path }], { scratch }, () => undefined);
    await expect(merging).rejects.toMatchObject({ code: "MM_IO", position: { source: path } });
  });
});
