const SLAB_BYTES = 16 * 1024;
const MAX_CARVED_BYTES = 2 * 1024;

let slab = new Uint8Array(0);
let used = 0;

/**
 * Bytes for a short text: carved from a larger piece, because an array of its own costs more than
 * all that is done with it. A piece lives as long as one of its parts, and no part is used twice.
 */
export function carveBytes(length: number): Uint8Array {
  if (length > MAX_CARVED_BYTES) return new Uint8Array(length);
  if (used + length > slab.length) {
    slab = new Uint8Array(SLAB_BYTES);
    used = 0;
  }
  used += length;
  return slab.subarray(used - length, used);
}
