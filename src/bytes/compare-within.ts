/**
 * Compares two ranges of the same bytes, as `compareRanges` does, four bytes at a time.
 *
 * For neighbours of a sorted file, which share most of their bytes.
 */
export function compareWithin(
  view: DataView,
  aStart: number,
  aEnd: number,
  bStart: number,
  bEnd: number,
): number {
  const aLength = aEnd - aStart;
  const bLength = bEnd - bStart;
  const shared = aLength < bLength ? aLength : bLength;
  let i = 0;
  while (i + 4 <= shared && view.getInt32(aStart + i) === view.getInt32(bStart + i)) i += 4;
  for (; i < shared; i++) {
    const difference = view.getUint8(aStart + i) - view.getUint8(bStart + i);
    if (difference !== 0) return difference;
  }
  return aLength - bLength;
}
