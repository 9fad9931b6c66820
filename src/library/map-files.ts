import { availableParallelism } from "node:os";
import type { EvaluationReport } from "../study/evaluate/evaluation.ts";
import {
  type Budget,
  type BudgetFileOptions,
  type BudgetFileSummary,
  compactFileToBudget,
} from "../compact/budget-files.ts";
import {
  compactFile,
  type CompactFileOptions,
  type CompactFileSummary,
} from "../compact/compact-files.ts";
import { evaluateFiles, type EvaluateOptions } from "../study/evaluate/evaluate-files.ts";
import { generateFiles, type GenerateOptions, type GenerateSummary } from "../generate/generate.ts";
import { DEFAULT_MEMORY_BYTES, threadsWithin } from "../generate/key-table.ts";
import { Interrupt, type InterruptOptions } from "../interruption.ts";
import { withMapOutput } from "../maps/map-output.ts";
import { guardOutputs } from "../maps/output-guard.ts";
import { type PackSummary, writePackedMap } from "../pack/pack-files.ts";
import { MAX_ROW_BITS } from "../packed/packed-file.ts";
import { MementoMapError } from "../errors.ts";
import { openOutput, type OutputStreams } from "../files/output-file.ts";
import type { MapStreams } from "../lookup/map-sources.ts";
import type { Analysis } from "../study/analyze/analysis.ts";
import {
  analyzeFiles as analyze,
  type AnalyzeFilesOptions,
} from "../study/analyze/analyze-files.ts";
import { packageFile } from "../files/package-file.ts";

/** Options of all functions that write a file. */
export interface WriteOptions extends InterruptOptions {
  /** Replaces an existing file that is not a map. */
  readonly force?: boolean | undefined;
}

/** The path `-` means standard input or output of the process. */
const STREAMS = { stdin: process.stdin, stdout: process.stdout };

/**
 * Makes a map file from index files; see `mementomap generate`.
 *
 * By default uses 512 MiB and as many cores as this permits. The file is written atomically; a name
 * ending in `.gz` is compressed. `target` may be a map of `options.add`.
 *
 * @throws MM_USAGE when `target` is an input or not a map; MM_IO, MM_BAD_INPUT, MM_BAD_LINE (with file and line), MM_LIMIT,
 *   MM_INTERRUPTED
 *
 * @example
 * ```ts
 * import { generateMapFile } from "mementomap/node";
 *
 * const { counts, rows } = await generateMapFile(["index.cdxj"], "map.ukvs", {
 *   description: { id: "https://archive.example.org/", name: "Example Archive" },
 * });
 * console.log(counts.captures >= rows);
 * ```
 * ```
 * true
 * ```
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

/** Options of a packed map. */
export interface PackForm {
  /** Maximum size; by default the size beyond which accuracy hardly improves. */
  readonly maxBytes?: number | undefined;
  /** Bits per row, 0 to 31 in steps of 1/8; by default chosen to suit the rows. */
  readonly bits?: number | undefined;
  /** Approximate memory for names and shards; the rest goes to scratch files. */
  readonly memoryBytes?: number | undefined;
}

/** How a map file is compacted: by weights, to a budget, or packed. */
export type CompactMapFileOptions = Omit<CompactFileOptions, "streams"> &
  Partial<Omit<BudgetFileOptions, "streams">> &
  WriteOptions & { readonly pack?: PackForm | undefined };

/**
 * Compacts a map file by the weights of the paper, or, with `budget`, into the map of a given size with
 * the fewest expected false positives; see `mementomap compact`. `source` and `target` may be the same.
 *
 * With `pack`, writes a packed map for lookups only, about a tenth of the size; see `mementomap pack`.
 *
 * @throws MM_USAGE if `target` exists and is not a map; MM_BUDGET if no map fits the budget; MM_IO,
 *   MM_NOT_SORTED, MM_BAD_LINE, MM_BAD_FREQUENCY (with file and line), MM_CUT, MM_EMPTY, MM_INTERRUPTED
 *
 * @example
 * ```ts
 * import { compactMapFile, generateMapFile } from "mementomap/node";
 *
 * await generateMapFile(["index.cdxj"], "map.ukvs");
 * await compactMapFile("map.ukvs", "small.ukvs", { weights: { hostWeight: 4, pathWeight: 2 } });
 * const { rows } = await compactMapFile("map.ukvs", "best.ukvs", { budget: { maxLines: 200 } });
 * const { bits } = await compactMapFile("map.ukvs", "map.packed", { pack: { bits: 8 } });
 * console.log(rows <= 200, bits);
 * ```
 * ```
 * true 8
 * ```
 */
