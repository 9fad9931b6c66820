import { rm } from "node:fs/promises";
import { compareBytes, SLASH } from "../bytes/bytes.ts";
import { wholeLines } from "../bytes/lines.ts";
import { fileChunks, FileSource } from "../files/input-file.ts";
import type { Fields } from "../ukvs/header.ts";
import { nodeName } from "../ukvs/key-tree.ts";
import type { PackLanes } from "./pack-job.ts";
import { mapParts, type ScanCut } from "./scan-map.ts";

export interface RollUpOptions {
  readonly lanes: PackLanes;
  readonly fields: Fields;
  /** Where the rows of the map begin. */
  readonly recordsOffset: number;
  /** What the names of scratch files begin with. */
  readonly scratch: string;
  readonly cut?: ScanCut | undefined;
  /** Notified of the bytes that were read since the last call. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

/** Every part needs all names of chosen nodes, and a cut between them is hard to find. */
const PARTS_PER_LANE = 3;

/**
 * Rolls up chosen nodes of a map, in parts on all lanes; gives the rows that are left, in blocks of whole ones.
 * They go through scratch files. Reads the map once; again in one part where keys are spelled otherwise now.
 *
 * @throws as compactMap
 */
export async function* rolledUpRows(
  source: FileSource,
  chosen: readonly number[],
  options: RollUpOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { lanes, fields, recordsOffset, scratch, cut } = options;
  const { path, name, size } = source;
  const names = Float64Array.from(chosen);
  await lanes.useChosen(names);
  const whole = { path, source: name, start: recordsOffset, end: size };
  const isGood = goodCuts(names.sort());
  // The rows of a page with queries are not in the order of the tree.
  const parts =
    fields.queries === true
      ? [whole]
      : mapParts(source, recordsOffset, lanes.lanes.length, cut, {
          isGood,
          partsPerLane: PARTS_PER_LANE,
        });
  const targets = parts.map((_, i) => `${scratch}-${i}`);
  const rollUp = (some: readonly (typeof whole)[]): Promise<boolean[]> =>
    lanes.run(
      some.map((part, i) => ({ ...part, fields, target: targets[i] })),
      async (lane, task) => {
        const { hasRespelled } = await lane.rollUp(task);
        options.onRead?.(task.end - task.start);
        return hasRespelled;
      },
    );
  const respelled = await rollUp(parts);
  const isInOnePart = parts.length > 1 && respelled.includes(true);
  if (isInOnePart) await rollUp([whole]);
  for (const target of isInOnePart ? targets.slice(0, 1) : targets) {
    const rows = await FileSource.open(target, name);
    try {
      yield* wholeLines(fileChunks(rows), name);
    } finally {
      await rows.close();
      await rm(target);
    }
  }
}

/**
 * Says whether no chosen node can have keys on both sides of a cut: the text of none begins both.
 *
 * @param names of the chosen nodes, the smallest first.
 */
function goodCuts(names: Float64Array): (before: Uint8Array, key: Uint8Array) => boolean {
  return (before, key) => {
    if (compareBytes(before, key) >= 0) return false;
    for (let end = 0; end <= before.length && end <= key.length; end++) {
      // Only a separator, or what is sorted before one, is behind the text of a node.
      const mayEnd = !(before[end] > SLASH && key[end] > SLASH);
      if (mayEnd && isAmong(names, nodeName(key, end))) return false;
      if (before[end] !== key[end]) break;
    }
    return true;
  };
}

/** By halving: there may be millions, which a set would take five times the memory for. */
function isAmong(sorted: Float64Array, wanted: number): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === wanted;
}
