import { join } from "node:path";
import { requiredFile } from "../files/package-file.ts";
import { type PartResult, type ReadTask, transferOf } from "../input/index-input.ts";
import { TaskReader } from "../input/read-task.ts";
import { type CaptureSink, RowReader, type RowReaderOptions } from "../input/row-reader.ts";
import { inTurns, onThread, type Remote, Thread } from "../threads/thread.ts";
import { KeyTable } from "./key-table.ts";
import { memorize } from "./runs.ts";
import { type StoredRun, storeKeys } from "./stored-runs.ts";

/** The options of a job; can be sent to another thread. */
export interface ScanJobOptions<SinkOptions> {
  readonly name: string;
  readonly reader: RowReaderOptions;
  readonly sink: SinkOptions;
  readonly tableBytes: number;
  /** The folder for runs that do not stay in memory. */
  readonly scratch: string;
}

/** A sink that counts keys in a table, which `drain` empties, and may have further results. */
export interface KeySink<Found> extends CaptureSink {
  /** Its further results; can be sent to another thread. */
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

/** A run up to this size stays in memory until it is merged, if it is the only one of its thread. */
const MAX_MEMORY_RUN_BYTES = 2 ** 24;

/**
 * Reads indexes on one thread: passes captures to a sink, and stores full tables as sorted runs.
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
    this.#sink = openSink(options.sink, this.#table, () => this.#drain(false));
    this.#tasks = new TaskReader(new RowReader(this.#sink, options.reader), options.reader);
  }

  read(task: ReadTask): Promise<PartResult> {
    return this.#tasks.read(task);
  }

  /** Ends reading. */
  finish(): ScanResult<Found> {
    this.#drain(this.#runs.length === 0 && this.#table.keyBytes <= MAX_MEMORY_RUN_BYTES);
    return { found: this.#sink.found(), runs: this.#runs };
  }

  #drain(isToStay: boolean): void {
    if (this.#table.size === 0) return;
    const { name, scratch } = this.#options;
    const path = join(scratch, `${name}-${this.#runs.length}.run`);
    this.#table.drain((keys) => {
      this.#runs.push(isToStay ? memorize(keys) : storeKeys(keys, path));
    });
  }
}

/** A worker thread, or this thread. */
export interface Lane<Found> {
  readonly job: Remote<Pick<ScanJob<unknown, Found>, "read" | "finish">>;
  /** Number of parts to queue at once, so that it never idles between parts. */
  readonly readsAtOnce: number;
  end(): Promise<void>;
}

/** How captures are scanned, on this thread and on workers. */
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
  const job = inTurns(new ScanJob(options, openSink));
  return { job, readsAtOnce: 1, end: () => Promise.resolve() };
}

/** Works on a worker thread. */
export function threadLane<SinkOptions, Found>(
  { worker }: ScanKind<SinkOptions, Found>,
  options: ScanJobOptions<SinkOptions>,
): Lane<Found> {
  const thread = new Thread(requiredFile(worker), options);
  const job = onThread<ScanJob<SinkOptions, Found>>(thread, { read: transferOf });
  return { job, readsAtOnce: 2, end: () => thread.end() };
}
