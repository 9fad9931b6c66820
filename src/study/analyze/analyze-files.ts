import { setImmediate } from "node:timers/promises";
import type { Analysis } from "./analysis.ts";
import { joinTallies } from "./capture-tally.ts";
import { HoldingsTree } from "./holdings-tree.ts";
import { summarize } from "./summarize.ts";
import { MAX_LINE_BYTES } from "../../bytes/lines.ts";
import { tableBytes } from "../../map/generate/key-table.ts";
import type { GenerateOptions } from "../../map/generate/generate-plan.ts";
import { ReadReporter } from "../../map/generate/read-all.ts";
import {
  type CombineOptions,
  combineRuns,
  combineStored,
  readingRuns,
  type RunCombiner,
  type StoredRun,
} from "../../map/generate/stored-runs.ts";
import { FileProgress, type IndexInput, type Part } from "../../input/index-input.ts";
import { openInputs } from "../../input/open-inputs.ts";
import { checkSignal, Interrupt, type InterruptOptions } from "../../interruption.ts";
import { keepCoresBusy } from "../../threads/thread.ts";
import { withTempDir } from "../../files/scratch.ts";
import {
  type AnalyzeJobOptions,
  type AnalyzeJobResult,
  type AnalyzeLane,
  inlineLane,
  threadLane,
} from "./lane.ts";
import { cutRuns, mergeRuns, type VisitKey } from "../../map/generate/runs.ts";

export interface AnalyzeFilesOptions
  extends
    InterruptOptions,
    Omit<
      GenerateOptions,
      "add" | "distinct" | "originals" | "datetimeDigits" | "skipBad" | "description"
    > {
  /** Rows of the tables of the most archived; 20 by default. */
  readonly top?: number | undefined;
  /** Captures of pages to draw at random; 10 by default. */
  readonly samples?: number | undefined;
  /** 4 to 14 digits; captures up to and including then are counted without their month. */
  readonly asOf?: string | undefined;
}

export const DEFAULT_TOP = 20;
export const DEFAULT_SAMPLES = 10;
const DEFAULT_MEMORY_BYTES = 512 * 2 ** 20;
/** What a thread needs for its tallies, beside what one of `generate` does. */
const TALLY_BYTES = 36 * 2 ** 20;
/** A second thread costs more than it gives on less than this. */
const BYTES_WORTH_A_THREAD = 8 * 2 ** 20;

/**
 * Analyzes index files: the tables and figures of the paper, for the archive at hand.
 *
 * Reads every input once, in any order and sorted or not. Holds at most `memoryBytes`; captures go
 * through sorted runs in a scratch folder, about a fifth of the size of a CDX file. The result does
 * not depend on the order of files, on threads or on memory. Lines that cannot be read are counted,
 * with examples.
 *
 * @throws MM_IO, MM_BAD_INPUT, MM_LIMIT, MM_INTERRUPTED, MM_USAGE
 */
export function analyzeFiles(
  paths: readonly string[],
  options: AnalyzeFilesOptions,
): Promise<Analysis> {
  return Interrupt.during(options, (interrupt) => analyze(paths, { ...options, interrupt }));
}

async function analyze(paths: readonly string[], options: AnalyzeFilesOptions): Promise<Analysis> {
  const { top = DEFAULT_TOP, samples = DEFAULT_SAMPLES } = options;
  const scratchOptions = { parent: options.scratch, interrupt: options.interrupt };
  return withTempDir(scratchOptions, async (scratch) => {
    const { results, runs, files, storedBytes } = await sortCaptures(paths, scratch, options);
    const tree = new HoldingsTree(top);
    await mergeStored(runs, { ...options, scratch }, (key, keyLength, count) => {
      tree.add(key, keyLength, count);
    });
    tree.end();
    const tally = joinTallies(
      results.map((result) => result.tally),
      samples,
    );
    return summarize(tally, tree, { files, storedBytes, runs: runs.length, top });
  });
}

/** The captures of index files, tallied, and sorted by original and month in stored runs. */
interface SortedCaptures {
  readonly results: readonly AnalyzeJobResult[];
  readonly runs: readonly StoredRun[];
  readonly files: number;
  readonly storedBytes: number | null;
}

