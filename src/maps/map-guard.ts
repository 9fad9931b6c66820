import { isMementoMapError, MementoMapError } from "../errors.ts";
import { STAR } from "../bytes/bytes.ts";
import type { PackedHeader } from "../packed/packed-file.ts";
import { frequencyCount } from "../ukvs/frequency.ts";
import { readUkvs } from "../ukvs/reader.ts";

/** Size of a map, compared before one replaces another. */
export interface MapExtent {
  readonly records: number;
  /** The sum of the frequencies of all rows but `*`; compacting a map hardly changes it. */
  readonly mementos: number;
  /** A packed map has the record count of its source map, and no mementos. */
  readonly isPacked?: boolean | undefined;
}

export interface MapGuardOptions {
  /** The fraction of mementos that a new map may have lost; 1 accepts any map. Default 0.5. */
  readonly maxShrink?: number | undefined;
}

const DEFAULT_MAX_SHRINK = 0.5;

/**
 * Rejects a map that would replace another but lost too much: all records, or more than the
 * allowed fraction of the mementos (of the records, if no row states a frequency).
 *
 * Failed harvests, unmounted indexes and wrong paths produce such maps, and the archive would seem
 * almost empty. Between a packed map and a text map, only emptiness is compared.
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
      `If the archive really shrank, allow it with --max-shrink (now ${maxShrink * 100}%)`,
    { position: { source } },
  );
}

/** The extent of a packed map; the size it was packed to does not matter. */
export function packedExtent({ rows, source }: PackedHeader): MapExtent {
  return { records: source?.rows ?? rows, mementos: 0, isPacked: true };
}

/** Counts records and mementos in one pass; undefined if there is no readable map. */
export async function extentOf(chunks: AsyncIterable<Uint8Array>): Promise<MapExtent | undefined> {
  let [records, mementos] = [0, 0];
  try {
    const reader = await readUkvs(chunks, { checkSize: false });
    for await (const batch of reader.batches()) {
      const { bytes, count, keyStarts, keyEnds, restStarts, restEnds } = batch;
      records += count;
      for (let i = 0; i < count; i++) {
        // The row `*` repeats the total; the frequency is the first value of a map.
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
