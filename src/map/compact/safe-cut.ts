import { CLOSE_PAREN, COMMA, compareRanges } from "../../bytes/bytes.ts";

/**
 * Whether a map can be cut between two rows so that both parts can be compacted on their own.
 *
 * Nothing is ever rolled up above the second label (`com,cnn`), so a cut is safe where no earlier
 * key can be in the same such sub-tree: where the key before does not even start with its text.
 */
export function isSafeCut(
  before: Uint8Array,
  beforeEnd: number,
  key: Uint8Array,
  keyEnd: number,
): boolean {
  const unitEnd = unitLength(key, keyEnd);
  const startsAlike =
    beforeEnd >= unitEnd && compareRanges(before, 0, unitEnd, key, 0, unitEnd) === 0;
  return !startsAlike && compareRanges(before, 0, beforeEnd, key, 0, keyEnd) < 0;
}

/**
 * The length of `com,cnn` in `com,cnn,www)/a`, of `localhost)` in `localhost)/a`.
 *
 * Also of `com,cnn` in `com,cnn+x)/a`: `*` and `+` sort between `)` and `,`, so that such a key
 * stands between `com,cnn)/` and `com,cnn,www)/`.
 */
function unitLength(key: Uint8Array, end: number): number {
  let at = 0;
  while (at < end && key[at] !== COMMA && key[at] !== CLOSE_PAREN) at++;
  if (at === end) return end;
  if (key[at++] === CLOSE_PAREN) return at;
  while (at < end && (key[at] < CLOSE_PAREN || key[at] > COMMA)) at++;
  return at;
}
