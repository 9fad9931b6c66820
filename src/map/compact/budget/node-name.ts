const MULTIPLIER_A = 0x9e3779b1 | 0;
const MULTIPLIER_B = 0x85ebca77 | 0;

/**
 * A number that names a node of the key tree by the bytes of its key: a hash of 53 bits.
 *
 * Two nodes with one name would be rolled up together: a larger answer, never a lost key.
 */
export function nodeName(key: Uint8Array, end: number): number {
  let a = 0x811c9dc5 | 0;
  let b = 0x2c1b3c6d | 0;
  for (let i = 0; i < end; i++) {
    a = (Math.imul(a, MULTIPLIER_A) + key[i]) | 0;
    b = (Math.imul(b ^ key[i], MULTIPLIER_B) + 1) | 0;
  }
  a = Math.imul(a ^ (a >>> 16), 0x7feb352d);
  b = Math.imul(b ^ (b >>> 15), 0x2c1b3c6d);
  return ((a ^ (a >>> 15)) >>> 0) * 2 ** 21 + ((b ^ (b >>> 12)) >>> 11);
}
