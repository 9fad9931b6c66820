import { join } from "node:path";
import { withOutput } from "../../files/output-file.ts";
import { storeAll } from "../generate/generate-files.ts";
import type { GenerateOptions } from "../generate/generate-plan.ts";
import { type ReadingSummary, readingSummary, withIndexesRead } from "../generate/read-indexes.ts";
import type { RunIndex } from "../generate/runs.ts";
import { combineRuns } from "../generate/stored-runs.ts";
import { writeRanges } from "./cut-run.ts";
import { type MapRunFooter, writeRunFile } from "./run-file.ts";
import type { Writable } from "node:stream";

export interface ExtractOptions extends Omit<GenerateOptions, "add"> {
  /** Writes one run for each range, into a folder. */
  readonly cuts?: readonly Uint8Array[] | undefined;
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
 * run: to the file `path`, or with cuts as one run for each range, to the folder `path`.
 *
 * @throws as generateFiles
 */
export async function extractRuns(
  paths: readonly string[],
  path: string | undefined,
  options: ExtractOptions,
): Promise<ExtractSummary> {
  const { cuts, interrupt, stdout } = options;
  return withIndexesRead(paths, options, async (read) => {
    const { lanes, finished, scratch, plan } = read;
    const stored = await storeAll(lanes, finished);
    const { maxOpenRuns } = options;
    const runs = await combineRuns(stored, lanes, { scratch, interrupt, maxOpenRuns });
    const footer: MapRunFooter = {
      keys: {
        originals: options.originals ?? false,
        distinct: plan.isDistinct,
        queries: options.queries ?? false,
        datetimeDigits: options.datetimeDigits ?? 0,
      },
      description: read.description,
      counts: read.counts,
    };
    const streams = { stdout, interrupt };
    const written: RunIndex[] = [];
    const spare = join(scratch, "whole.run");
    if (cuts === undefined || path === undefined) {
      await withOutput(path, streams, async (output) => {
        written.push(await writeRunFile(output, runs, {}, footer, spare));
      });
    } else {
      written.push(...(await writeRanges(path, runs, cuts, () => footer, { ...streams, spare })));
    }
    return {
      ...readingSummary(read),
      keys: written.reduce((sum, { keys }) => sum + keys, 0),
      bytes: written.reduce((sum, { byteLength }) => sum + byteLength, 0),
    };
  });
}
