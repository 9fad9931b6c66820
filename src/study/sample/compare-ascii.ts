/** Compares ASCII text in byte order, which for ASCII is that of its code units. */
export function compareAscii(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
