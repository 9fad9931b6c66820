// URIs that a filter may leave out, told by texts in them.

import { BACKSLASH } from "../shared/bytes";
import { lesson } from "./lesson";

const MAX_SUSPECTS: i32 = 8;
const MAX_SUSPECT_BYTES: i32 = 32;
/** A suspect: its length, then its bytes, which have no capitals. */
const SUSPECT_BYTES: usize = 48;
const suspects: usize = memory.data(8 * 48, 16);
let count: i32 = 0;

export function forgetSuspects(): void {
  count = 0;
}

/** Adds the text that is the lesson, of two bytes at least; 0 if there is no room for it. */
export function learnSuspect(length: i32): i32 {
  if (count == MAX_SUSPECTS || length > MAX_SUSPECT_BYTES) return 0;
  const suspect = suspects + <usize>count * SUSPECT_BYTES;
  store<i32>(suspect, length);
  memory.copy(suspect + 16, lesson, <usize>length);
  count++;
  return 1;
}

/** Whether a URI has one of the texts in it, in whatever case, or escapes that may hide one. */
export function isSuspect(from: usize, end: usize): bool {
  const backslashes = i8x16.splat(BACKSLASH);
  const lower = i8x16.splat(32);
  const behindLast = suspects + <usize>count * SUSPECT_BYTES;
  for (let at = from; at < end; at += 16) {
    const bytes = v128.load(at);
    let escapes = i8x16.bitmask(i8x16.eq(bytes, backslashes));
    for (; escapes != 0; escapes &= escapes - 1) {
      if (at + <usize>ctz(escapes) < end) return true;
    }
    const firsts = v128.or(bytes, lower);
    const seconds = v128.or(v128.load(at, 1), lower);
    for (let suspect = suspects; suspect < behindLast; suspect += SUSPECT_BYTES) {
      // Of some signs this makes others: what is found is compared closely.
      const first = i8x16.eq(firsts, i8x16.splat(load<u8>(suspect, 16) | 32));
      const second = i8x16.eq(seconds, i8x16.splat(load<u8>(suspect, 17) | 32));
      let found = i8x16.bitmask(v128.and(first, second));
      for (; found != 0; found &= found - 1) {
        if (standsAt(at + <usize>ctz(found), end, suspect)) return true;
      }
    }
  }
  return false;
}

function standsAt(at: usize, end: usize, suspect: usize): bool {
  const length = load<i32>(suspect);
  if (at + <usize>length > end) return false;
  for (let i: i32 = 0; i < length; i++) {
    let byte = load<u8>(at + <usize>i);
    if (byte >= 65 && byte <= 90) byte |= 32;
    if (byte != load<u8>(suspect + 16 + <usize>i)) return false;
  }
  return true;
}
