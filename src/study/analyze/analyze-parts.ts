import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { ioError, MementoMapError } from "../../errors.ts";
import { withOutput } from "../../files/output-file.ts";
import { withTempDir } from "../../files/scratch.ts";
import type { Interrupt } from "../../interruption.ts";
import { mergeRuns } from "../../map/generate/runs.ts";
import { combineRuns, MAX_OPEN_RUNS, readingRuns } from "../../map/generate/stored-runs.ts";
import { rangesBetween } from "../../map/parts/cuts.ts";
import { checkRange, HERE, runsToOpen } from "../../map/parts/merge-range.ts";
import { cutsDigest, openRunFiles, writeRunFile } from "../../map/parts/run-file.ts";
import type { InputStreams } from "../../files/input-file.ts";
import type { Analysis } from "./analysis.ts";
import { type AnalyzeFilesOptions, DEFAULT_SAMPLES, sortCaptures } from "./analyze-files.ts";
import { joinTallies } from "./capture-tally.ts";
import {
  holdingsData,
  joinAnalyses,
  joinFacts,
  PARTIAL_START,
  type PartialAnalysis,
  type ReadFacts,
  treeOfRange,
} from "./partial-analysis.ts";

/**
 * Reads index files into a run: their captures, sorted by original and month, and what was tallied.
 *
 * @throws as analyzeFiles
 */
export async function extractCaptures(
  paths: readonly string[],
  output: string | undefined,
  options: AnalyzeFilesOptions & { readonly stdout: Writable },
): Promise<ReadFacts> {
  const { interrupt, stdout, samples = DEFAULT_SAMPLES } = options;
  return withTempDir({ parent: options.scratch, interrupt }, async (scratch) => {
    const { results, runs, files, storedBytes } = await sortCaptures(paths, scratch, options);
    const tally = joinTallies(
      results.map((result) => result.tally),
      samples,
    );
    const facts = { tally, files, storedBytes, runs: runs.length, samples };
    const open = await combineRuns(runs, [HERE], { scratch, interrupt });
    await withOutput(output, { stdout, interrupt }, async (target) => {
      await writeRunFile(target, open, {}, { captures: facts }, join(scratch, "captures.run"));
    });
    return facts;
  });
}

export interface AnalyzeRunsOptions {
  /** The keys between ranges; one range by default. */
  readonly cuts?: readonly Uint8Array[] | undefined;
  /** Which range to analyze, from 1. */
  readonly number?: number | undefined;
  readonly top: number;
  readonly scratch?: string | undefined;
  readonly streams: InputStreams;
  readonly interrupt?: Interrupt | undefined;
}

/** Analyzes a range of the captures in runs. */
export async function analyzeRange(
  paths: readonly string[],
  options: AnalyzeRunsOptions,
): Promise<PartialAnalysis> {
  const { cuts = [], number = 1, top, interrupt, streams } = options;
  return withTempDir({ parent: options.scratch, interrupt }, async (scratch) => {
    const files = await openRunFiles(paths, scratch, { ...streams, interrupt });
    const facts = files.map(({ captures, name }): ReadFacts => {
      if (captures !== undefined) return captures as ReadFacts; // what extractCaptures wrote
      throw new MementoMapError(
        "MM_BAD_INPUT",
        "is a run for a map, of partition; analyze --partial makes those for an analysis",
        { position: { source: name } },
      );
    });
    for (const file of files) checkRange(file, { cuts, number });
    const range = rangesBetween(cuts)[number - 1];
    const first = runsToOpen(files, range, scratch, MAX_OPEN_RUNS);
    const runs = await combineRuns(first, [HERE], { scratch, interrupt });
    const tree = treeOfRange(top, range, (visit) => {
      readingRuns(runs, range.from, (readers) => mergeRuns(readers, range, visit));
    });
    return {
      partialAnalysis: 1,
      number,
      of: cuts.length + 1,
      cuts: cutsDigest(cuts),
      top,
      ...(number === 1 ? { facts: joinFacts(facts) } : {}),
      holdings: holdingsData(tree),
    };
  });
}

/** Whether a file that begins so is a partial analysis. */
export function isPartialAnalysis(start: Uint8Array): boolean {
  return new TextDecoder().decode(start.subarray(0, PARTIAL_START.length)) === PARTIAL_START;
}

/** Joins the analyses of all ranges, from their files. */
export async function joinPartialFiles(paths: readonly string[]): Promise<Analysis> {
  const partials = await Promise.all(
    paths.map(async (name) => {
      const text = await readFile(name, "utf8").catch((error: unknown) => {
        throw ioError(error, name);
      });
      if (!text.startsWith(PARTIAL_START)) {
        throw new MementoMapError("MM_BAD_INPUT", "is not a partial analysis", {
          position: { source: name },
        });
      }
      return { name, data: JSON.parse(text) as PartialAnalysis }; // what analyzeRange made
    }),
  );
  return joinAnalyses(partials);
}
