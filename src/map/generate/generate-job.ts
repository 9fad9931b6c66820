import { join } from "node:path";
import type { IndexCounts } from "./index-counts.ts";
import { IndexReader, type IndexReaderOptions, skipsFaults } from "./index-reader.ts";
import { KeyTable, type SortedKeys, type SortedTable } from "./key-table.ts";
import { type KeyRange, mergeRuns, writeRun } from "./runs.ts";
import { MapRows, plainRowBytes } from "./map-rows.ts";
import { newDamageLog } from "../../bytes/damage.ts";
import { CdxjScanner } from "./cdxj-scanner.ts";
import { readElsewhere } from "./read-elsewhere.ts";
import {
  type BlockTask,
  type PartResult,
  RangeBuffer,
  rangeBufferBytes,
  type RangeTask,
  type ReadTask,
  transferOf,
} from "../../input/index-input.ts";
import {
  combineStored,
  type CombineTask,
  readingRuns,
  type RowsTarget,
  type StoredRun,
  writingTo,
} from "./stored-runs.ts";
import { requiredFile } from "../../files/package-file.ts";
import { inTurns, onThread, type Remote, type RemoteCall, Thread } from "../../threads/thread.ts";

export type { PartResult } from "../../input/index-input.ts";

/** What a job needs to begin; can be sent to another thread. */
export interface JobOptions {
  readonly name: string;
  readonly reader: IndexReaderOptions;
  readonly tableBytes: number;
  readonly scratch: string;
  /** Whether other threads keep all cores busy. */
  readonly inPlace: boolean;
}

/** The first and the last key of a table that is still in memory. */
export interface KeptKeys {
  readonly first: Uint8Array;
  readonly last: Uint8Array;
  /** How long the rows of these keys will be, if that can be told without making them. */
  readonly rowBytes: number | undefined;
}

export interface FinishResult {
  readonly counts: IndexCounts;
  readonly runs: readonly StoredRun[];
  /** Set if there are no runs: all keys are in memory, for `emit` or `store`. */
  readonly kept: KeptKeys | undefined;
}

/** Where to write the rows of the keys that are in memory. */
export interface EmitTask {
  readonly target: RowsTarget;
  readonly isSample?: boolean | undefined;
}

export interface MergeTask {
  readonly runs: readonly StoredRun[];
  readonly range: KeyRange;
  readonly target: RowsTarget;
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
  #kept: SortedTable | undefined;
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
    if (task.kind === "captures") {
      const fault = reader.readCaptures(task.batch);
      return { lines: reader.partLines, fault };
    }
    const { maxLineBytes, skipBad } = this.#options.reader;
    const damage = skipBad && skipsFaults(task.format) ? newDamageLog() : undefined;
    const { inPlace } = this.#options;
    const fault = await readElsewhere(task, reader, maxLineBytes, { damage, inPlace });
    return { lines: reader.partLines, fault, damage };
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

  /** Ends reading. Keys that never had to be put away stay in memory. */
  finish(): FinishResult {
    const { counts } = this.#reader;
    if (this.#runs.length > 0) this.#storeRun();
    if (this.#runs.length > 0 || this.#table.size === 0) {
      return { counts, runs: this.#runs, kept: undefined };
    }
    const keys = this.#table.sort();
    this.#kept = keys;
    const rowBytes = this.#isMarked ? undefined : plainRowBytes(keys);
    return { counts, runs: [], kept: { first: keys.first(), last: keys.last(), rowBytes } };
  }

  /** Writes the rows of the keys that are in memory, if nobody else has any of them. */
  emit({ target, isSample }: EmitTask): MergeResult {
    return this.#writeRows(target, isSample, (rows) => {
      this.#kept?.forEach((arena, start, end, count) => {
        rows.addRange(arena, start, end, count);
      });
    });
  }

  /** Puts the keys that are in memory away after all. */
  store(): StoredRun[] {
    const kept = this.#kept;
    if (kept !== undefined) this.#writeRun(kept);
    this.#kept = undefined;
    this.#table.clear();
    return this.#runs;
  }

  #storeRun(): void {
    if (this.#table.size === 0) return;
    this.#table.drain((keys) => {
      this.#writeRun(keys);
    });
  }

  #writeRun(keys: SortedKeys): void {
    const path = join(this.#options.scratch, `${this.#options.name}-${this.#runs.length}.run`);
    writingTo({ path }, (write) => {
      this.#runs.push({ path, index: writeRun(keys, write) });
    });
  }

  /** Makes one run of several. */
  combine(task: CombineTask): StoredRun {
    return combineStored(task);
  }

  merge({ runs, range, target, isSample }: MergeTask): MergeResult {
    return readingRuns(runs, range.from, (readers) =>
      this.#writeRows(target, isSample, (rows) => {
        mergeRuns(readers, range, (key, keyLength, count) => {
          rows.add(key, keyLength, count);
        });
      }),
    );
  }

  get #isMarked(): boolean {
    const { originals, distinct } = this.#options.reader;
    return originals || distinct === true;
  }

  #writeRows(
    target: RowsTarget,
    isSample: boolean | undefined,
    fill: (rows: MapRows) => void,
  ): MergeResult {
    const { originals, distinct } = this.#options.reader;
    let bytes = 0;
    let result = { rows: 0, mementos: 0 };
    writingTo(target, (write) => {
      const rows = new MapRows({ originals, distinct, isSample }, (block) => {
        bytes += block.length;
        write(block);
      });
      fill(rows);
      rows.end();
      result = { rows: rows.rows, mementos: rows.mementos };
    });
    return { ...result, bytes };
  }
}

const METHODS = ["read", "finish", "emit", "store", "combine", "merge"] as const;

/** Something that does a share of the work: a thread of its own, or this one. */
export interface Lane extends Remote<GenerateJob, (typeof METHODS)[number]> {
  /** How many parts to give it at once, so that it need not wait for the next. */
  readonly readsAtOnce: number;
  end(): Promise<void>;
}

/** Works on this thread. */
export function inlineLane(options: JobOptions): Lane {
  const job = inTurns(new GenerateJob(options), METHODS);
  return { ...job, readsAtOnce: 1, end: () => Promise.resolve() };
}

/** Starts a thread for a {@link threadLane}; it can start before it is known what to do. */
export function startLaneThread(): Thread {
  return new Thread(requiredFile("dist/map/generate/generate-worker.js"), undefined);
}

/** Works on a worker thread. */
export function threadLane(thread: Thread, options: JobOptions): Lane {
  // Whatever fails here fails the calls that follow.
  thread.ask({ method: "open", args: [options] } satisfies RemoteCall).catch(() => undefined);
  const job = onThread<GenerateJob, (typeof METHODS)[number]>(thread, METHODS, {
    read: transferOf,
  });
  return { ...job, readsAtOnce: 2, end: () => thread.end() };
}
