import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ioError } from "../errors.ts";
import {
  type KeyRange,
  memoryRun,
  mergedKeys,
  type ReadRun,
  type RunIndex,
  RunReader,
  writeRun,
} from "./runs.ts";
import { checkSignal, type Interrupt } from "../interruption.ts";

/** Writes a scratch file; nothing is flushed to the disk here. */
export function writingTo<T>(path: string, use: (write: (block: Uint8Array) => void) => T): T {
  try {
    const file = openSync(path, "wx");
    try {
      return use((block) => {
        for (let at = 0; at < block.length;) at += writeSync(file, block, at);
      });
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw ioError(error, path);
  }
}

/** Each run that is merged takes an open file and 64 KiB. */
export const MAX_OPEN_RUNS = 128;

/** A sorted run that was put away: on the disk, or in memory if it is short. */
export type StoredRun = FileRun | { readonly bytes: Uint8Array; readonly index: RunIndex };

/** A sorted run on the disk. */
export interface FileRun {
  readonly path: string;
  /** Where in the file it begins; at its start by default. */
  readonly start?: number | undefined;
  readonly index: RunIndex;
}

/** Runs to make one run of. */
export interface CombineTask {
  readonly runs: readonly StoredRun[];
  /** Which of their keys; all by default. */
  readonly range?: KeyRange | undefined;
  readonly path: string;
}

/** Who makes one run of several: a thread, or this one. */
export interface RunCombiner {
  combine(task: CombineTask): Promise<StoredRun>;
}

export interface CombineOptions {
  /** The folder for scratch files. */
  readonly scratch: string;
  readonly interrupt?: Interrupt | undefined;
  /** Runs that are merged at once, at most; 128 by default. */
  readonly maxOpenRuns?: number | undefined;
}

/**
 * Merges runs in rounds until no more are left than may be open at once; those that were merged are
 * removed. All combiners work at the same time.
 *
 * @throws MM_IO, MM_INTERRUPTED
 */
export async function combineRuns(
  runs: readonly StoredRun[],
  combiners: readonly RunCombiner[],
  { scratch, interrupt, maxOpenRuns = MAX_OPEN_RUNS }: CombineOptions,
): Promise<readonly StoredRun[]> {
  let left = runs;
  for (let round = 0; left.length > maxOpenRuns; round++) {
    const groups: StoredRun[][] = [];
    for (let i = 0; i < left.length; i += maxOpenRuns) groups.push(left.slice(i, i + maxOpenRuns));
    left = await Promise.all(
      groups.map(async (group, i) => {
        const path = join(scratch, `combined-${round}-${i}.run`);
        const run = await combiners[i % combiners.length].combine({ runs: group, path });
        for (const old of group) if ("path" in old) await rm(old.path);
        return run;
      }),
    );
    checkSignal(interrupt?.signal);
  }
  return left;
}

/** Makes one run of several, here and now. */
export function combineStored({ runs, path, range = {} }: CombineTask): FileRun {
  return readingRuns(runs, range.from, (readers) => {
    const index = writingTo(path, (write) => writeRun(mergedKeys(readers, range), write));
    return { path, index };
  });
}

/**
 * Opens runs, from a key on, and closes them when `use` is done.
 *
 * @throws MM_IO where a run cannot be opened.
 */
export function readingRuns<T>(
  runs: readonly StoredRun[],
  from: Uint8Array | undefined,
  use: (readers: readonly RunReader[]) => T,
): T {
  const files: number[] = [];
  try {
    const readers = runs.map((run) => {
      if ("bytes" in run) return new RunReader(run.index, memoryRun(run.bytes), from);
      const file = openRun(run.path);
      files.push(file);
      return new RunReader(run.index, runBytes(run, file), from);
    });
    return use(readers);
  } finally {
    for (const file of files) closeSync(file);
  }
}

function runBytes({ start = 0, index }: FileRun, file: number): ReadRun {
  return (offset, target) => {
    const length = Math.min(target.length, index.byteLength - offset);
    return readSync(file, target, 0, length, start + offset);
  };
}

function openRun(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    throw ioError(error, path);
  }
}
