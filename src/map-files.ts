import { availableParallelism } from "node:os";
import type { EvaluationReport } from "./study/evaluate/evaluation.ts";
import {
  type BudgetFileOptions,
  type BudgetFileSummary,
  compactFileToBudget,
} from "./map/compact/run/budget-files.ts";
import {
  compactFile,
  type CompactFileOptions,
  type CompactFileSummary,
} from "./map/compact/run/compact-files.ts";
import { evaluateFiles, type EvaluateOptions } from "./study/evaluate/evaluate-files.ts";
import { generateFiles, type GenerateSummary } from "./map/generate/generate-files.ts";
import type { GenerateOptions } from "./map/generate/plan.ts";
import { DEFAULT_MEMORY_BYTES, threadsWithin } from "./map/generate/key-table.ts";
import { Interrupt, type InterruptOptions } from "./interruption.ts";
import { type OpenMap, openMap } from "./map/lookup/open-map.ts";
import { withMapOutput } from "./map/output/map-output.ts";
import { guardOutputs } from "./map/output/output-guard.ts";
import { packageFile } from "./files/package-file.ts";

/** What a function that writes a file takes besides what it is about. */
export interface WriteOptions extends InterruptOptions {
  /** Replaces an existing file that is not a map. */
  readonly force?: boolean | undefined;
}

export interface OpenMapFileOptions extends InterruptOptions {
  /** Whether many lookups will follow, which an index in memory is made for; default false. */
  readonly forMany?: boolean | undefined;
}

/** `-` as a path means the process's own standard input or output. */
const STREAMS = { stdin: process.stdin, stdout: process.stdout };

/**
 * Makes a map file from index files; see `mementomap generate`.
 *
 * Uses 512 MiB and all cores that there is memory for unless told otherwise. The file appears whole
 * or not at all; a name that ends in `.gz` is compressed. `target` may be a map of `options.add`.
 *
 * @throws MM_USAGE when `target` is an input or not a map; MM_IO, MM_BAD_INPUT, MM_BAD_LINE (with file and line), MM_LIMIT,
 *   MM_INTERRUPTED
 */
export async function generateMapFile(
  inputs: readonly string[],
  target: string,
  options: Omit<GenerateOptions, "streams"> & WriteOptions = {},
): Promise<GenerateSummary> {
  const { add = [], force } = options;
  const output = { path: target, kind: "map", replaces: add } as const;
  return Interrupt.during(options, async (interrupt) => {
    await guardOutputs([output], { inputs: [...inputs, ...add], force });
    return withMapOutput(target, { stdout: STREAMS.stdout, interrupt, force }, (output) =>
      generateFiles(inputs, output, {
        threads: defaultThreads(options.memoryBytes),
        ...options,
        streams: STREAMS,
        interrupt,
      }),
    );
  });
}

/**
 * Makes a map file smaller; see `mementomap compact`. `source` and `target` may be the same.
 *
 * @throws MM_USAGE when `target` is there and not a map; MM_IO, MM_NOT_SORTED, MM_BAD_LINE,
 *   MM_BAD_FREQUENCY (with file and line), MM_CUT, MM_EMPTY, MM_INTERRUPTED
 */
export async function compactMapFile(
  source: string,
  target: string,
  options: Omit<CompactFileOptions, "streams"> & WriteOptions = {},
): Promise<CompactFileSummary> {
  const { force } = options;
  const output = { path: target, kind: "map", replaces: [source] } as const;
  return Interrupt.during(options, async (interrupt) => {
    await guardOutputs([output], { inputs: [source], force });
    return withMapOutput(target, { stdout: STREAMS.stdout, interrupt, force }, (output) =>
      compactFile(source, output, { ...options, streams: STREAMS, interrupt }),
    );
  });
}

/**
 * Makes of a map file the map of a given size that is expected to give the fewest wrong answers; see
 * `mementomap compact --max-lines`. `source` and `target` may be the same.
 *
 * @throws MM_IO, MM_USAGE when no map is as small, MM_NOT_SORTED, MM_BAD_LINE, MM_BAD_FREQUENCY,
 *   MM_INTERRUPTED
 */
export async function compactMapFileToBudget(
  source: string,
  target: string,
  options: Omit<BudgetFileOptions, "streams"> & WriteOptions,
): Promise<BudgetFileSummary> {
  const { misses, force } = options;
  const output = { path: target, kind: "map", replaces: [source] } as const;
  return Interrupt.during(options, async (interrupt) => {
    const streams = { ...STREAMS, interrupt };
    await guardOutputs([output], { inputs: [source, misses], force });
    return withMapOutput(target, { ...streams, force }, (output) =>
      compactFileToBudget(source, output, { ...options, streams }),
    );
  });
}

/**
 * Measures maps against what is held and what is asked for; see `mementomap evaluate`.
 *
 * @throws MM_IO, MM_INTERRUPTED, and what is wrong with a map
 */
export function evaluateMapFiles(
  maps: readonly string[],
  options: Omit<EvaluateOptions, "streams"> & InterruptOptions,
): Promise<EvaluationReport> {
  return Interrupt.during(options, (interrupt) =>
    evaluateFiles(maps, { ...options, streams: { ...STREAMS, interrupt } }),
  );
}

/**
 * Opens a map file to be asked: a few questions are answered by searching the file, many from an
 * index in memory. Close it after use.
 *
 * @throws MM_IO, MM_LIMIT, MM_INTERRUPTED, and what is wrong with the map
 */
export function openMapFile(path: string, options: OpenMapFileOptions = {}): Promise<OpenMap> {
  const { forMany = false } = options;
  return Interrupt.during(options, (interrupt) =>
    openMap(path, { ...STREAMS, interrupt }, { forMany }),
  );
}

/** As many as there are cores and memory for; one where the files of threads are not installed. */
function defaultThreads(memoryBytes: number = DEFAULT_MEMORY_BYTES): number {
  if (packageFile("package.json") === undefined) return 1;
  return threadsWithin(memoryBytes, availableParallelism());
}
