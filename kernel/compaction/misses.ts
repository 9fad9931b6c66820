// Missed lookups, merged with the rows of a survey: both are in byte order.
import { CLOSE_PAREN, commonBytes, SLASH, STAR } from "../shared/bytes";
import { openBranches } from "./branches";
import { goTo } from "./key";
import { hostEnd, isKeyByte, key, keyLength, MAX_KEY_BYTES, NONE } from "./nodes";
import * as survey from "./survey";
import { enter } from "./walk";

/** The text of all misses, where each begins and the last ends, and whether it was asked late. */
export let texts: usize = 0;
export let starts: usize = 0;
export let isLate: usize = 0;
let count: i32 = 0;

let next: i32 = 0;
/** The next miss: its text, length, and how many bytes it shares with the key before it. */
let text: usize = 0;
let length: i32 = 0;
let shared: i32 = 0;

/** Makes room for a number of misses and of their bytes. */
export function openMisses(misses: i32, bytes: i32): void {
  texts = heap.alloc(<usize>bytes + 8);
  starts = heap.alloc((<usize>misses + 1) << 2);
  isLate = heap.alloc(<usize>misses);
  count = misses;
  openBranches(misses);
}

/** Looks at the first miss, once all of them are in place. */
export function startMisses(): void {
  findNext(0);
}

@inline
export function hasMisses(): bool {
  return next < count;
}

/** Goes on to the first miss from `from` on that has a place in the tree of keys. */
function findNext(from: i32): void {
  for (next = from; next < count; next++) {
    const start = load<u32>(starts + (<usize>next << 2));
    text = texts + <usize>start;
    length = <i32>(load<u32>(starts + (<usize>next << 2), 4) - start);
    if (hasHost()) break;
  }
  if (next == count) return;
  shared = commonBytes(key, text, 0, min(keyLength, length));
}

function hasHost(): bool {
  for (let i: i32 = 0; i + 1 < length; i++) {
    if (load<u8>(text + <usize>i) == CLOSE_PAREN && load<u8>(text + <usize>i, 1) == SLASH) {
      return true;
    }
  }
  return length > 0 && load<u8>(text + <usize>(length - 1)) == CLOSE_PAREN;
}

/**
 * Takes the misses before a row, and passes over one that is the row itself. Returns how many bytes
 * the row shares with the key then, or NONE to give up.
 */
export function takeMissesBefore(row: usize, rowLength: i32, rowShared: i32): i32 {
  let sharedByRow = rowShared;
  while (next < count) {
    // Both come after the key: what leaves it first, or goes higher, comes last.
    if (sharedByRow > shared) return sharedByRow;
    if (sharedByRow == shared) {
      const both = min(rowLength, length);
      const same = commonBytes(row, text, shared, both);
      if (same == rowLength && same == length) {
        findNext(next + 1);
        continue;
      }
      const isBefore =
        same == length || (same < rowLength && load<u8>(text + <usize>same) < load<u8>(row + <usize>same));
      if (!isBefore) {
        shared = same;
        return sharedByRow;
      }
    }
    if (!takeNext()) return NONE;
    sharedByRow = commonBytes(key, row, 0, min(keyLength, rowLength));
  }
  return sharedByRow;
}

/** Takes all misses that are left; false to give up. */
export function takeOtherMisses(): bool {
  while (next < count) if (!takeNext()) return false;
  return true;
}

function takeNext(): bool {
  // What looks like a wildcard, or lacks the slash of its root, is for the TypeScript survey.
  if (length > MAX_KEY_BYTES || load<u8>(text + <usize>(length - 1)) == STAR) return false;
  if (!goTo(text, length, shared)) return false;
  if (hostEnd + 1 == length || (hostEnd >= 1 && isKeyByte(hostEnd - 1, STAR))) return false;
  const nodesEnd = length == hostEnd + 2 ? hostEnd + 1 : length;
  const index = enter(shared, hostEnd, nodesEnd);
  if (index == NONE) return false;
  survey.addMiss(index, next, load<u8>(isLate + <usize>next) == 1);
  findNext(next + 1);
  return true;
}
