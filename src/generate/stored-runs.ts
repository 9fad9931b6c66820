import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { ioError } from "../errors.ts";
import { checkSignal, type Interrupt } from "../interruption.ts";
import type { SortedKeys } from "./key-table.ts";
import {
  type KeyRange,
  type MemoryRun,
  readerOf,
  type ReadRun,
  type RunIndex,
  RunMerge,
  RunReader,
  RunWriter,
} from "./runs.ts";

/** A stored sorted run: on disk, or in memory if it is short. */
export type StoredRun = FileRun | MemoryRun;

/** A sorted run on disk. */
export interface FileRun {
  readonly path: string;
  /** Its offset in the file; 0 by default. */
  readonly start?: number | undefined;
  readonly index: RunIndex;
}

/** Stores keys in a scratch file, without flushing it to disk. */
export function storeKeys(keys: SortedKeys, path: string): FileRun {
  try {
    const file = openSync(path, "wx");
    try {
      const writer = new RunWriter((chunk) => {
        for (let at = 0; at < chunk.length;) at += writeSync(file, chunk, at);
      });
      keys.forEach((bytes, start, end, count) => writer.add(bytes, start, end, count));
      return { path, index: writer.end() };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw ioError(error, path);
  }
}

/** Maximum runs merged at once; each takes an open file and 64 KiB. */
const MAX_OPEN_RUNS = 128;
/** Bytes of keys merged between two checks for an interrupt. */
const BYTES_PER_TURN = 1 << 20;

export interface MergeOptions {
  /** The folder for scratch files. */
  readonly scratch: string;
  /** The keys to merge; all by default. */
  readonly range?: KeyRange | undefined;
  readonly interrupt?: Interrupt | undefined;
  /** Maximum runs merged at once; 128 by default. */
  readonly maxOpenRuns?: number | undefined;
}

/** Receives each key once, in byte order; the bytes are valid only during the call. */
export type VisitKey = (key: Uint8Array, keyLength: number, count: number) => void;

/**
 * Merges stored runs; the counts of a key are added up.
 *
 * Holds 64 KiB for each of at most `maxOpenRuns` runs. More runs are first merged in rounds; merged runs in
 * the folder `scratch` are removed.
 *
 * @param onTurn awaited at intervals.
 * @throws MM_IO, MM_INTERRUPTED
 */
export async function mergeStored(
  runs: readonly StoredRun[],
  options: MergeOptions,
  visit: VisitKey,
  onTurn?: () => Promise<void>,
): Promise<void> {
  const { maxOpenRuns = MAX_OPEN_RUNS, range, interrupt } = options;
  let left = runs;
  while (left.length > maxOpenRuns) left = await mergeGroups(left, maxOpenRuns, options);
  const files: number[] = [];
  try {
    const readers = left.map((run) => {
      if ("bytes" in run) return readerOf(run, range?.from);
      const file = openRun(run.path);
      files.push(file);
      return new RunReader(run.index, runBytes(run, file), range?.from);
    });
    const merge = new RunMerge(readers, range);
    for (let bytes = 0; merge.next();) {
      visit(merge.key, merge.keyLength, merge.count);
      bytes += merge.keyLength;
      if (bytes < BYTES_PER_TURN) continue;
      bytes = 0;
      await onTurn?.();
      await setImmediate();
      checkSignal(interrupt?.signal);
    }
  } finally {
    for (const file of files) closeSync(file);
  }
}

/** Merges groups of runs into one run each. */
async function mergeGroups(
  runs: readonly StoredRun[],
  size: number,
  options: MergeOptions,
): Promise<StoredRun[]> {
  const { scratch } = options;
  const merged: StoredRun[] = [];
  for (let i = 0; i < runs.length; i += size) {
    const group = runs.slice(i, i + size);
    // The number of runs differs in each round, so names are unique.
    const path = join(scratch, `merged-${runs.length}-${i}.run`);
    const file = await open(path, "wx");
    try {
      const index = await mergeToRun(group, options, (chunk) => file.writeFile(chunk));
      merged.push({ path, index });
    } catch (error) {
      throw ioError(error, path);
    } finally {
      await file.close();
    }
    for (const old of group) {
      if ("path" in old && dirname(old.path) === scratch) await rm(old.path);
    }
  }
  return merged;
}

/** Merges runs into a single run. */
export async function mergeToRun(
  runs: readonly StoredRun[],
  options: MergeOptions,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<RunIndex> {
  const chunks: Uint8Array[] = [];
  const writer = new RunWriter((chunk) => void chunks.push(chunk.slice()));
  const flush = async (): Promise<void> => {
    for (const chunk of chunks.splice(0)) await write(chunk);
  };
  const add: VisitKey = (key, length, count) => writer.add(key, 0, length, count);
  await mergeStored(runs, options, add, flush);
  const index = writer.end();
  await flush();
  return index;
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
