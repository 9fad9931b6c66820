/**
 * A 32-bit hash of a byte range, for hash tables in memory only: it may change between versions
 * and must never be written to a file.
 *
 * FNV-1a with a final mix: byte at a time is fast enough here, because keys are short, and needs
 * no alignment.
 */
export function hashRange(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  hash ^= hash >>> 13;
  return hash >>> 0;
}
