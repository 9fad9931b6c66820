import type { FileHandle } from "node:fs/promises";
import { isSafeCut } from "../safe-cut.ts";
import { cutAfter } from "../../../files/input-file.ts";

/**
 * Cuts the rows of a sorted map file, `[start, end)`, into about `parts` ranges of about equal
 * size that can be compacted on their own. Gives the offsets between them, `start` and `end`
 * included. Reads a little around each cut.
 */
export function findCuts({ fd }: FileHandle, start: number, end: number, parts: number): number[] {
  const cuts = [start];
  for (let part = 1; part < parts; part++) {
    const wanted = start + Math.floor(((end - start) * part) / parts);
    const cut = cutAfter(fd, Math.max(wanted, cuts.at(-1) ?? start), end, isGoodCut);
    if (cut === undefined) break;
    cuts.push(cut);
  }
  return [...cuts, end];
}

function isGoodCut(before: Uint8Array, key: Uint8Array): boolean {
  return isSafeCut(before, before.length, key, key.length);
}
