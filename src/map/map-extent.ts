import { STAR } from "../bytes/bytes.ts";
import { isMementoMapError } from "../errors.ts";
import { frequencyCount } from "../ukvs/frequency.ts";
import { readUkvs } from "../ukvs/reader.ts";
import type { MapExtent } from "./map-guard.ts";

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
