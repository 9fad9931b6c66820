/**
 * Compares two byte ranges as unsigned bytes, the order of `LC_ALL=C sort`.
 *
 * Negative, zero or positive, as for `Array.prototype.sort`. A prefix comes before what it begins.
 */
export function compareRanges(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const aLength = aEnd - aStart;
  const bLength = bEnd - bStart;
  const shared = aLength < bLength ? aLength : bLength;
  for (let i = 0; i < shared; i++) {
    const difference = a[aStart + i] - b[bStart + i];
    if (difference !== 0) return difference;
  }
  return aLength - bLength;
}

/** Compares two whole byte arrays as unsigned bytes. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return compareRanges(a, 0, a.length, b, 0, b.length);
}

/** The number of leading bytes that two ranges share. */
export function commonPrefix(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const aLength = aEnd - aStart;
  const bLength = bEnd - bStart;
  const limit = aLength < bLength ? aLength : bLength;
  let i = 0;
  while (i < limit && a[aStart + i] === b[bStart + i]) i++;
  return i;
}
