import { availableParallelism } from "node:os";
import type { EvaluationReport } from "../evaluate/evaluation.ts";
import type { BudgetFileOptions, BudgetFileSummary } from "./compact/budget-files.ts";
import { compactFileToBudget } from "./compact/budget-files.ts";
import type { CompactFileOptions, CompactFileSummary } from "./compact/compact-files.ts";
import { compactFile } from "./compact/compact-files.ts";
import type { EvaluateOptions } from "./evaluate/evaluate-files.ts";
import { evaluateFiles } from "./evaluate/evaluate-files.ts";
import type { GenerateOptions, GenerateSummary } from "./generate/generate-files.ts";
import { generateFiles } from "./generate/generate-files.ts";
import { DEFAULT_MEMORY_BYTES, threadsWithin } from "./generate/memory.ts";
import type { OpenMap } from "./open-map.ts";
import { openMap } from "./open-map.ts";
import { withMapOutput } from "./map-output.ts";
import { guardOutputs } from "./output-guard.ts";

/** What a function that writes a file takes besides what it is about. */
export interface WriteOptions {
  /** Replaces an existing file that is not a map. */
  readonly force?: boolean | undefined;
}

/** `-` as a path means the process's own standard input or output. */
const STREAMS = { stdin: process.stdin, stdout: process.stdout };

/**
 * Makes a map file from index files; see `mementomap generate`.
 *
 * Uses 512 MiB and all cores that there is memory for unless told otherwise. The file appears whole
 * or not at all; a name that ends in `.gz` is compressed. `target` may be a map of `options.add`.
 *
 * @throws MM_USAGE when `target` is an input or not a map; MM_IO, MM_BAD_INPUT, MM_BAD_LINE (with file and line), MM_LIMIT
 */
export async function generateMapFile(
  inputs: readonly string[],
  target: string,
  options: Omit<GenerateOptions, "streams"> & WriteOptions = {},
): Promise<GenerateSummary> {
  const { interrupt, add = [], force } = options;
  const output = { path: target, kind: "map", replaces: add } as const;
  await guardOutputs([output], { inputs: [...inputs, ...add], force });
  return withMapOutput(target, { stdout: STREAMS.stdout, interrupt, force }, (output) =>
    generateFiles(inputs, output, {
      threads: threadsWithin(options.memoryBytes ?? DEFAULT_MEMORY_BYTES, availableParallelism()),
      ...options,
      streams: STREAMS,
    }),
  );
}

/**
 * Makes a map file smaller; see `mementomap compact`. `source` and `target` may be the same.
 *
 * @throws MM_USAGE when `target` is there and not a map; MM_IO, MM_NOT_SORTED, MM_BAD_LINE,
 *   MM_BAD_FREQUENCY (with file and line), MM_CUT, MM_EMPTY
 */
export async function compactMapFile(
  source: string,
  target: string,
  options: Omit<CompactFileOptions, "streams"> & WriteOptions = {},
): Promise<CompactFileSummary> {
  const { interrupt, force } = options;
  const output = { path: target, kind: "map", replaces: [source] } as const;
  await guardOutputs([output], { inputs: [source], force });
  return withMapOutput(target, { stdout: STREAMS.stdout, interrupt, force }, (output) =>
    compactFile(source, output, { ...options, streams: STREAMS }),
  );
}

/**
 * Makes of a map file the map of a given size that is expected to give the fewest wrong answers; see
 * `mementomap compact --max-lines`. `source` and `target` may be the same.
 *
 * @throws MM_IO, MM_USAGE when no map is as small, MM_NOT_SORTED, MM_BAD_LINE, MM_BAD_FREQUENCY
 */
export async function compactMapFileToBudget(
  source: string,
  target: string,
  options: Omit<BudgetFileOptions, "streams"> & WriteOptions,
): Promise<BudgetFileSummary> {
  const { misses, force } = options;
  const output = { path: target, kind: "map", replaces: [source] } as const;
  await guardOutputs([output], { inputs: [source, misses], force });
  return withMapOutput(target, STREAMS, (output) =>
    compactFileToBudget(source, output, { ...options, streams: STREAMS }),
  );
}

/**
 * Measures maps against what is held and what is asked for; see `mementomap evaluate`.
 *
 * @throws MM_IO, and what is wrong with a map
 */
export function evaluateMapFiles(
  maps: readonly string[],
  options: Omit<EvaluateOptions, "streams">,
): Promise<EvaluationReport> {
  return evaluateFiles(maps, { ...options, streams: STREAMS });
}

/**
 * Opens a map file to be asked: a few questions are answered by searching the file, many from an
 * index in memory. Close it after use.
 *
 * @throws MM_IO, MM_LIMIT, and what is wrong with the map
 */
export function openMapFile(
  path: string,
  options: { readonly forMany: boolean } = { forMany: false },
): Promise<OpenMap> {
  return openMap(path, STREAMS, options);
}
