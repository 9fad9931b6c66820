import { rm } from "node:fs/promises";
import { join } from "node:path";
import { MementoMapError, quote } from "../../errors.ts";
import type { IndexCounts } from "../../generate/index-counts.ts";
import { addIndexCounts, newIndexCounts } from "../../generate/index-counts.ts";
import type { Canonicalization, MapDescription } from "../../generate/map-headers.ts";
import { mapHeaders } from "../../generate/map-headers.ts";
import { cutRuns } from "../../generate/cut-runs.ts";
import type { InputFormat, KeyTrust } from "../../input/detect.ts";
import type { CaptureFilter } from "../../input/filter.ts";
import { copyToOutput } from "../copy-to-output.ts";
import type { InputStreams } from "../input-file.ts";
import type { IndexInput } from "../input/index-input.ts";
import type { Interrupt } from "../interrupt.ts";
import type { Output } from "../output-file.ts";
import { withTempDir } from "../temp-dir.ts";
import type { MergeResult, StoredRun } from "./job.ts";
import type { Lane } from "./lane.ts";
import { InlineLane, ThreadLane } from "./lane.ts";
import { tableBytes } from "./memory.ts";
import type { GeneratePlan } from "./plan.ts";
import { planGenerate } from "./plan.ts";
import { ReadReporter } from "./read-reporter.ts";
import type { Part } from "./tasks.ts";

export interface GenerateOptions {
  readonly format?: InputFormat | undefined;
  readonly filter?: CaptureFilter | undefined;
  /** Maps to add the inputs to; the result is as if it were made from all their indexes. */
  readonly add?: readonly string[] | undefined;
  /** Whether to trust key columns; by default only where a sample agrees with the URIs. */
  readonly keys?: KeyTrust | undefined;
  /** Which archive to take from logs and TimeMaps of aggregators. */
  readonly archive?: string | undefined;
  /** Count captures of the same URI and time once; always done for logs and TimeMaps. */
  readonly distinct?: boolean | undefined;
  /** Count originals too. */
  readonly originals?: boolean | undefined;
  /** Digits of the datetime to split rows by, 0 (the default) to 14. */
  readonly datetimeDigits?: number | undefined;
  /** Count and leave out lines that cannot be read, instead of failing. */
  readonly skipBad?: boolean | undefined;
  readonly description?: MapDescription | undefined;
  /** What the whole run may hold; 512 MiB by default. */
  readonly memoryBytes?: number | undefined;
  readonly threads?: number | undefined;
  /** The folder for scratch files. */
  readonly scratch?: string | undefined;
  readonly maxLineBytes?: number | undefined;
  readonly streams: InputStreams;
  readonly interrupt?: Interrupt | undefined;
  /** Told how many stored bytes were read since the last call. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

export interface GenerateSummary {
  readonly counts: IndexCounts;
  /** Rows of the map. */
  readonly rows: number;
  /** Bytes of the map, before compression. */
  readonly bytes: number;
  /** The sum of all counts. */
  readonly mementos: number;
  /** Captures that were told of before; only known where captures are told apart. */
  readonly duplicates: number;
  /** Inputs whose key column is not the SURT of the URI, so that keys were made anew. */
  readonly rekeyed: readonly string[];
  /** How the keys were made, as the map's header says. */
  readonly canonicalization: Canonicalization;
  /** Sorted runs that went through the disk. */
  readonly runs: number;
}

const DEFAULT_MEMORY_BYTES = 512 * 2 ** 20;
const DEFAULT_MAX_LINE_BYTES = 2 ** 20;
/** A second thread costs more than it gives on less than this. */
const BYTES_WORTH_A_THREAD = 8 * 2 ** 20;
/** Merging in more parts than threads lets the first be written out while others are merged. */
const MERGES_PER_THREAD = 4;

