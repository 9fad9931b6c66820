import type { Writable } from "node:stream";
import { join } from "node:path";
import { withOutput } from "../files/output-file.ts";
import { type GenerateOptions, type ReadingSummary, withKeysRead } from "./generate.ts";
import { combineRuns } from "./stored-runs.ts";
import { writeRunFile } from "./run-file.ts";

export interface ExtractOptions extends Omit<GenerateOptions, "add"> {
  readonly stdout: Writable;
}

export interface ExtractSummary extends ReadingSummary {
  /** Distinct keys. */
  readonly keys: number;
  /** Bytes of all runs, without what they say of themselves. */
  readonly bytes: number;
}

/**
 * Reads index files into the sorted, counted keys that `generate` makes rows of, and writes them as a
 * run, to the file `path`.
 *
 * @throws as withKeysRead
 */
export async function extractRuns(
  paths: readonly string[],
  path: string | undefined,
  options: ExtractOptions,
): Promise<ExtractSummary> {
  const { interrupt, stdout, maxOpenRuns } = options;
  return withKeysRead(paths, options, async ({ runs, lanes, scratch, ...read }) => {
    const left = await combineRuns(runs, lanes, { scratch, interrupt, maxOpenRuns });
    const footer = { keys: read.keys, description: read.description, counts: read.summary.counts };
    const index = await withOutput(path, { stdout, interrupt }, (output) =>
      writeRunFile(output, left, footer, join(scratch, "whole.run")),
    );
    return { ...read.summary, keys: index.keys, bytes: index.byteLength };
  });
}
