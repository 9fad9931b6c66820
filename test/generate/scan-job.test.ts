import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DetectedFormat } from "../../src/input/formats.ts";
import type { PartResult } from "../../src/input/index-input.ts";
import type { IndexCounts } from "../../src/generate/index-counts.ts";
import { GENERATE } from "../../src/generate/key-counter.ts";
import { MapRows, type RowKeyOptions } from "../../src/generate/map-rows.ts";
import { ScanJob } from "../../src/generate/scan-job.ts";
import { mergeStored, type StoredRun } from "../../src/generate/stored-runs.ts";
import { cdxjLines, fileLayout } from "./index-arbitraries.ts";
import { naiveRows, rowsOf } from "./naive-map.ts";
import { scratchDir } from "../support/scratch.ts";

const CDXJ: DetectedFormat = { name: "cdxj" };

interface JobChanges {
  readonly name?: string;
  readonly tableBytes?: number;
  readonly maxLineBytes?: number;
  readonly skipBad?: boolean;
}

type Job = ScanJob<RowKeyOptions, IndexCounts>;

function makeJob(scratch: string, changes: JobChanges = {}): Job {
  const { name = "job", tableBytes = 1 << 20, maxLineBytes = 1 << 20, skipBad = false } = changes;
  return new ScanJob(
    {
      name,
      scratch,
      tableBytes,
      reader: { filter: {}, skipBad, maxLineBytes },
      sink: { originals: false, datetimeDigits: 0 },
    },
    GENERATE.openSink,
  );
}

async function readCut(job: Job, path: string, edges: readonly number[]): Promise<PartResult[]> {
  const parts: PartResult[] = [];
  for (const [i, end] of edges.slice(1).entries()) {
    parts.push(await job.read({ kind: "range", path, start: edges[i] ?? 0, end, format: CDXJ }));
  }
  return parts;
}

async function mergedRows(scratch: string, runs: readonly StoredRun[]): Promise<string[]> {
  const rows = new MapRows({ originals: false });
  await mergeStored(runs, { scratch }, (key, length, count) => rows.add(key, length, count));
  return rowsOf(rows.take());
}

/** Edges of parts of `[0, size)`: any number of cuts anywhere, some of them twice. */
function edgesOf(size: number, cuts: readonly number[]): number[] {
  const inner = cuts.map((cut) => cut % (size + 1)).sort((a, b) => a - b);
  return [0, ...inner, size];
}

