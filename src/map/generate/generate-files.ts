import { rm } from "node:fs/promises";
import { join } from "node:path";
import { mapHeaders } from "./map-rows.ts";
import type { MapOutput } from "../output/map-output.ts";
import type { GenerateOptions, GenerateSummary } from "./generate-plan.ts";
import { readingSummary, withIndexesRead } from "./read-indexes.ts";
import type { FinishResult, KeptKeys, Lane, MergeResult } from "./generate-job.ts";
import { compareBytes } from "../../bytes/bytes.ts";
import { cutRuns, rowPart } from "./runs.ts";
import { type CombineOptions, combineRuns, type StoredRun } from "./stored-runs.ts";
import { checkSignal } from "../../interruption.ts";

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
  return withIndexesRead(paths, options, async (read) => {
    const { lanes, finished, description } = read;
    await output.writeHead(mapHeaders(description, options));
    const merged = await writeRows(lanes, finished, {
      scratch: read.scratch,
      isSample: description.isSample === true,
      output,
      interrupt: options.interrupt,
      maxOpenRuns: options.maxOpenRuns,
    });
    return {
      ...readingSummary(read),
      ...merged,
      bytes: merged.bytes + output.headBytes,
      duplicates: read.plan.isDistinct ? read.counts.captures - merged.mementos : 0,
    };
  });
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
export async function storeAll(
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
