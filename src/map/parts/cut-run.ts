import { join } from "node:path";
import { withOutput, withOutputFolder } from "../../files/output-file.ts";
import { withTempDir } from "../../files/scratch.ts";
import type { InputStreams } from "../../files/input-file.ts";
import type { OutputStreams } from "../../files/output-file.ts";
import type { Interrupt } from "../../interruption.ts";
import type { RunIndex } from "../generate/runs.ts";
import type { StoredRun } from "../generate/stored-runs.ts";
import { rangesBetween } from "./cuts.ts";
import { cutsDigest, openRunFiles, type RunFooter, writeRunFile } from "./run-file.ts";

/** The name of the run of a range. */
function runName(number: number): string {
  return `${String(number).padStart(5, "0")}.run`;
}

/**
 * Writes one run for each range between cuts, into a folder that appears when all of them are there.
 *
 * @param footerOf what the run of a range says of itself, from 1.
 */
export async function writeRanges(
  path: string,
  runs: readonly StoredRun[],
  cuts: readonly Uint8Array[],
  footerOf: (number: number) => RunFooter,
  options: OutputStreams & { readonly spare: string },
): Promise<RunIndex[]> {
  const { spare } = options;
  const digest = cutsDigest(cuts);
  const ranges = rangesBetween(cuts);
  const written: RunIndex[] = [];
  await withOutputFolder(path, options, async (folder) => {
    for (const [i, range] of ranges.entries()) {
      const number = i + 1;
      const cut = { number, of: ranges.length, cuts: digest };
      const footer = { ...footerOf(number), range: cut };
      await withOutput(join(folder, runName(number)), options, async (output) => {
        written.push(await writeRunFile(output, runs, range, footer, spare));
      });
    }
  });
  return written;
}

export interface CutSummary {
  readonly ranges: number;
  readonly keys: number;
  readonly bytes: number;
}

/**
 * Cuts a run into one run for each range, in a folder. Of a run of captures, what was tallied stays with the
 * first range, which is where an analysis takes it from.
 *
 * @throws as openRunFiles
 */
export async function cutRun(
  run: string,
  path: string,
  cuts: readonly Uint8Array[],
  options: {
    readonly scratch?: string | undefined;
    readonly streams: InputStreams & OutputStreams;
    readonly interrupt?: Interrupt | undefined;
  },
): Promise<CutSummary> {
  const { interrupt } = options;
  const streams = { ...options.streams, interrupt };
  return withTempDir({ parent: options.scratch, interrupt }, async (scratch) => {
    const [file] = await openRunFiles([run], scratch, streams);
    const { name: _name, path: _path, start: _start, index: _index, ...footer } = file;
    const { captures } = footer;
    const footerOf = (number: number): RunFooter =>
      captures === undefined || number === 1 ? footer : { ...footer, captures: null };
    const spare = join(scratch, "whole.run");
    const written = await writeRanges(path, [file], cuts, footerOf, { ...streams, spare });
    return {
      ranges: written.length,
      keys: written.reduce((sum, index) => sum + index.keys, 0),
      bytes: written.reduce((sum, { byteLength }) => sum + byteLength, 0),
    };
  });
}
