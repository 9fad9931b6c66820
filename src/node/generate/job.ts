import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { IndexCounts } from "../../generate/index-counts.ts";
import type { IndexReaderOptions } from "../../generate/index-reader.ts";
import { IndexReader } from "../../generate/index-reader.ts";
import { KeyTable } from "../../generate/key-table.ts";
import type { KeyRange } from "../../generate/merge-runs.ts";
import { mergeRuns } from "../../generate/merge-runs.ts";
import { MapRows } from "../../generate/map-rows.ts";
import type { RunIndex } from "../../generate/run.ts";
import { RunReader, writeRun } from "../../generate/run.ts";
import { CdxjScanner } from "./cdxj-scanner.ts";
import { readElsewhere } from "./read-elsewhere.ts";
import { RangeBuffer, rangeBufferBytes } from "./read-range.ts";
import { writingTo } from "./scratch-file.ts";
import type { BlockTask, PartResult, RangeTask, ReadTask } from "./tasks.ts";

export type { PartResult } from "./tasks.ts";

/** What a job needs to begin; can be sent to another thread. */
export interface JobOptions {
  readonly name: string;
  readonly reader: IndexReaderOptions;
  readonly tableBytes: number;
  readonly scratch: string;
}

/** A sorted run on the disk. */
export interface StoredRun {
  readonly path: string;
  readonly index: RunIndex;
}

export interface FinishResult {
  readonly counts: IndexCounts;
  readonly runs: readonly StoredRun[];
}

export interface MergeTask {
  readonly runs: readonly StoredRun[];
  readonly range: KeyRange;
  readonly target: string;
  /** Whether counts are only known to be at least what was found. */
  readonly isSample?: boolean | undefined;
}

export interface MergeResult {
  readonly rows: number;
  readonly bytes: number;
  readonly mementos: number;
}

/**
 * One thread's share of `generate`: reads parts of indexes into a table, puts full tables away as
 * sorted runs, and later merges a range of keys of everybody's runs.
 */
export class GenerateJob {
  readonly #options: JobOptions;
  readonly #reader: IndexReader;
  readonly #table: KeyTable;
  readonly #runs: StoredRun[] = [];
  readonly #ranges: RangeBuffer;

  constructor(options: JobOptions) {
    this.#options = options;
    const { maxLineBytes } = options.reader;
    const scanner = CdxjScanner.open(rangeBufferBytes(maxLineBytes), maxLineBytes);
    this.#ranges = new RangeBuffer(maxLineBytes, scanner?.buffer);
    this.#table = new KeyTable(options.tableBytes);
    const drain = (): void => {
      this.#storeRun();
    };
    this.#reader = new IndexReader(options.reader, this.#table, drain, scanner);
  }

  /** Reads a part, whatever kind it is. */
  async read(task: ReadTask): Promise<PartResult> {
    const { counts } = this.#reader;
    const before = counts.keysDifferent;
    const result = await this.#read(task);
    return counts.keysDifferent > before ? { ...result, keysDiffer: true } : result;
  }

  async #read(task: ReadTask): Promise<PartResult> {
    if (task.kind === "range") return this.readRange(task);
    if (task.kind === "block") return this.readBlock(task);
    const reader = this.#reader;
    reader.startPart(task.format);
    const fault = await readElsewhere(task, reader, this.#options.reader.maxLineBytes);
    return { lines: reader.partLines, fault };
  }

  readBlock(task: BlockTask): PartResult {
    this.#reader.startPart(task.format);
    const fault = this.#reader.readLines(Buffer.from(task.buffer, 0, task.length), 0, task.length);
    return { lines: this.#reader.partLines, fault };
  }

  readRange(task: RangeTask): PartResult {
    this.#reader.startPart(task.format);
    const fault = this.#ranges.read(task, this.#reader);
    return { lines: this.#reader.partLines, fault };
  }

  /** Puts away what is left in the table; all that was read is in the runs then. */
  finish(): FinishResult {
    this.#storeRun();
    return { counts: this.#reader.counts, runs: this.#runs };
  }

  #storeRun(): void {
    if (this.#table.size === 0) return;
    const path = join(this.#options.scratch, `${this.#options.name}-${this.#runs.length}.run`);
    writingTo(path, (write) => {
      this.#table.drain((keys) => {
        this.#runs.push({ path, index: writeRun(keys, write) });
      });
    });
  }

  merge(task: MergeTask): MergeResult {
    const files = task.runs.map((run) => openSync(run.path, "r"));
    try {
      const readers = task.runs.map((run, i) => {
        const read = (offset: number, target: Uint8Array): number =>
          readSync(files[i], target, 0, target.length, offset);
        return new RunReader(run.index, read, task.range.from);
      });
      let bytes = 0;
      let rows = 0;
      let mementos = 0;
      writingTo(task.target, (write) => {
        const { originals, distinct } = this.#options.reader;
        const options = { originals, distinct, isSample: task.isSample };
        const lines = new MapRows(options, (block) => {
          bytes += block.length;
          write(block);
        });
        mergeRuns(readers, task.range, (key, keyLength, count) => {
          lines.add(key, keyLength, count);
        });
        lines.end();
        ({ rows, mementos } = lines);
      });
      return { rows, bytes, mementos };
    } finally {
      for (const file of files) closeSync(file);
    }
  }
}
