import { isMementoMapError, MementoMapError } from "../errors.ts";
import { STAR } from "../bytes/bytes.ts";
import type { PackedHeader } from "../packed/packed-file.ts";
import { frequencyCount } from "../ukvs/frequency.ts";
import { readUkvs } from "../ukvs/reader.ts";

/** How much a map holds: what is compared before one takes the place of another. */
export interface MapExtent {
  readonly records: number;
  /** The sum of the frequencies of all rows but `*`; compacting a map changes it little. */
  readonly mementos: number;
  /** A packed map has the records of the map that it was made from, and no mementos. */
  readonly isPacked?: boolean | undefined;
}

export interface MapGuardOptions {
  /** The share of the mementos that a new map may have lost; 1 takes any map. Default 0.5. */
  readonly maxShrink?: number | undefined;
}

const DEFAULT_MAX_SHRINK = 0.5;

/**
 * Refuses a map that would take the place of another and has lost too much of it: all records, or
 * more than the allowed share of the mementos (of the records, where no row states a frequency).
 *
 * A harvest that failed, an index that was not mounted or a wrong path give such maps, and an
 * archive would seem to hold next to nothing. A packed map and one in text have nothing to compare but
 * whether they are empty.
 *
 * @throws MM_EMPTY, MM_SHRUNK.
 */
export function refuseShrunk(
  old: MapExtent,
  next: MapExtent,
  source: string,
  { maxShrink = DEFAULT_MAX_SHRINK }: MapGuardOptions = {},
): void {
  if (maxShrink >= 1 || old.records === 0) return;
  if (next.records === 0) {
    throw new MementoMapError(
      "MM_EMPTY",
      `the new map has no records, the current one ${old.records}; the current one is kept`,
      { position: { source } },
    );
  }
  if (old.isPacked !== next.isPacked) return;
  const [name, before, after] =
    old.mementos > 0
      ? (["mementos", old.mementos, next.mementos] as const)
      : (["records", old.records, next.records] as const);
  if (after >= before * (1 - maxShrink)) return;
  throw new MementoMapError(
    "MM_SHRUNK",
    `the new map has ${after} ${name}, the current one ${before}; the current one is kept. ` +
      `If the archive has become so small, allow it with --max-shrink (now ${maxShrink * 100}%)`,
    { position: { source } },
  );
}

/** What a packed map holds: the size it was packed to does not matter. */
export function packedExtent({ rows, source }: PackedHeader): MapExtent {
  return { records: source?.rows ?? rows, mementos: 0, isPacked: true };
}

/** Counts what a map holds, in one reading; undefined where there is no map that can be read. */
export async function extentOf(chunks: AsyncIterable<Uint8Array>): Promise<MapExtent | undefined> {
  let [records, mementos] = [0, 0];
  try {
    const reader = await readUkvs(chunks, { checkSize: false });
    for await (const batch of reader.batches()) {
      const { bytes, count, keyStarts, keyEnds, restStarts, restEnds } = batch;
      records += count;
      for (let i = 0; i < count; i++) {
        // The row `*` states the total once more; the frequency is the first value of a map.
        if (keyEnds[i] - keyStarts[i] === 1 && bytes[keyStarts[i]] === STAR) continue;
        mementos += frequencyCount(bytes, restStarts[i], restEnds[i]);
      }
    }
  } catch (error) {
    if (isMementoMapError(error)) return undefined;
    throw error;
  }
  return { records, mementos };
}
