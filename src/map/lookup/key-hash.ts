/**
 * A polynomial hash of key bytes, modulo 2^32.
 *
 * Unlike the hashes that mix harder, it extends: the hash of every prefix of a key falls out of one
 * pass over the key, and the hash of `prefix + suffix` follows from the two. That is what asks for
 * all wildcards above a URI at the price of hashing the URI once. `finishHash` adds the mixing that
 * a table needs.
 */
const MULTIPLIER: number = 0x9e3779b1 | 0;

/**
 * The hash of no bytes. Not 0, so that leading NULs count; a 32-bit integer like all that follow
 * from it, because a number above 2^31 would make the loops work on floating point.
 */
export const EMPTY_HASH: number = 0x811c9dc5 | 0;

/** The hash of what `hash` stands for, followed by one byte. */
export function extendHash(hash: number, byte: number): number {
  return (Math.imul(hash, MULTIPLIER) + byte) | 0;
}

/** The hash of what `hash` stands for, followed by `bytes[start, end)`. */
export function extendHashRange(
  hash: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): number {
  let extended = hash;
  for (let at = start; at < end; at++) extended = (Math.imul(extended, MULTIPLIER) + bytes[at]) | 0;
  return extended;
}

/** Spreads a hash over all bits; never 0, which marks an empty place of a table. */
export function finishHash(hash: number): number {
  let mixed = hash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  mixed = (mixed ^ (mixed >>> 16)) >>> 0;
  return mixed === 0 ? 1 : mixed;
}
