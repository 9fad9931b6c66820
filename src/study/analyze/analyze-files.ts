import type { Analysis } from "./analysis.ts";
import { ANALYZE } from "./capture-scanner.ts";
import { joinTallies, type Tally } from "./capture-tally.ts";
import { HoldingsTree } from "./holdings-tree.ts";
import { summarize } from "./summarize.ts";
import { type Scan, type ScanOptions, withScan } from "../../generate/scan.ts";
import { mergeStored } from "../../generate/stored-runs.ts";
import { Interrupt, type InterruptOptions } from "../../interruption.ts";

export interface AnalyzeFilesOptions
  extends InterruptOptions, Omit<ScanOptions, "skipBad" | "bytesPerThread"> {
  /** The maximum number of runs to merge at once; 128 by default. */
  readonly maxOpenRuns?: number | undefined;
  /** Rows in each table of most archived items; 20 by default. */
  readonly top?: number | undefined;
  /** The number of page captures to draw at random; 10 by default. */
  readonly samples?: number | undefined;
  /** 4 to 14 digits; captures up to and including this time are counted without their month. */
  readonly asOf?: string | undefined;
}

const DEFAULT_TOP = 20;
const DEFAULT_SAMPLES = 10;
/** Memory of a thread for its tallies, in addition to that of a `generate` thread. */
const TALLY_BYTES = 36 * 2 ** 20;

/**
 * Analyzes index files: the tables and figures of the paper, for any archive.
 *
 * Reads every input once, in any order and sorted or not. Holds at most `memoryBytes`; captures are
 * spilled to sorted runs in a scratch folder, about a fifth of the size of a CDX file. The result does
 * not depend on the order of files, on threads or on memory. Unreadable lines are counted, with
 * examples.
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
  return withCaptures(paths, options, async ({ inputs, results, scratch }) => {
    const runs = results.flatMap((result) => result.runs);
    const tree = new HoldingsTree(top);
    await mergeStored(runs, { ...options, scratch }, (key, keyLength, count) => {
      tree.add(key, keyLength, count);
    });
    tree.end();
    const sizes = inputs.flatMap(({ size }) => size ?? []);
    const tallies = results.map(({ found }) => found);
    return summarize(joinTallies(tallies, samples), tree, {
      files: inputs.length,
      storedBytes: sizes.length < inputs.length ? null : sizes.reduce((sum, size) => sum + size, 0),
      runs: runs.filter((run) => "path" in run).length,
      top,
    });
  });
}

/** Reads index files, tallies their captures and sorts them by original and month, and runs `use`. */
export function withCaptures<T>(
  paths: readonly string[],
  options: AnalyzeFilesOptions,
  use: (scan: Scan<Tally>) => Promise<T>,
): Promise<T> {
  const { samples = DEFAULT_SAMPLES, asOf } = options;
  const scanOptions = { ...options, bytesPerThread: TALLY_BYTES };
  return withScan(paths, ANALYZE, scanOptions, () => ({ samples, asOf }), use);
}
