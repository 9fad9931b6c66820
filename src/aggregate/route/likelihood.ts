import { SLASH } from "../../bytes/ascii.ts";

/**
 * What a map's key tells about the chance that a URI below it is held.
 *
 * A key for the URI itself is as good as certain. Under a wildcard that covers `o` originals, `d`
 * steps above the URI, the URI is one of the `o` that are held or one of those that are asked for
 * and are not. How many the latter are is not known; each step up the tree of the Web makes them
 * more, so they are taken to be `GROWTH ** d`:
 *
 *     likelihood = o / (o + GROWTH ** d)
 *
 * A wildcard just above the URI with many originals comes near to 1, one for a whole top-level
 * domain with a few near to 0. It is meant to rank archives: how often a wildcard is right depends
 * on what people ask for, which no map knows.
 */
const GROWTH = 4;

/** A map may be older than its archive. */
const EXACT = 0.99;

/** No wildcard is as good as the key itself, and none says nothing. */
const MOST_OF_WILDCARD = 0.95;
const LEAST_OF_WILDCARD = 0.01;

/** Where a map does not tell both. */
const MEMENTOS_PER_ORIGINAL = 3;

/**
 * How useful it is to ask an archive, going by what its map states; make one and use it again.
 */
export class Estimate {
  /** From 0 to 1: that the archive has a memento. */
  likelihood = 0;
  /** How many mementos there will be, on average. */
  mementos = 0;

  /** Takes a frequency `bytes[start, end)` of a key that makes a URI present. */
  take(bytes: Uint8Array, start: number, end: number, distance: number): void {
    let slash = start;
    while (slash < end && bytes[slash] !== SLASH) slash++;
    const statedMementos = countAt(bytes, start, slash);
    const statedOriginals = countAt(bytes, slash + 1, end);
    if (distance === 0) {
      this.likelihood = EXACT;
      this.mementos = Math.max(1, statedMementos);
      return;
    }
    const originals =
      statedOriginals >= 0 ? statedOriginals : Math.max(1, statedMementos / MEMENTOS_PER_ORIGINAL);
    const share = originals / (originals + GROWTH ** distance);
    this.likelihood = Math.min(MOST_OF_WILDCARD, Math.max(LEAST_OF_WILDCARD, share));
    const each =
      statedMementos >= 0 && statedOriginals > 0
        ? statedMementos / statedOriginals
        : MEMENTOS_PER_ORIGINAL;
    this.mementos = this.likelihood * each;
  }
}

/** The digits that `bytes[start, end)` begins with, as a number; -1 where there are none. */
function countAt(bytes: Uint8Array, start: number, end: number): number {
  let count = -1;
  for (let at = start; at < end; at++) {
    const digit = bytes[at] - 0x30;
    if (digit < 0 || digit > 9) break;
    count = (count < 0 ? 0 : count * 10) + digit;
  }
  return count;
}