export async function compactMapFile(
  source: string,
  target: string,
  options: CompactMapFileOptions & { readonly pack: PackForm },
): Promise<PackSummary>;
export async function compactMapFile(
  source: string,
  target: string,
  options: CompactMapFileOptions & { readonly budget: Budget; readonly pack?: undefined },
): Promise<BudgetFileSummary>;
export async function compactMapFile(
  source: string,
  target: string,
  options?: CompactMapFileOptions & { readonly budget?: undefined; readonly pack?: undefined },
): Promise<CompactFileSummary>;
export async function compactMapFile(
  source: string,
  target: string,
  options: CompactMapFileOptions = {},
): Promise<CompactFileSummary | BudgetFileSummary | PackSummary> {
  const { misses, force, budget, pack } = options;
  const output = { path: target, kind: "map", replaces: [source] } as const;
  return Interrupt.during(options, async (interrupt) => {
    const streams = { ...STREAMS, interrupt };
    if (pack !== undefined) return packMapFile(source, target, pack, options, streams);
    await guardOutputs([output], { inputs: [source, misses], force });
    return withMapOutput(target, { ...streams, force }, (output) =>
      budget === undefined
        ? compactFile(source, output, { ...options, streams, interrupt })
        : compactFileToBudget(source, output, { ...options, budget, streams }),
    );
  });
}

/**
 * Measures the accuracy of maps, given the holdings and lookups; see `mementomap evaluate`.
 *
 * @throws MM_IO, MM_INTERRUPTED, and errors of a map
 *
 * @example
 * ```ts
 * import { writeFile } from "node:fs/promises";
 * import { evaluateMapFiles, generateMapFile } from "mementomap/node";
 *
 * await generateMapFile(["index.cdxj"], "map.ukvs");
 * await writeFile("asked.txt", "http://nobody.example/\nhttp://nobody.example/a\n");
 * const { all } = await evaluateMapFiles(["map.ukvs"], { truth: "map.ukvs", lookups: "asked.txt" });
 * console.log(all.map(({ lookups, recall }) => ({ lookups, recall })));
 * ```
 * ```
 * [ { lookups: 2, recall: 1 } ]
 * ```
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
 * Analyzes index files: the tables and figures of the paper for your archive; see `mementomap analyze`.
 * Unreadable lines are counted, with examples.
 *
 * @throws MM_IO, MM_BAD_INPUT, MM_LIMIT, MM_USAGE, MM_INTERRUPTED
 *
 * @example
 * ```ts
 * import { analyzeFiles } from "mementomap/node";
 *
 * const { index } = await analyzeFiles(["index.cdxj"]);
 * console.log(index.mementos <= 2000);
 * ```
 * ```
 * true
 * ```
 */
export function analyzeFiles(
  inputs: readonly string[],
  options: Omit<AnalyzeFilesOptions, "streams"> = {},
): Promise<Analysis> {
  return analyze(inputs, { ...options, streams: STREAMS });
}

/** One per core, as memory permits; one if the worker scripts are not installed. */
function defaultThreads(memoryBytes: number = DEFAULT_MEMORY_BYTES): number {
  if (packageFile("package.json") === undefined) return 1;
  return threadsWithin(memoryBytes, availableParallelism());
}

async function packMapFile(
  source: string,
  target: string,
  form: PackForm,
  options: CompactMapFileOptions,
  streams: MapStreams & OutputStreams,
): Promise<PackSummary> {
  const { bits = 0 } = form;
  if (!(bits >= 0 && bits <= MAX_ROW_BITS)) {
    throw new MementoMapError("MM_USAGE", `bits must be 0 to ${MAX_ROW_BITS}, not ${bits}`);
  }
  const { misses, archive, scratch, force, onRead } = options;
  const output = { path: target, kind: "packed" } as const;
  await guardOutputs([output], { inputs: [source, misses], force });
  const file = await openOutput(target, streams);
  try {
    const packing = { ...form, misses, archive, scratch, onRead, streams };
    return await writePackedMap(source, file, packing);
  } catch (error) {
    await file.abort();
    throw error;
  }
}