/**
 * Makes a map from index files: reads, filters, keys, counts, sorts and writes.
 *
 * Reads every input once, in any order and sorted or not; again from the start if a key column that
 * was trusted turns out to differ from the URIs. Holds at most `memoryBytes`; what does not fit goes
 * through sorted runs in a scratch folder. The rows do not depend on the order of files, on threads
 * or on memory.
 *
 * @throws MM_IO, MM_BAD_INPUT, MM_BAD_LINE (with file and line), MM_LIMIT, MM_INTERRUPTED, MM_USAGE
 */
export async function generateFiles(
  paths: readonly string[],
  output: Output,
  options: GenerateOptions,
): Promise<GenerateSummary> {
  const untrusted = new Set<string>();
  for (;;) {
    try {
      return await generateOnce(paths, output, options, untrusted);
    } catch (error) {
      if (!(error instanceof KeysDiffer)) throw error;
      untrusted.add(error.source);
    }
  }
}

/** Says that an input has to be read again, with keys made from its URIs. */
class KeysDiffer extends Error {
  readonly source: string;

  constructor(source: string) {
    super(source);
    this.source = source;
  }
}

async function generateOnce(
  paths: readonly string[],
  output: Output,
  options: GenerateOptions,
  untrusted: ReadonlySet<string>,
): Promise<GenerateSummary> {
  const plan = await planGenerate(paths, options, untrusted);
  const scratchOptions = { parent: options.scratch, interrupt: options.interrupt };
  return withTempDir(scratchOptions, async (scratch) => {
    const lanes = openLanes(plan, scratch, options);
    try {
      await readAll(plan, lanes, options);
      const finished = await Promise.all(lanes.map((lane) => lane.finish()));
      const counts = newIndexCounts();
      for (const result of finished) addIndexCounts(counts, result.counts);
      const runs = finished.flatMap((result) => result.runs);
      const header = mapHeaders(plan.description, options.datetimeDigits ?? 0);
      await output.write(header);
      const merged = await writeMerged(runs, lanes, scratch, output, {
        isSample: counts.samples > 0,
        interrupt: options.interrupt,
      });
      return {
        ...merged,
        counts,
        bytes: merged.bytes + header.length,
        runs: runs.length,
        duplicates: plan.isDistinct ? counts.captures - merged.mementos : 0,
        rekeyed: plan.inputs.filter((i) => i.format.isRekeyed).map((i) => i.source),
        canonicalization: plan.description.canonicalization ?? "surt",
      };
    } finally {
      await Promise.all(lanes.map((lane) => lane.end()));
    }
  });
}

function openLanes(plan: GeneratePlan, scratch: string, options: GenerateOptions): Lane[] {
  const threads = Math.max(1, Math.min(options.threads ?? 1, threadsWorthwhile(plan)));
  const job = (index: number): ConstructorParameters<typeof InlineLane>[0] => ({
    name: `thread-${index}`,
    scratch,
    tableBytes: tableBytes(
      options.memoryBytes ?? DEFAULT_MEMORY_BYTES,
      threads,
      plan.inputs.some((input) => input.isInflated),
    ),
    reader: {
      filter: options.filter ?? {},
      originals: options.originals ?? false,
      distinct: plan.isDistinct,
      datetimeDigits: options.datetimeDigits ?? 0,
      skipBad: options.skipBad ?? false,
      maxLineBytes: options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES,
      checkKeys: (options.keys ?? "auto") === "auto",
    },
  });
  if (threads === 1) return [new InlineLane(job(0))];
  return Array.from({ length: threads }, (_, index) => new ThreadLane(job(index)));
}

function threadsWorthwhile({ inputs }: GeneratePlan): number {
  const bytes = inputs.reduce((sum, input) => sum + (input.size ?? Number.POSITIVE_INFINITY), 0);
  return Math.ceil(bytes / BYTES_WORTH_A_THREAD);
}

/**
 * Hands the parts of all inputs to whichever lane is free.
 *
 * Of several failures the one in the earliest part is thrown, whichever thread met its own first.
 */
