import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cutRuns,
  type KeyRange,
  mergedKeys,
  mergeRuns,
  type ReadRun,
  type RunIndex,
  RunReader,
  writeRun,
} from "../../src/generate/runs.ts";
import type { SortedKeys } from "../../src/generate/key-table.ts";
import { ORIGINAL_MARK } from "../../src/generate/map-rows.ts";
import { bytesOf, byUnits, key, keyCounts, naiveCounts, textOf } from "./key-arbitraries.ts";

interface Run {
  readonly index: RunIndex;
  readonly read: ReadRun;
}

function sortedKeys(entries: readonly (readonly [string, number])[]): SortedKeys {
  return {
    size: entries.length,
    forEach(visit) {
      const arena = bytesOf(entries.map(([text]) => text).join(""));
      let at = 0;
      for (const [text, count] of entries) {
        visit(arena, at, at + text.length, count);
        at += text.length;
      }
    },
  };
}

function store(entries: readonly (readonly [string, number])[]): Run {
  const chunks: Uint8Array[] = [];
  const index = writeRun(sortedKeys(entries), (chunk) => void chunks.push(chunk.slice()));
  const bytes = Buffer.concat(chunks);
  expect(index.byteLength).toBe(bytes.length);
  expect(index.keys).toBe(entries.length);
  return { index, read: (offset, target) => bytes.copy(target, 0, offset) };
}

function entriesOf({ index, read }: Run, from?: string): [string, number][] {
  const reader = new RunReader(index, read, from === undefined ? undefined : bytesOf(from));
  const entries: [string, number][] = [];
  while (reader.next()) entries.push([textOf(reader.key, 0, reader.keyLength), reader.count]);
  return entries;
}

function merged(runs: readonly Run[], range: KeyRange = {}): [string, number][] {
  const entries: [string, number][] = [];
  const readers = runs.map(({ index, read }) => new RunReader(index, read, range.from));
  mergeRuns(readers, range, (bytes, length, count) => {
    entries.push([textOf(bytes, 0, length), count]);
  });
  return entries;
}

/** About 300 KiB of keys, in several blocks of a run and more than one read. */
function manyEntries(step: number): [string, number][] {
  return naiveCounts(
    Array.from({ length: 6000 }, (_, i): [string, number] => [
      `com,host${(i * step) % 977})/${"path/".repeat(i % 9)}${i * step}${"x".repeat(i % 50)}`,
      i + 1,
    ]),
  );
}

/** One run of several. */
function combined(runs: readonly Run[]): Run {
  const chunks: Uint8Array[] = [];
  const readers = runs.map(({ index, read }) => new RunReader(index, read));
  const index = writeRun(mergedKeys(readers), (chunk) => void chunks.push(chunk.slice()));
  const bytes = Buffer.concat(chunks);
  return { index, read: (offset, target) => bytes.copy(target, 0, offset) };
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
    const entries = counts.map((count, i): [string, number] => [`k${i}`, count]);
    expect(entriesOf(store(entries))).toEqual(entries);
  });

  it("holds keys longer than a block or a read", () => {
    const entries: [string, number][] = [
      ["a", 1],
      [`a${"b".repeat(70_000)}`, 2],
      [`a${"b".repeat(300_000)}`, 3],
      [`a${"b".repeat(299_990)}c${"d".repeat(600_000)}`, 4],
      ["b", 5],
    ];
    expect(entriesOf(store(entries))).toEqual(entries);
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

describe("mergeRuns", () => {
  it("gives the union of the runs, in order, with added counts", () => {
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

describe("cutRuns", () => {
  it("cuts the keys into ranges side by side, of about equal size", () => {
    const lists = [manyEntries(7), manyEntries(11), manyEntries(13)];
    const runs = lists.map(store);
    const whole = merged(runs);
    for (const parts of [1, 2, 3, 8]) {
      const ranges = cutRuns(
        runs.map((run) => run.index),
        parts,
      );
      expect(ranges).toHaveLength(parts);
      const pieces = ranges.map((range) => merged(runs, range));
      expect(pieces.flat()).toEqual(whole);
      for (const piece of pieces) expect(piece.length).toBeLessThan((whole.length / parts) * 3);
    }
  });

  it("gives one range for nothing", () => {
    expect(cutRuns([], 4)).toEqual([{ from: undefined, to: undefined }]);
  });

  it("never separates the originals of a row", () => {
    const mark = String.fromCharCode(ORIGINAL_MARK);
    const entries = naiveCounts(
      Array.from({ length: 9000 }, (_, i): [string, number] => [
        `com,a)/${i % 3}${mark}${(i * 7919) % 9001}${"x".repeat(40)}`,
        1,
      ]),
    );
    const run = store(entries);
    expect(run.index.blocks.length).toBeGreaterThan(2);
    const ranges = cutRuns([run.index], 8);
    expect(ranges.length).toBeGreaterThan(1);
    const rows = ranges.map(
      (range) => new Set(merged([run], range).map(([text]) => text.split(mark)[0])),
    );
    const all = rows.flatMap((row) => [...row]);
    expect(all).toHaveLength(new Set(all).size);
  });
});

describe("runs that are combined", () => {
  it("give one run of all their keys", () => {
    fc.assert(
      fc.property(fc.array(keyCounts, { maxLength: 5 }), (lists) => {
        const runs = lists.map((entries) => store(naiveCounts(entries)));
        const one = combined(runs);
        expect(entriesOf(one)).toEqual(merged(runs));
        expect(one.index.keys).toBe(merged(runs).length);
      }),
    );
  });

  it("may have many keys, and keys longer than anything kept aside for them", () => {
    const long = (text: string): [string, number] => [text.repeat(50_000), 1];
    const runs = [manyEntries(7), manyEntries(11), [long("a"), long("b"), long("xy"), long("z")]];
    const stored = runs.map((entries) => store(naiveCounts(entries)));
    expect(entriesOf(combined(stored))).toEqual(merged(stored));
  });
});
