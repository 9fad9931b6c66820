import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { addIndexCounts, countDamage, type IndexCounts, newIndexCounts } from "./index-counts.ts";
import { type Canonicalization, mapHeaders } from "./map-rows.ts";
import { type Damage, newDamageLog } from "../../bytes/damage.ts";
import type { DetectedFormat } from "../../input/detect.ts";
import type { MapOutput } from "../output/map-output.ts";
import { holdsRecords } from "../../input/listed-files.ts";
import { withTempDir } from "../../files/scratch.ts";
import { type GenerateOptions, type GeneratePlan, planGenerate } from "./generate-plan.ts";
import { KeysDiffer, readAll } from "./read-all.ts";
import { MAX_LINE_BYTES } from "../../bytes/lines.ts";
import type { IndexInput } from "../../input/index-input.ts";
import { keepCoresBusy, type Thread } from "../../threads/thread.ts";
import {
  type FinishResult,
  inlineLane,
  type JobOptions,
  type KeptKeys,
  type Lane,
  type MergeResult,
  startLaneThread,
  threadLane,
} from "./generate-job.ts";
import { DEFAULT_MEMORY_BYTES, tableBytes } from "./key-table.ts";
import { compareBytes } from "../../bytes/bytes.ts";
import { cutRuns, rowPart } from "./runs.ts";
import { type CombineOptions, combineRuns, type StoredRun } from "./stored-runs.ts";
import { checkSignal } from "../../interruption.ts";

export interface GenerateSummary {
  readonly counts: IndexCounts;
  /** Rows of the map. */
  readonly rows: number;
  /** Bytes of the map, before compression. */
  readonly bytes: number;
  /** The sum of all counts. */
  readonly mementos: number;
  /** Captures that were read before; known only with deduplication. */
  readonly duplicates: number;
  /** Inputs whose key column is not the SURT of the URI, so that keys were made from URIs. */
  readonly rekeyed: readonly string[];
  /** What was read: records of WARC and ARC files, or lines. */
  readonly unit: "lines" | "records";
  /** Files of records that were not read, because an index that names them was. */
  readonly indexed: readonly string[];
  /** How the keys were made, as the map's header says. */
  readonly canonicalization: Canonicalization;
  /** The first few places that could not be read. */
  readonly damages: readonly Damage[];
  /** Sorted runs that went through the disk. */
  readonly runs: number;
}

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
  output: MapOutput,
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

async function generateOnce(
  paths: readonly string[],
  output: MapOutput,
  options: GenerateOptions,
  untrusted: ReadonlySet<string>,
): Promise<GenerateSummary> {
  // Threads take as long to start as it takes to make a plan.
  const threads = await earlyThreads(paths, options);
  const damage = newDamageLog();
  const noted = options.skipBad === true ? damage : undefined;
  const plan = await planGenerate(paths, options, untrusted, noted).catch(
    async (error: unknown) => {
      await Promise.all(threads.map((thread) => thread.end()));
      throw error;
    },
  );
  const scratchOptions = { parent: options.scratch, interrupt: options.interrupt };
  return withTempDir(scratchOptions, async (scratch) => {
    const lanes = openLanes(plan, scratch, options, threads);
    let isDone = false;
    try {
      await readAll(plan, lanes, damage, options.onRead);
      const finished = await Promise.all(lanes.map((lane) => lane.finish()));
      const counts = newIndexCounts();
      for (const result of finished) addIndexCounts(counts, result.counts);
      countDamage(counts, damage);
      const isSample = counts.samples > 0;
      // A stream cannot be read again with other keys.
      const canonicalization = counts.keysDifferent > 0 ? "index" : plan.canonicalization;
      const description = { ...plan.description, isSample, canonicalization };
      await output.writeHead(mapHeaders(description, options));
      const merged = await writeRows(lanes, finished, {
        scratch,
        isSample,
        output,
        interrupt: options.interrupt,
        maxOpenRuns: options.maxOpenRuns,
      });
      isDone = true;
      return {
        ...merged,
        counts,
        bytes: merged.bytes + output.headBytes,
        duplicates: plan.isDistinct ? counts.captures - merged.mementos : 0,
        rekeyed: plan.inputs.filter((i) => i.format.isRekeyed).map((i) => i.source),
        indexed: plan.indexed,
        unit: plan.inputs.every(holdsRecords) ? "records" : "lines",
        canonicalization,
        damages: damage.first,
      };
    } finally {
      const ended = Promise.all(lanes.map((lane) => lane.end()));
      // When all rows are written, nobody needs to wait for threads to go.
      if (isDone) ended.catch(() => undefined);
      else await ended;
    }
  });
}

