// Datetimes that a filter leaves out.

import { lesson } from "./lesson";

const MAX_DIGITS: i32 = 16;
const first: usize = memory.data(16, 16);
const last: usize = memory.data(16, 16);
let firstDigits: i32 = 0;
let lastDigits: i32 = 0;

/** Sets the first datetime, or with `isLast` the last, to the lesson; no digits for any. */
export function learnDate(digits: i32, isLast: bool): void {
  if (digits > MAX_DIGITS) return;
  memory.copy(isLast ? last : first, lesson, <usize>digits);
  if (isLast) lastDigits = digits;
  else firstDigits = digits;
}

export function isOutside(date: usize, digits: i32): bool {
  if (firstDigits == 0 && lastDigits == 0) return false;
  return compare(date, digits, first, firstDigits) < 0 || compare(date, digits, last, lastDigits) > 0;
}

/** Compares as many digits as both have. */
function compare(a: usize, aDigits: i32, b: usize, bDigits: i32): i32 {
  const digits = aDigits < bDigits ? aDigits : bDigits;
  for (let i: i32 = 0; i < digits; i++) {
    const difference = <i32>load<u8>(a + <usize>i) - <i32>load<u8>(b + <usize>i);
    if (difference != 0) return difference;
  }
  return 0;
}