/** Reads index files and sorts their captures into runs in the folder `scratch`. */
export async function sortCaptures(
  paths: readonly string[],
  scratch: string,
  options: AnalyzeFilesOptions,
): Promise<SortedCaptures> {
  const progress = new FileProgress();
  const inputs = await openInputs(paths, {
    format: options.format ?? "auto",
    keys: options.keys ?? "auto",
    untrusted: new Set(),
    maxLineBytes: options.maxLineBytes ?? MAX_LINE_BYTES,
    archive: options.archive,
    streams: options.streams,
    signal: options.interrupt?.signal,
    split: options.split,
    progress,
  });
  const storedBytes = totalSize(inputs);
  const reporter = new ReadReporter(progress, options.onRead);
  const onRead = (bytes: number): void => reporter.add(bytes);
  const results = await scan(inputs, storedBytes, scratch, { ...options, onRead }).finally(() => {
    reporter.end();
  });
  const runs = results.flatMap((result) => result.runs);
  // The first split of a file stands for it.
  const files = (options.split?.start ?? 0) === 0 ? inputs.length : 0;
  return { results, runs, files, storedBytes };
}

function totalSize(inputs: readonly IndexInput[]): number | null {
  let bytes = 0;
  for (const { size } of inputs) {
    if (size === undefined) return null;
    bytes += size;
  }
  return bytes;
}

async function scan(
  inputs: readonly IndexInput[],
  storedBytes: number | null,
  scratch: string,
  options: AnalyzeFilesOptions,
): Promise<AnalyzeJobResult[]> {
  const lanes = openLanes(inputs, storedBytes, scratch, options);
  try {
    await readAll(inputs, lanes, options);
    return await Promise.all(lanes.map((lane) => lane.finish()));
  } finally {
    await Promise.all(lanes.map((lane) => lane.end()));
  }
}

function openLanes(
  inputs: readonly IndexInput[],
  storedBytes: number | null,
  scratch: string,
  options: AnalyzeFilesOptions,
): AnalyzeLane[] {
  const worthwhile =
    storedBytes === null ? Infinity : Math.ceil(storedBytes / BYTES_WORTH_A_THREAD);
  const threads = Math.max(1, Math.min(options.threads ?? 1, worthwhile));
  const memoryBytes = options.memoryBytes ?? DEFAULT_MEMORY_BYTES;
  const isInflated = inputs.some((input) => input.isInflated);
  const job = (index: number): AnalyzeJobOptions => ({
    name: `thread-${index}`,
    scratch,
    inPlace: keepCoresBusy(threads, inputs.length),
    tableBytes: tableBytes(memoryBytes - threads * TALLY_BYTES, threads, isInflated),
    scanner: {
      filter: options.filter ?? {},
      maxLineBytes: options.maxLineBytes ?? MAX_LINE_BYTES,
      samples: options.samples ?? DEFAULT_SAMPLES,
      asOf: options.asOf,
    },
  });
  if (threads === 1) return [inlineLane(job(0))];
  return Array.from({ length: threads }, (_, index) => threadLane(job(index)));
}

/** Hands the parts of all inputs to whichever lane is free; stops at the first failure. */
async function readAll(
  inputs: readonly IndexInput[],
  lanes: readonly AnalyzeLane[],
  options: AnalyzeFilesOptions,
): Promise<void> {
  const parts = allParts(inputs);
  const isDone = { value: false };
  const work = async (lane: AnalyzeLane): Promise<void> => {
    while (!isDone.value) {
      const next = await parts.next();
      if (next.done === true) return;
      checkSignal(options.interrupt?.signal);
      await lane.read(next.value.task);
      options.onRead?.(next.value.bytes);
    }
  };
  try {
    await Promise.all(lanes.map((lane) => work(lane)));
  } finally {
    isDone.value = true;
    await parts.return();
  }
}

/** Generators answer requests one after the other, so several lanes may ask at once. */
async function* allParts(inputs: readonly IndexInput[]): AsyncGenerator<Part, void, undefined> {
  for (const input of inputs) yield* input.parts(inputs.length === 1);
}

/** What is merged between two looks at whether the user wants to stop. */
const BYTES_PER_TURN = 16 * 2 ** 20;

/** Works on this thread; lets others have a turn before. */
const HERE: RunCombiner = {
  async combine(task) {
    await setImmediate();
    return combineStored(task);
  },
};

/**
 * Merges stored runs on this thread; each key is visited once, in byte order.
 *
 * Holds 64 KiB of each of at most `maxOpenRuns` runs; more are merged in rounds, in the folder
 * `scratch`.
 *
 * @throws MM_IO, MM_INTERRUPTED
 */
export async function mergeStored(
  runs: readonly StoredRun[],
  options: CombineOptions,
  visit: VisitKey,
): Promise<void> {
  const left = await combineRuns(runs, [HERE], options);
  const indexes = left.map((run) => run.index);
  const bytes = indexes.reduce((sum, index) => sum + index.byteLength, 0);
  for (const range of cutRuns(indexes, Math.ceil(bytes / BYTES_PER_TURN))) {
    await setImmediate();
    checkSignal(options.interrupt?.signal);
    readingRuns(left, range.from, (readers) => mergeRuns(readers, range, visit));
  }
}