function lineCount(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

describe("a part of a file", () => {
  it("holds the lines that begin in it: any partition gives each line once", async () => {
    const scratch = scratchDir();
    const path = join(scratch, "index");
    let cases = 0;
    await fc.assert(
      fc.asyncProperty(
        cdxjLines,
        fileLayout,
        fc.array(fc.nat(), { maxLength: 12 }),
        async (lines, layout, cuts) => {
          const text = layout(lines);
          writeFileSync(path, text);
          const job = makeJob(scratch, { name: `small-${cases++}` });
          const parts = await readCut(job, path, edgesOf(Buffer.byteLength(text), cuts));
          expect(parts.filter(({ fault }) => fault !== undefined)).toEqual([]);
          expect(parts.reduce((sum, part) => sum + part.lines, 0)).toBe(
            lineCount(text.replace(/^\uFEFF/, "")),
          );
          expect(await mergedRows(scratch, job.finish().runs)).toEqual(naiveRows(lines));
        },
      ),
    );
  });

  it("may be cut at every byte", async () => {
    const scratch = scratchDir();
    const path = join(scratch, "index");
    const lines = ["com,a)/ 2014 {}", "com,a)/b 2014 {}", "", "com,b)/ 2014 {}"];
    writeFileSync(path, lines.join("\r\n"));
    const size = lines.join("\r\n").length;
    const job = makeJob(scratch);
    const everywhere = Array.from({ length: size + 1 }, (_, i) => i);
    const parts = await readCut(job, path, everywhere);
    expect(parts.reduce((sum, part) => sum + part.lines, 0)).toBe(4);
    for (let cut = 0; cut <= size; cut++) await readCut(job, path, [0, cut, size]);
    expect(await mergedRows(scratch, job.finish().runs)).toEqual(
      naiveRows(
        lines.filter((line) => line !== "").flatMap((line) => Array<string>(size + 2).fill(line)),
      ),
    );
  });

  it("may be larger than what is read at once, with lines of any length across the reads", async () => {
    const scratch = scratchDir();
    const path = join(scratch, "index");
    const lines = Array.from({ length: 30_000 }, (_, i) => {
      const padding = i % 5000 === 4999 ? 900_000 + i : i % 97;
      return `com,h${i % 101})/${(i * 7919) % 20_011} 2014 {"x": "${"-".repeat(padding)}"}`;
    });
    const text = `${lines.join("\n")}\n`;
    expect(text.length).toBeGreaterThan(3 * 2 ** 21);
    writeFileSync(path, text);
    const expected = naiveRows(lines);
    const reads = 2 ** 21;
    const partitions = [
      [],
      [reads, 2 * reads, 3 * reads],
      [reads - 1, reads + 1, 2 * reads + 900_000],
      [1, 4_200_000, 4_200_001, text.length - 1],
      [text.indexOf(lines[4999]?.slice(0, 40) ?? "") + 400_000],
    ];
    for (const [i, cuts] of partitions.entries()) {
      const jobs = [
        makeJob(scratch, { name: `a${i}` }),
        makeJob(scratch, { name: `b${i}` }),
      ] as const;
      const edges = edgesOf(text.length, cuts);
      const results: PartResult[] = [];
      for (const [part, end] of edges.slice(1).entries()) {
        results.push(
          ...(await readCut(jobs[part % 2 === 0 ? 0 : 1], path, [edges[part] ?? 0, end])),
        );
      }
      expect(results.reduce((sum, part) => sum + part.lines, 0)).toBe(lines.length);
      const finished = jobs.flatMap((job) => job.finish().runs);
      expect(await mergedRows(scratch, finished)).toEqual(expected);
    }
  });
});

describe("a line that cannot be read", () => {
  const good = "com,a)/ 2014 {}\n";

  it("is told with its place, wherever the file is cut", async () => {
    const scratch = scratchDir();
    const path = join(scratch, "index");
    const text = `${good.repeat(5)}\nno line of this format\n${good}`;
    writeFileSync(path, text);
    for (let cut = 0; cut <= text.length; cut++) {
      const parts = await readCut(makeJob(scratch), path, [0, cut, text.length]);
      const faulty = parts.findIndex(({ fault }) => fault !== undefined);
      const before = parts.slice(0, faulty).reduce((sum, part) => sum + part.lines, 0);
      expect(parts[faulty]?.fault).toMatchObject({
        code: "MM_BAD_LINE",
        line: "no line of this format",
        linesBefore: 6 - before,
      });
    }
  });

  it.each([100, 2 ** 21 - 20, 2 ** 21, 3 * 2 ** 21])(
    "may be too long, even if bad lines are skipped: %i bytes before it",
    async (before) => {
      const scratch = scratchDir();
      const path = join(scratch, "index");
      const lines = Math.floor(before / good.length);
      writeFileSync(path, `${good.repeat(lines)}com,a)/${"x".repeat(70_000)} 2014 {}\n${good}`);
      const job = makeJob(scratch, { skipBad: true, maxLineBytes: 65_536 });
      expect(await readCut(job, path, [0, statSync(path).size])).toMatchObject([
        { fault: { code: "MM_LIMIT", linesBefore: lines } },
      ]);
    },
  );

  it("may be exactly as long as allowed", async () => {
    const scratch = scratchDir();
    const path = join(scratch, "index");
    const line = `com,a)/${"x".repeat(93)}`;
    for (const [end, maxLineBytes] of [
      ["", 108],
      ["\n", 108],
      ["\r\n", 108],
    ] as const) {
      writeFileSync(path, `${line} 2014 {}${end}`);
      const job = makeJob(scratch, { maxLineBytes });
      expect(await readCut(job, path, [0, statSync(path).size])).toMatchObject([
        { lines: 1, fault: undefined },
      ]);
    }
    expect(await readCut(makeJob(scratch, { maxLineBytes: 107 }), path, [0, 109])).toMatchObject([
      { fault: { code: "MM_LIMIT" } },
    ]);
  });
});

describe("a job", () => {
  it("says which file it could not read or write", async () => {
    const scratch = scratchDir();
    const missing = join(scratch, "none");
    await expect(readCut(makeJob(scratch), missing, [0, 1])).rejects.toMatchObject({
      code: "MM_IO",
      position: { source: missing },
    });
    const path = join(scratch, "index");
    const lines = Array.from({ length: 20_000 }, (_, i) => `com,a)/${(i * 7919) % 20_011} 2014 {}`);
    writeFileSync(path, lines.join("\n"));
    const job = makeJob(join(scratch, "gone"), { tableBytes: 1 });
    await expect(readCut(job, path, [0, statSync(path).size])).rejects.toMatchObject({
      code: "MM_IO",
      position: { source: join(scratch, "gone", "job-0.run") },
    });
  });
});