/** A second thread costs more than it gives on less than this. */
const BYTES_WORTH_A_THREAD = 8 * 2 ** 20;

/** Starts threads that files of this size are worth for sure. */
async function earlyThreads(
  paths: readonly string[],
  { threads = 1 }: GenerateOptions,
): Promise<Thread[]> {
  let bytes = 0;
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined); // the plan says what is wrong with it
    bytes += found?.isFile() === true ? found.size : 0;
  }
  const lanes = Math.min(threads, Math.floor(bytes / BYTES_WORTH_A_THREAD));
  return Array.from({ length: Math.max(0, lanes - 1) }, startLaneThread);
}

/** Opens as many lanes as the inputs are worth; threads that were started for more are ended. */
function openLanes(
  plan: GeneratePlan,
  scratch: string,
  options: GenerateOptions,
  started: readonly Thread[],
): Lane[] {
  const { inputs } = plan;
  const lanes = lanesWorthwhile(inputs, options.threads ?? 1);
  const job = (index: number): JobOptions => ({
    name: `thread-${index}`,
    scratch,
    inPlace: keepCoresBusy(lanes, inputs.length),
    tableBytes: tableBytes(
      options.memoryBytes ?? DEFAULT_MEMORY_BYTES,
      lanes,
      inputs.some((input) => input.isInflated),
    ),
    reader: {
      filter: options.filter ?? {},
      originals: options.originals ?? false,
      distinct: plan.isDistinct,
      datetimeDigits: options.datetimeDigits ?? 0,
      queries: options.queries,
      skipBad: options.skipBad ?? false,
      maxLineBytes: options.maxLineBytes ?? MAX_LINE_BYTES,
      checkKeys: (options.keys ?? "auto") === "auto",
    },
  });
  // Where nothing has to be decompressed or handed out, this thread can do a share itself.
  const isFree = lanes === 1 || (inputs.length === 1 && inputs[0].isRanged === true);
  const elsewhere = Array.from({ length: isFree ? lanes - 1 : lanes }, (_, i) =>
    threadLane(started[i] ?? startLaneThread(), job(i + 1)),
  );
  for (const surplus of started.slice(elsewhere.length)) surplus.end().catch(() => undefined);
  return isFree ? [inlineLane(job(0)), ...elsewhere] : elsewhere;
}

/** How many lanes to read with, given how many threads may be busy. */
export function lanesWorthwhile(inputs: readonly IndexInput[], threads: number): number {
  const bytes = inputs.reduce((sum, input) => sum + (input.size ?? Number.POSITIVE_INFINITY), 0);
  const worthwhile = Math.min(threads, Math.ceil(bytes / BYTES_WORTH_A_THREAD));
  const [input] = inputs;
  const isStream = inputs.length === 1 && input.isInflated && input.isSequential === true;
  if (!isStream) return Math.max(1, worthwhile);
  // One thread is busy decompressing. It is the slowest where rows come with their keys, and a
  // container is not shared out at all.
  if (input.format.name === "captures") return 1;
  return Math.max(1, hasKeyColumn(input.format) ? Math.min(worthwhile, threads - 1) : worthwhile);
}

function hasKeyColumn(format: DetectedFormat): boolean {
  if (format.name === "cdxj") return format.keyedByUri !== true;
  if (format.name === "cdx") return format.columns.key !== -1;
  return format.name === "surts" || format.name === "map";
}

/** Merging in more parts than threads lets the first be written out while others are merged. */
const MERGES_PER_THREAD = 4;

interface WriteRowsOptions extends CombineOptions {
  /** Whether counts are only known to be at least what was found. */
  readonly isSample: boolean;
  readonly output: MapOutput;
}

interface WrittenRows extends MergeResult {
  /** Sorted runs that lanes had put away. */
  readonly runs: number;
}

/** Writes the rows of all that lanes have read, in order. */
async function writeRows(
  lanes: readonly Lane[],
  finished: readonly FinishResult[],
  options: WriteRowsOptions,
): Promise<WrittenRows> {
  const inOrder = lanesInOrder(lanes, finished);
  if (inOrder !== undefined) return { ...(await writeInOrder(inOrder, options)), runs: 0 };
  const stored = await storeAll(lanes, finished);
  const runs = await combineRuns(stored, lanes, options);
  const merged = await writeParts(mergedRows(runs, lanes, options), options);
  return { ...merged, runs: stored.length };
}

