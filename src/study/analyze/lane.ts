import { join } from "node:path";
import { CaptureScanner, type ScannerOptions } from "./capture-scanner.ts";
import type { TallyData } from "./capture-tally.ts";
import { KeyTable } from "../../map/generate/key-table.ts";
import { writeRun } from "../../map/generate/runs.ts";
import { readElsewhere } from "../../map/generate/read-elsewhere.ts";
import { RangeBuffer, type ReadTask, transferOf } from "../../input/index-input.ts";
import { type StoredRun, writingTo } from "../../map/generate/stored-runs.ts";
import { requiredFile } from "../../files/package-file.ts";
import { inTurns, onThread, type Remote, Thread } from "../../threads/thread.ts";

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
    this.#scanner = new CaptureScanner(options.scanner, this.#table, () => this.#storeRun());
  }

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
      this.#table.drain((keys) => this.#runs.push({ path, index: writeRun(keys, write) }));
    });
  }
}

const METHODS = ["read", "finish"] as const;

/** Something that does a share of the work: a thread of its own, or this one. */
export interface AnalyzeLane extends Remote<AnalyzeJob, (typeof METHODS)[number]> {
  end(): Promise<void>;
}

export function inlineLane(options: AnalyzeJobOptions): AnalyzeLane {
  return { ...inTurns(new AnalyzeJob(options), METHODS), end: () => Promise.resolve() };
}

export function threadLane(options: AnalyzeJobOptions): AnalyzeLane {
  const thread = new Thread(requiredFile("dist/study/analyze/analyze-worker.js"), options);
  const job = onThread<AnalyzeJob, (typeof METHODS)[number]>(thread, METHODS, { read: transferOf });
  return { ...job, end: () => thread.end() };
}