async function readAll(
  plan: GeneratePlan,
  lanes: readonly Lane[],
  options: GenerateOptions,
): Promise<void> {
  const reporter = new ReadReporter(plan.progress, options.onRead);
  try {
    await handOutAll(plan, lanes, reporter);
  } catch (error) {
    reporter.takeBack();
    throw error;
  } finally {
    reporter.end();
  }
}

async function handOutAll(
  { inputs, canReread }: GeneratePlan,
  lanes: readonly Lane[],
  reporter: ReadReporter,
): Promise<void> {
  const idle = [...lanes];
  const busy = new Set<Promise<void>>();
  const failures = new Map<number, unknown>();
  let parts = 0;
  const handOut = async (input: IndexInput): Promise<void> => {
    let total = Promise.resolve(0);
    for await (const part of input.parts(inputs.length === 1 && lanes.length > 1)) {
      while (idle.length === 0) await Promise.race(busy);
      if (failures.size > 0) return;
      const lane = idle.pop() as Lane; // just waited for one
      const lines = new PartLines(total);
      ({ total } = lines);
      const index = parts++;
      const work = readPart(part, lane, lines, reporter)
        .then((keysDiffer) => {
          if (keysDiffer && canReread) throw new KeysDiffer(part.source);
        })
        .catch((error: unknown) => {
          failures.set(index, error);
        })
        .finally(() => {
          busy.delete(work);
          idle.push(lane);
        });
      busy.add(work);
    }
  };
  for (const input of inputs) {
    if (failures.size > 0) break;
    await handOut(input).catch((error: unknown) => {
      failures.set(parts, error);
    });
  }
  await Promise.all(busy);
  if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
}

async function readPart(
  part: Part,
  lane: Lane,
  partLines: PartLines,
  reporter: ReadReporter,
): Promise<boolean> {
  try {
    const { lines, fault, keysDiffer } = await lane.read(part.task);
    reporter.add(part.bytes);
    partLines.settle(lines);
    if (fault === undefined) return keysDiffer === true;
    const line = (await partLines.before) + fault.linesBefore + 1;
    throw new MementoMapError(fault.code, `${fault.message}: ${quote(fault.line)}`, {
      position: { source: part.source, line },
    });
  } finally {
    partLines.settle(0);
  }
}

/** A part in the line of parts of one input. */
class PartLines {
  /** Lines before this part, once all parts before it have been read. */
  readonly before: Promise<number>;
  /** Lines up to and including this part. */
  readonly total: Promise<number>;
  #settle: ((lines: number) => void) | undefined;

  constructor(before: Promise<number>) {
    this.before = before;
    const own = new Promise<number>((resolve) => {
      this.#settle = resolve;
    });
    this.total = before.then(async (count) => count + (await own));
  }

  /** Says how many lines this part has; only the first call counts. */
  settle(lines: number): void {
    this.#settle?.(lines);
  }
}

async function writeMerged(
  runs: readonly StoredRun[],
  lanes: readonly Lane[],
  scratch: string,
  output: Output,
  options: { readonly isSample: boolean; readonly interrupt?: Interrupt | undefined },
): Promise<MergeResult> {
  const parts = lanes.length === 1 ? 1 : lanes.length * MERGES_PER_THREAD;
  const ranges = cutRuns(
    runs.map((run) => run.index),
    parts,
  );
  const { isSample } = options;
  let [rows, bytes, mementos] = [0, 0, 0];
  const merges = ranges.map(async (range, i) => {
    const target = join(scratch, `part-${i}.rows`);
    return {
      target,
      result: await lanes[i % lanes.length].merge({ runs, range, target, isSample }),
    };
  });
  for (const merge of merges) merge.catch(() => undefined); // met below, in order
  for (const merge of merges) {
    const { target, result } = await merge;
    options.interrupt?.signal.throwIfAborted();
    rows += result.rows;
    bytes += result.bytes;
    mementos += result.mementos;
    await copyToOutput(target, output);
    await rm(target);
  }
  return { rows, bytes, mementos };
}