/** A lane that has all keys from one of the map to another. */
interface KeptLane extends KeptKeys {
  readonly lane: Lane;
}

/** A part of the map's rows in a scratch file, when it is done. */
interface RowsPart {
  readonly path: string;
  readonly result: Promise<MergeResult>;
}

/**
 * The lanes in the order of their keys, if none had to put keys away and no two have keys that
 * overlap: a sorted index that was cut between sites. Then nothing is left to merge.
 */
function lanesInOrder(
  lanes: readonly Lane[],
  finished: readonly FinishResult[],
): readonly KeptLane[] | undefined {
  if (finished.some(({ runs }) => runs.length > 0)) return undefined;
  const kept = finished
    .flatMap(({ kept: keys }, i) => (keys === undefined ? [] : [{ lane: lanes[i], ...keys }]))
    .sort((a, b) => compareBytes(a.first, b.first));
  const isApart = kept.every(
    ({ first }, i) => i === 0 || compareBytes(rowPart(kept[i - 1].last), rowPart(first)) < 0,
  );
  return isApart ? kept : undefined;
}

/**
 * Writes the rows of lanes one after the other: at once and each lane itself, where the output is a
 * plain file and it is known how long the rows are, and through scratch files otherwise.
 */
async function writeInOrder(
  lanes: readonly KeptLane[],
  options: WriteRowsOptions,
): Promise<MergeResult> {
  const { scratch, isSample, output, interrupt } = options;
  const { place } = output;
  const sizes = isSample ? [] : lanes.flatMap(({ rowBytes }) => rowBytes ?? []);
  if (place === undefined || sizes.length < lanes.length) {
    const parts = lanes.map(({ lane }, i) => {
      const path = join(scratch, `part-${i}.rows`);
      return { path, result: lane.emit({ target: { path }, isSample }) };
    });
    return writeParts(parts, options);
  }
  let { offset } = place;
  const starts = sizes.map((size) => (offset += size) - size);
  const results = await Promise.all(
    lanes.map(({ lane }, i) =>
      lane.emit({ target: { path: place.path, offset: starts[i], name: output.name } }),
    ),
  );
  if (results.some(({ bytes }, i) => bytes !== sizes[i])) {
    throw new Error("rows are not as long as they were counted to be");
  }
  checkSignal(interrupt?.signal);
  const total = results.reduce(addResults, NO_ROWS);
  place.skip({ bytes: total.bytes, records: total.rows });
  return total;
}

/** Puts away what lanes still hold; gives all runs. */
async function storeAll(
  lanes: readonly Lane[],
  finished: readonly FinishResult[],
): Promise<readonly StoredRun[]> {
  const runs = await Promise.all(
    finished.map(async (result, i) => (result.kept ? lanes[i].store() : result.runs)),
  );
  return runs.flat();
}

function mergedRows(
  runs: readonly StoredRun[],
  lanes: readonly Lane[],
  { scratch, isSample }: WriteRowsOptions,
): RowsPart[] {
  const parts = lanes.length === 1 ? 1 : lanes.length * MERGES_PER_THREAD;
  const ranges = cutRuns(
    runs.map((run) => run.index),
    parts,
  );
  return ranges.map((range, i) => {
    const path = join(scratch, `part-${i}.rows`);
    const task = { runs, range, target: { path }, isSample };
    return { path, result: lanes[i % lanes.length].merge(task) };
  });
}

async function writeParts(
  parts: readonly RowsPart[],
  { output, interrupt }: WriteRowsOptions,
): Promise<MergeResult> {
  for (const { result } of parts) result.catch(() => undefined); // met below, in order
  let total = NO_ROWS;
  for (const { path, result } of parts) {
    const part = await result;
    checkSignal(interrupt?.signal);
    total = addResults(total, part);
    await output.copy(path, part.rows);
    await rm(path);
  }
  return total;
}

const NO_ROWS: MergeResult = { rows: 0, bytes: 0, mementos: 0 };

function addResults(a: MergeResult, b: MergeResult): MergeResult {
  return { rows: a.rows + b.rows, bytes: a.bytes + b.bytes, mementos: a.mementos + b.mementos };
}
