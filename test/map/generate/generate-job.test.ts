import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DetectedFormat } from "../../../src/input/detect.ts";
import type { PartResult } from "../../../src/map/generate/generate-job.ts";
import { GenerateJob } from "../../../src/map/generate/generate-job.ts";
import type { StoredRun } from "../../../src/map/generate/stored-runs.ts";
import { cdxjLines, fileLayout } from "./index-arbitraries.ts";
import { naiveRows, rowsOf } from "./naive-map.ts";
import { scratchDir } from "../../support/scratch.ts";

const CDXJ: DetectedFormat = { name: "cdxj" };

interface JobChanges {
  readonly name?: string;
  readonly tableBytes?: number;
  readonly maxLineBytes?: number;
  readonly skipBad?: boolean;
  readonly inPlace?: boolean;
}

function makeJob(scratch: string, changes: JobChanges = {}): GenerateJob {
  const {
    name = "job",
    tableBytes = 1 << 20,
    maxLineBytes = 1 << 20,
    skipBad = false,
    inPlace = false,
  } = changes;
  return new GenerateJob({
    name,
    scratch,
    tableBytes,
    inPlace,
    reader: { filter: {}, originals: false, datetimeDigits: 0, skipBad, maxLineBytes },
  });
}

function readCut(job: GenerateJob, path: string, edges: readonly number[]): PartResult[] {
  return edges
    .slice(1)
    .map((end, i) =>
      job.readRange({ kind: "range", path, start: edges[i] ?? 0, end, format: CDXJ }),
    );
}

let merges = 0;

/** All that a job has read, as runs. */
function finishedRuns(job: GenerateJob): readonly StoredRun[] {
  const { kept, runs } = job.finish();
  return kept === undefined ? runs : job.store();
}

function mergedRows(job: GenerateJob, scratch: string, runs: readonly StoredRun[]): string[] {
  const path = join(scratch, `merged-${merges++}`);
  job.merge({ runs, range: {}, target: { path } });
  return rowsOf(readFileSync(path));
}

/** The same without runs, if the job has never had to make one. */
function emittedRows(job: GenerateJob, scratch: string): string[] {
  const path = join(scratch, `emitted-${merges++}`);
  job.emit({ target: { path } });
  return rowsOf(readFileSync(path));
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
  it("holds the lines that begin in it: any partition gives each line once", () => {
    const scratch = scratchDir();
    const path = join(scratch, "index");
    let cases = 0;
    fc.assert(
      fc.property(
        cdxjLines,
        fileLayout,
        fc.array(fc.nat(), { maxLength: 12 }),
        (lines, layout, cuts) => {
          const text = layout(lines);
          writeFileSync(path, text);
          const job = makeJob(scratch, { name: `small-${cases++}` });
          const parts = readCut(job, path, edgesOf(Buffer.byteLength(text), cuts));
          expect(parts.filter(({ fault }) => fault !== undefined)).toEqual([]);
          expect(parts.reduce((sum, part) => sum + part.lines, 0)).toBe(
            lineCount(text.replace(/^\uFEFF/, "")),
          );
          job.finish();
          expect(emittedRows(job, scratch)).toEqual(naiveRows(lines));
          expect(mergedRows(job, scratch, job.store())).toEqual(naiveRows(lines));
        },
      ),
    );
  });

  it("may be cut at every byte", () => {
    const scratch = scratchDir();
    const path = join(scratch, "index");
    const lines = ["com,a)/ 2014 {}", "com,a)/b 2014 {}", "", "com,b)/ 2014 {}"];
    writeFileSync(path, lines.join("\r\n"));
    const size = lines.join("\r\n").length;
    const job = makeJob(scratch);
    const everywhere = Array.from({ length: size + 1 }, (_, i) => i);
    const parts = readCut(job, path, everywhere);
    expect(parts.reduce((sum, part) => sum + part.lines, 0)).toBe(4);
    for (let cut = 0; cut <= size; cut++) readCut(job, path, [0, cut, size]);
    expect(mergedRows(job, scratch, finishedRuns(job))).toEqual(
      naiveRows(
        lines.filter((line) => line !== "").flatMap((line) => Array<string>(size + 2).fill(line)),
      ),
    );
  });

  it("may be larger than what is read at once, with lines of any length across the reads", () => {
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
      const results = edges
        .slice(1)
        .map(
          (end, part) => readCut(jobs[part % 2 === 0 ? 0 : 1], path, [edges[part] ?? 0, end])[0],
        );
      expect(results.reduce((sum, part) => sum + (part?.lines ?? 0), 0)).toBe(lines.length);
      const finished = jobs.flatMap((job) => finishedRuns(job));
      expect(mergedRows(jobs[0], scratch, finished)).toEqual(expected);
    }
  });

  it("does not depend on memory: a full table goes to a run, as often as it must", () => {
    const scratch = scratchDir();
    const path = join(scratch, "index");
    const lines = Array.from(
      { length: 20_000 },
      (_, i) => `com,h${(i * 31) % 211})/${(i * 7919) % 9973}?${i % 3} 2014 {}`,
    );
    for (const [i, order] of [lines, lines.toSorted()].entries()) {
      writeFileSync(path, order.join("\n"));
      const job = makeJob(scratch, { name: `tiny-${i}`, tableBytes: 1 });
      readCut(job, path, [0, order.join("\n").length]);
      const finished = finishedRuns(job);
      expect(finished.length).toBeGreaterThan(5);
      expect(mergedRows(job, scratch, finished)).toEqual(naiveRows(lines));
    }
  });
});

