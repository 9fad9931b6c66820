import { LF } from "../../bytes/ascii.ts";
import { compactMap } from "../../map/compact/compact-map.ts";
import type { WeightOptions } from "../../map/compact/weight-policy.ts";

/** How many rows the smaller map has when so many rows have been read. */
export interface TracePoint {
  readonly processed: number;
  readonly produced: number;
}

const POINTS = 300;

/**
 * Follows a compaction over the rows of a map, `rows`, whole lines without headers: the paper's
 * figure of processed and produced lines.
 *
 * A roll-up is decided as soon as a node is over its cutoff, so what has been produced after n rows
 * is what the first n rows alone are compacted to. Quadratic, and meant for a few thousand rows.
 */
export async function traceCompaction(
  rows: Uint8Array,
  weights: WeightOptions,
): Promise<TracePoint[]> {
  const ends: number[] = [];
  for (let at = rows.indexOf(LF); at !== -1; at = rows.indexOf(LF, at + 1)) ends.push(at + 1);
  const step = Math.max(1, Math.ceil(ends.length / POINTS));
  const points: TracePoint[] = [{ processed: 0, produced: 0 }];
  for (let n = step; n <= ends.length; n += step) {
    const part = rows.subarray(0, ends[n - 1]);
    let produced = 0;
    for await (const block of compactMap([part], { ...weights, checkSize: false }))
      produced += rowCount(block);
    points.push({ processed: n, produced });
  }
  return points;
}

/** Rows that do not begin with `!`: compacted maps have headers. */
function rowCount(block: Uint8Array): number {
  const text = new TextDecoder().decode(block);
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("!")).length;
}
