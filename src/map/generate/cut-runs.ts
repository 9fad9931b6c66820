import { compareBytes } from "../../bytes/bytes.ts";
import { rowKeyLength } from "./row-key.ts";
import type { KeyRange } from "./merge-runs.ts";
import type { RunIndex } from "./run.ts";

/**
 * Cuts the keys of all runs into ranges of about equal size that can be merged independently.
 *
 * Blocks of runs are of one size, so their first keys are a fair sample. A cut never separates the
 * originals of a row.
 */
export function cutRuns(runs: readonly RunIndex[], parts: number): KeyRange[] {
  const firstKeys = runs.flatMap((run) => run.blocks.map((block) => rowPart(block.firstKey)));
  firstKeys.sort(compareBytes);
  const cuts: Uint8Array[] = [];
  for (let part = 1; part < parts; part++) {
    const cut = firstKeys[Math.floor((part * firstKeys.length) / parts)];
    const last = cuts.at(-1);
    if (cut !== undefined && (last === undefined || compareBytes(last, cut) < 0)) cuts.push(cut);
  }
  return [undefined, ...cuts].map((from, i) => ({ from, to: cuts[i] }));
}

/** The row that a key belongs to: without the query of an original. */
export function rowPart(key: Uint8Array): Uint8Array {
  return key.subarray(0, rowKeyLength(key, key.length));
}
