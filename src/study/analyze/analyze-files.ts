import type { Analysis } from "./analysis.ts";
import { ANALYZE } from "./capture-scanner.ts";
import { joinTallies, type Tally } from "./capture-tally.ts";
import { HoldingsTree } from "./holdings-tree.ts";
import { summarize } from "./summarize.ts";
import { type ScanOptions, withScan } from "../../generate/scan.ts";
import { mergeStored, type StoredRun } from "../../generate/stored-runs.ts";
import { Interrupt, type InterruptOptions } from "../../interruption.ts";

export interface AnalyzeFilesOptions
  extends InterruptOptions, Omit<ScanOptions, "skipBad" | "bytesPerThread"> {
  /** Runs that are merged at once, at most; 128 by default. */
  readonly maxOpenRuns?: number | undefined;
  /** Rows of the tables of the most archived; 20 by default. */
  readonly top?: number | undefined;
  /** Captures of pages to draw at random; 10 by default. */
  readonly samples?: number | undefined;
  /** 4 to 14 digits; captures up to and including then are counted without their month. */
  readonly asOf?: string | undefined;
}

export const DEFAULT_TOP = 20;
export const DEFAULT_SAMPLES = 10;
/** What a thread needs for its tallies, beside what one of `generate` does. */
const TALLY_BYTES = 36 * 2 ** 20;

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
  return withCaptures(paths, options, async ({ tallies, runs, files, storedBytes, scratch }) => {
    const tree = new HoldingsTree(top);
    await mergeStored(runs, { ...options, scratch }, (key, keyLength, count) => {
      tree.add(key, keyLength, count);
    });
    tree.end();
    const onDisk = runs.filter((run) => "path" in run).length;
    return summarize(joinTallies(tallies, samples), tree, {
      files,
      storedBytes,
      runs: onDisk,
      top,
    });
  });
}

/** The captures of index files, tallied, and sorted by original and month in runs. */
interface SortedCaptures {
  readonly tallies: readonly Tally[];
  readonly runs: readonly StoredRun[];
  readonly files: number;
  /** Null where that is not known. */
  readonly storedBytes: number | null;
  readonly scratch: string;
}

/** Reads index files, sorts their captures into runs, and runs `use` with them. */
export function withCaptures<T>(
  paths: readonly string[],
  options: AnalyzeFilesOptions,
  use: (captures: SortedCaptures) => Promise<T>,
): Promise<T> {
  const { samples = DEFAULT_SAMPLES, asOf } = options;
  const scanOptions = { ...options, bytesPerThread: TALLY_BYTES };
  const sinkOptions = (): { samples: number; asOf: string | undefined } => ({ samples, asOf });
  return withScan(paths, ANALYZE, scanOptions, sinkOptions, ({ inputs, results, scratch }) => {
    const sizes = inputs.map(({ size }) => size);
    return use({
      tallies: results.map(({ found }) => found),
      runs: results.flatMap(({ runs }) => runs),
      files: inputs.length,
      storedBytes: sizes.every((size) => size !== undefined)
        ? sizes.reduce((sum, size) => sum + size, 0)
        : null,
      scratch,
    });
  });
}
