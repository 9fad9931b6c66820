import { setImmediate } from "node:timers/promises";
import { cutRuns } from "../../map/generate/cut-runs.ts";
import type { VisitKey } from "../../map/generate/merge-runs.ts";
import { mergeRuns } from "../../map/generate/merge-runs.ts";
import type { CombineOptions, RunCombiner, StoredRun } from "../../map/generate/stored-runs.ts";
import { combineRuns, combineStored, readingRuns } from "../../map/generate/stored-runs.ts";
import { checkSignal } from "../../interruption.ts";

/** What is merged between two looks at whether the user wants to stop. */
const BYTES_PER_TURN = 16 * 2 ** 20;

/** Works on this thread; lets others have a turn before. */
const HERE: RunCombiner = {
  async combine(task) {
    await setImmediate();
    return combineStored(task);
  },
};

/**
 * Merges stored runs on this thread; each key is visited once, in byte order.
 *
 * Holds 64 KiB of each of at most `maxOpenRuns` runs; more are merged in rounds, in the folder
 * `scratch`.
 *
 * @throws MM_IO, MM_INTERRUPTED
 */
export async function mergeStored(
  runs: readonly StoredRun[],
  options: CombineOptions,
  visit: VisitKey,
): Promise<void> {
  const left = await combineRuns(runs, [HERE], options);
  const indexes = left.map((run) => run.index);
  const bytes = indexes.reduce((sum, index) => sum + index.byteLength, 0);
  for (const range of cutRuns(indexes, Math.ceil(bytes / BYTES_PER_TURN))) {
    await setImmediate();
    checkSignal(options.interrupt?.signal);
    readingRuns(left, range.from, (readers) => {
      mergeRuns(readers, range, visit);
    });
  }
}
