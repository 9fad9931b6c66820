import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { LF } from "../../bytes/ascii.ts";
import type { IndexCounts } from "../../generate/index-counts.ts";
import type { IndexReaderOptions, RowFault } from "../../generate/index-reader.ts";
import { IndexReader } from "../../generate/index-reader.ts";
import { KeyTable } from "../../generate/key-table.ts";
import type { KeyRange } from "../../generate/merge-runs.ts";
import { mergeRuns } from "../../generate/merge-runs.ts";
import { MapRows } from "../../generate/map-rows.ts";
import type { RunIndex } from "../../generate/run.ts";
import { RunReader, writeRun } from "../../generate/run.ts";
import type { DetectedFormat } from "../../input/detect.ts";
import { ioError } from "../io-error.ts";

/** What a job needs to begin; can be sent to another thread. */
export interface JobOptions {
  readonly name: string;
  readonly reader: IndexReaderOptions;
  readonly tableBytes: number;
  readonly scratch: string;
}

/** A part of an uncompressed file: the lines that begin in `[start, end)`. */
export interface RangeTask {
  readonly kind: "range";
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly format: DetectedFormat;
}

/** Whole lines that were read elsewhere. */
export interface BlockTask {
  readonly kind: "block";
  readonly buffer: ArrayBuffer;
  readonly length: number;
  readonly format: DetectedFormat;
}

export interface PartResult {
  readonly lines: number;
  readonly fault: RowFault | undefined;
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
}

export interface MergeResult {
  readonly rows: number;
  readonly bytes: number;
}

const READ_BYTES = 1 << 21;

/**
 * One thread's share of `generate`: reads parts of indexes into a table, puts full tables away as
 * sorted runs, and later merges a range of keys of everybody's runs.
 */
export class GenerateJob {
  readonly #options: JobOptions;
  readonly #reader: IndexReader;
  readonly #table: KeyTable;
  readonly #runs: StoredRun[] = [];
  #buffer: Buffer = Buffer.allocUnsafeSlow(0);

  constructor(options: JobOptions) {
    this.#options = options;
    this.#table = new KeyTable(options.tableBytes);
    this.#reader = new IndexReader(options.reader, this.#table, () => {
      this.#storeRun();
    });
  }

  readBlock(task: BlockTask): PartResult {
    this.#reader.startPart(task.format);
    const fault = this.#reader.readLines(Buffer.from(task.buffer, 0, task.length), 0, task.length);
    return { lines: this.#reader.partLines, fault };
  }

  readRange(task: RangeTask): PartResult {
    this.#reader.startPart(task.format);
    const file = openSync(task.path, "r");
    try {
      const fault = this.#readFile(file, task);
      return { lines: this.#reader.partLines, fault };
    } catch (error) {
      throw ioError(error, task.path);
    } finally {
      closeSync(file);
    }
  }

  #readFile(file: number, { start, end }: RangeTask): RowFault | undefined {
    const { maxLineBytes } = this.#options.reader;
    const capacity = READ_BYTES + maxLineBytes + 1;
    if (this.#buffer.length < capacity) this.#buffer = Buffer.allocUnsafeSlow(capacity);
    const buffer = this.#buffer;
    // A line belongs to the part it begins in; so this part begins behind the first line end at or
    // after `start - 1`, and ends with the line that `end - 1` is in.
    let offset = Math.max(0, start - 1);
    let skipping = start > 0;
    let held = 0;
    for (;;) {
      const wanted = Math.min(READ_BYTES, buffer.length - held);
      const read = readSync(file, buffer, held, wanted, offset);
      const filled = held + read;
      let from = 0;
      if (skipping) {
        const lineEnd = buffer.subarray(0, filled).indexOf(LF);
        if (lineEnd === -1 || offset - held + lineEnd + 1 >= end) {
          // The whole part lies within a line that began before it.
          if (read === 0 || offset + read >= end) return undefined;
          offset += read;
          held = 0;
          continue;
        }
        from = lineEnd + 1;
        skipping = false;
      }
      const base = offset - held;
      offset += read;
      let to = filled;
      let last = read === 0;
      if (base + filled >= end) {
        const lineEnd = buffer.subarray(0, filled).indexOf(LF, Math.max(from, end - 1 - base));
        if (lineEnd !== -1) {
          to = lineEnd + 1;
          last = true;
        }
      }
      if (!last) {
        const lineEnd = buffer.subarray(from, filled).lastIndexOf(LF);
        if (lineEnd === -1 && filled - from > maxLineBytes) last = true;
        else to = lineEnd === -1 ? from : from + lineEnd + 1;
      }
      const fault = this.#reader.readLines(buffer, from, to);
      if (fault !== undefined || last) return fault;
      buffer.copyWithin(0, to, filled);
      held = filled - to;
    }
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
      writingTo(task.target, (write) => {
        const lines = new MapRows(this.#options.reader.originals, (block) => {
          bytes += block.length;
          write(block);
        });
        mergeRuns(readers, task.range, (key, keyLength, count) => {
          lines.add(key, keyLength, count);
        });
        lines.end();
        rows = lines.rows;
      });
      return { rows, bytes };
    } finally {
      for (const file of files) closeSync(file);
    }
  }
}

/** Writes a scratch file; it is for this run only, so nothing is flushed to the disk. */
function writingTo(path: string, use: (write: (block: Uint8Array) => void) => void): void {
  try {
    const file = openSync(path, "wx");
    try {
      use((block) => {
        for (let at = 0; at < block.length;) at += writeSync(file, block, at);
      });
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw ioError(error, path);
  }
}