describe("a line that cannot be read", () => {
  const good = "com,a)/ 2014 {}\n";

  it("is told with its place, wherever the file is cut", () => {
    const scratch = scratchDir();
    const path = join(scratch, "index");
    const text = `${good.repeat(5)}\nno line of this format\n${good}`;
    writeFileSync(path, text);
    for (let cut = 0; cut <= text.length; cut++) {
      const parts = readCut(makeJob(scratch), path, [0, cut, text.length]);
      const faulty = parts.findIndex(({ fault }) => fault !== undefined);
      const before = parts.slice(0, faulty).reduce((sum, part) => sum + part.lines, 0);
      expect(parts[faulty]?.fault).toMatchObject({
        code: "MM_BAD_LINE",
        line: "no line of this format",
        linesBefore: 6 - before,
      });
    }
  });

  it("is counted and left out if that is wanted", () => {
    const scratch = scratchDir();
    const path = join(scratch, "index");
    writeFileSync(path, `${good}bad\n${good}`);
    const job = makeJob(scratch, { skipBad: true });
    expect(readCut(job, path, [0, statSync(path).size])).toEqual([{ lines: 3, fault: undefined }]);
    expect(job.finish().counts).toMatchObject({ lines: 3, bad: 1, captures: 2 });
  });

  it.each([100, 2 ** 21 - 20, 2 ** 21, 3 * 2 ** 21])(
    "may be too long, even if bad lines are skipped: %i bytes before it",
    (before) => {
      const scratch = scratchDir();
      const path = join(scratch, "index");
      const lines = Math.floor(before / good.length);
      writeFileSync(path, `${good.repeat(lines)}com,a)/${"x".repeat(70_000)} 2014 {}\n${good}`);
      const job = makeJob(scratch, { skipBad: true, maxLineBytes: 65_536 });
      expect(readCut(job, path, [0, statSync(path).size])).toMatchObject([
        { fault: { code: "MM_LIMIT", linesBefore: lines } },
      ]);
    },
  );

  it("may be exactly as long as allowed", () => {
    const scratch = scratchDir();
    const path = join(scratch, "index");
    const line = `com,a)/${"x".repeat(93)}`;
    for (const [end, maxLineBytes] of [
      ["", 108],
      ["\n", 108],
      ["\r\n", 108],
    ] as const) {
      writeFileSync(path, `${line} 2014 {}${end}`);
      expect(readCut(makeJob(scratch, { maxLineBytes }), path, [0, statSync(path).size])).toEqual([
        { lines: 1, fault: undefined },
      ]);
    }
    expect(readCut(makeJob(scratch, { maxLineBytes: 107 }), path, [0, 109])).toMatchObject([
      { fault: { code: "MM_LIMIT" } },
    ]);
  });
});

describe("a job", () => {
  it("says which file it could not read or write", () => {
    const scratch = scratchDir();
    const missing = join(scratch, "none");
    expect(() => readCut(makeJob(scratch), missing, [0, 1])).toThrow(
      expect.objectContaining({ code: "MM_IO", position: { source: missing } }),
    );
    const path = join(scratch, "index");
    writeFileSync(path, "com,a)/ 2014 {}\n");
    const job = makeJob(join(scratch, "gone"));
    readCut(job, path, [0, 16]);
    expect(() => finishedRuns(job)).toThrow(
      expect.objectContaining({
        code: "MM_IO",
        position: { source: join(scratch, "gone", "job-0.run") },
      }),
    );
  });

  it("reads blocks as it reads parts of files", () => {
    const scratch = scratchDir();
    const job = makeJob(scratch);
    const bytes = Buffer.from("com,a)/b 2014 {}\ncom,a)/ 2014 {}\ncom,a)/b 2015 {}");
    const buffer = new ArrayBuffer(bytes.length + 10);
    bytes.copy(new Uint8Array(buffer));
    expect(job.readBlock({ kind: "block", buffer, length: bytes.length, format: CDXJ })).toEqual({
      lines: 3,
      fault: undefined,
    });
    expect(mergedRows(job, scratch, finishedRuns(job))).toEqual(["com,a)/ 1", "com,a)/b 2"]);
  });

  it.each([false, true])("reads a compressed file; in place: %s", async (inPlace) => {
    const scratch = scratchDir();
    const path = join(scratch, "index.gz");
    const line = (i: number): string => `com,site${i % 90})/page/${i % 7000} 2014 {"n": ${i}}\n`;
    const lines = Array.from({ length: 100_000 }, (_, i) => line(i));
    const half = lines.length / 2;
    const members = [lines.slice(0, half), lines.slice(half)].map((part) =>
      gzipSync(part.join("")),
    );
    writeFileSync(path, Buffer.concat(members));
    const job = makeJob(scratch, { inPlace });
    const task = { kind: "file", path, source: path, format: CDXJ } as const;
    expect(await job.read(task)).toMatchObject({ lines: lines.length, fault: undefined });
    expect(mergedRows(job, scratch, finishedRuns(job))).toEqual(naiveRows(lines));
  });
});
