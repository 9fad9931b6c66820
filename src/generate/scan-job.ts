import { join } from "node:path";
import { joinBytes } from "../bytes/bytes.ts";
import { requiredFile } from "../files/package-file.ts";
import { type PartResult, type ReadTask, transferOf } from "../input/index-input.ts";
import { TaskReader } from "../input/read-task.ts";
import { type CaptureSink, RowReader, type RowReaderOptions } from "../input/row-reader.ts";
import { inTurns, onThread, type Remote, Thread } from "../threads/thread.ts";
import { KeyTable, type SortedKeys } from "./key-table.ts";
import { MapRows, type MapRowsOptions } from "./map-rows.ts";
import { type KeyRange, mergeRuns, writeRun } from "./runs.ts";
import {
  combineStored,
  type CombineTask,
  readingRuns,
  type StoredRun,
  writingTo,
} from "./stored-runs.ts";

/** What a job needs to begin; can be sent to another thread. */
export interface ScanJobOptions<SinkOptions> {
  readonly name: string;
  readonly reader: RowReaderOptions;
  readonly sink: SinkOptions;
  readonly tableBytes: number;
  /** The folder for runs that do not stay in memory. */
  readonly scratch: string;
}

/** A sink that counts keys in a table, which `drain` empties, and may find something else besides. */
export interface KeySink<Found> extends CaptureSink {
  /** What it found; can be sent to another thread. */
  found(): Found;
}
export type OpenSink<SinkOptions, Found> = (
  options: SinkOptions,
  table: KeyTable,
  drain: () => void,
) => KeySink<Found>;

export interface ScanResult<Found> {
  readonly found: Found;
  /** All keys. */
  readonly runs: readonly StoredRun[];
}

export interface MergeTask {
  readonly runs: readonly StoredRun[];
  readonly range: KeyRange;
  /** The scratch file to write rows to. */
  readonly path: string;
  readonly rows: MapRowsOptions;
}

export interface MergeResult {
  readonly rows: number;
  readonly bytes: number;
  readonly mementos: number;
}

/** A run that is no longer stays in memory until it is merged, if it is the only one of its thread. */
const MAX_MEMORY_RUN_BYTES = 2 ** 24;

/**
 * One thread's share of reading indexes: hands captures to a sink, puts full tables away as sorted
 * runs, and later merges a range of keys of everybody's runs.
 */
export class ScanJob<SinkOptions, Found> {
  readonly #options: ScanJobOptions<SinkOptions>;
  readonly #sink: KeySink<Found>;
  readonly #tasks: TaskReader;
  readonly #table: KeyTable;
  readonly #runs: StoredRun[] = [];

  constructor(options: ScanJobOptions<SinkOptions>, openSink: OpenSink<SinkOptions, Found>) {
    this.#options = options;
    this.#table = new KeyTable(options.tableBytes);
    this.#sink = openSink(options.sink, this.#table, () =>
      this.#store((keys) => this.#toFile(keys)),
    );
    this.#tasks = new TaskReader(new RowReader(this.#sink, options.reader), options.reader);
  }

  read(task: ReadTask): Promise<PartResult> {
    return this.#tasks.read(task);
  }

  /** Ends reading. */
  finish(): ScanResult<Found> {
    const isSmall = this.#runs.length === 0 && this.#table.keyBytes <= MAX_MEMORY_RUN_BYTES;
    this.#store((keys) => (isSmall ? memoryRun(keys) : this.#toFile(keys)));
    return { found: this.#sink.found(), runs: this.#runs };
  }

  #store(write: (keys: SortedKeys) => StoredRun): void {
    if (this.#table.size > 0) this.#table.drain((keys) => this.#runs.push(write(keys)));
  }

  #toFile(keys: SortedKeys): StoredRun {
    const path = join(this.#options.scratch, `${this.#options.name}-${this.#runs.length}.run`);
    return { path, index: writingTo(path, (write) => writeRun(keys, write)) };
  }

  /** Makes one run of several. */
  combine(task: CombineTask): StoredRun {
    return combineStored(task);
  }

  /** Writes the rows of a range of keys of runs. */
  merge({ runs, range, path, rows: options }: MergeTask): MergeResult {
    return writingTo(path, (write) => mergeRows(runs, range, options, write));
  }
}

function memoryRun(keys: SortedKeys): StoredRun {
  const chunks: Uint8Array[] = [];
  const index = writeRun(keys, (chunk) => void chunks.push(chunk.slice()));
  return { bytes: joinBytes(chunks), index };
}

/** Makes the rows of a range of keys of runs. */
export function mergeRows(
  runs: readonly StoredRun[],
  range: KeyRange,
  options: MapRowsOptions,
  write: (block: Uint8Array) => void,
): MergeResult {
  let bytes = 0;
  const rows = new MapRows(options, (block) => {
    bytes += block.length;
    write(block);
  });
  readingRuns(runs, range.from, (readers) => {
    mergeRuns(readers, range, (key, length, count) => rows.add(key, length, count));
  });
  rows.end();
  return { rows: rows.rows, mementos: rows.mementos, bytes };
}

const METHODS = ["read", "finish", "combine", "merge"] as const;

/** Something that does a share of the work: a thread of its own, or this one. */
export interface Lane<Found> extends Remote<ScanJob<unknown, Found>, (typeof METHODS)[number]> {
  /** How many parts to give it at once, so that it need not wait for the next. */
  readonly readsAtOnce: number;
  end(): Promise<void>;
}

/** How captures are scanned: by whom, here and in threads. */
export interface ScanKind<SinkOptions, Found> {
  /** The module of the thread; it serves {@link ScanJob}s with the same sink. */
  readonly worker: string;
  readonly openSink: OpenSink<SinkOptions, Found>;
}

/** Works on this thread. */
export function inlineLane<SinkOptions, Found>(
  { openSink }: ScanKind<SinkOptions, Found>,
  options: ScanJobOptions<SinkOptions>,
): Lane<Found> {
  const job = inTurns(new ScanJob(options, openSink), METHODS);
  return { ...job, readsAtOnce: 1, end: () => Promise.resolve() };
}

/** Works on a worker thread. */
export function threadLane<SinkOptions, Found>(
  { worker }: ScanKind<SinkOptions, Found>,
  options: ScanJobOptions<SinkOptions>,
): Lane<Found> {
  const thread = new Thread(requiredFile(worker), options);
  const job = onThread<ScanJob<SinkOptions, Found>, (typeof METHODS)[number]>(thread, METHODS, {
    read: transferOf,
  });
  return { ...job, readsAtOnce: 2, end: () => thread.end() };
}
