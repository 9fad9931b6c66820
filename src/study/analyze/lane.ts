import { join } from "node:path";
import { CaptureScanner, type ScannerOptions } from "./capture-scanner.ts";
import type { TallyData } from "./capture-tally.ts";
import { KeyTable } from "../../map/generate/key-table.ts";
import { writeRun } from "../../map/generate/runs.ts";
import { readElsewhere } from "../../map/generate/read-elsewhere.ts";
import { RangeBuffer, type ReadTask, transferOf } from "../../input/index-input.ts";
import { type StoredRun, writingTo } from "../../map/generate/stored-runs.ts";
import { requiredFile } from "../../files/package-file.ts";
import { Thread } from "../../threads/thread.ts";

/** What a job needs to begin; can be sent to another thread. */
export interface AnalyzeJobOptions {
  readonly name: string;
  readonly scanner: ScannerOptions;
  readonly tableBytes: number;
  readonly scratch: string;
  /** Whether other threads keep all cores busy. */
  readonly inPlace: boolean;
}

export interface AnalyzeJobResult {
  readonly tally: TallyData;
  readonly runs: readonly StoredRun[];
}

/** One thread's share of `analyze`: tallies captures, and puts them away sorted by original. */
export class AnalyzeJob {
  readonly #options: AnalyzeJobOptions;
  readonly #scanner: CaptureScanner;
  readonly #table: KeyTable;
  readonly #ranges: RangeBuffer;
  readonly #runs: StoredRun[] = [];

  constructor(options: AnalyzeJobOptions) {
    this.#options = options;
    this.#table = new KeyTable(options.tableBytes);
    this.#ranges = new RangeBuffer(options.scanner.maxLineBytes);
    this.#scanner = new CaptureScanner(options.scanner, this.#table, () => {
      this.#storeRun();
    });
  }

  /** Reads a part of any kind. */
  async read(task: ReadTask): Promise<void> {
    const scanner = this.#scanner;
    scanner.startPart(task.format);
    if (task.kind === "range") {
      this.#ranges.read(task, scanner);
    } else if (task.kind === "block") {
      scanner.readLines(new Uint8Array(task.buffer, 0, task.length), 0, task.length);
    } else if (task.kind === "captures") {
      scanner.readCaptures(task.batch);
    } else {
      const { inPlace } = this.#options;
      await readElsewhere(task, scanner, this.#options.scanner.maxLineBytes, { inPlace });
    }
  }

  /** Stores the rest of the table, so that the runs have everything that was read. */
  finish(): AnalyzeJobResult {
    this.#storeRun();
    return { tally: this.#scanner.tally.data(), runs: this.#runs };
  }

  #storeRun(): void {
    if (this.#table.size === 0) return;
    const path = join(this.#options.scratch, `${this.#options.name}-${this.#runs.length}.run`);
    writingTo({ path }, (write) => {
      this.#table.drain((keys) => {
        this.#runs.push({ path, index: writeRun(keys, write) });
      });
    });
  }
}

/** Something that does a share of the work: a thread of its own, or this one. */
export interface AnalyzeLane {
  read(task: ReadTask): Promise<void>;
  finish(): Promise<AnalyzeJobResult>;
  end(): Promise<void>;
}

/** What the coordinator asks of a worker thread. */
export type AnalyzeRequest =
  | { readonly kind: "read"; readonly task: ReadTask }
  | { readonly kind: "finish" };

/** Works on this thread; lets others have a turn before each step. */
export class InlineAnalyzeLane implements AnalyzeLane {
  readonly #job: AnalyzeJob;

  constructor(options: AnalyzeJobOptions) {
    this.#job = new AnalyzeJob(options);
  }

  async read(task: ReadTask): Promise<void> {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    await this.#job.read(task);
  }

  finish(): Promise<AnalyzeJobResult> {
    return Promise.resolve(this.#job.finish());
  }

  end(): Promise<void> {
    return Promise.resolve();
  }
}

/** Works on a worker thread. */
export class ThreadAnalyzeLane implements AnalyzeLane {
  readonly #thread: Thread;

  constructor(options: AnalyzeJobOptions) {
    this.#thread = new Thread(requiredFile("dist/study/analyze/worker.js"), options);
  }

  async read(task: ReadTask): Promise<void> {
    await this.#thread.ask({ kind: "read", task } satisfies AnalyzeRequest, transferOf(task));
  }

  async finish(): Promise<AnalyzeJobResult> {
    const request: AnalyzeRequest = { kind: "finish" };
    return (await this.#thread.ask(request)) as AnalyzeJobResult; // what the worker answers
  }

  end(): Promise<void> {
    return this.#thread.end();
  }
}
