import { CLOSE_PAREN, QUESTION } from "../../bytes/bytes.ts";

/**
 * Whether a sorted index can be cut between two rows so that every key of a row behind the cut comes
 * after all keys before it.
 *
 * Keys are key columns without their query, which breaks the order: `/a?x`, whose key is `/a`, stands
 * behind `/a/b`. Across a cut that can only happen to a key that both rows begin with, and only if
 * the row behind goes on with a byte that sorts before `?`. So a cut is good between two hosts, and
 * within one where the paths differ, and everything up to there sorts behind `?`: letters.
 *
 * Both are key columns, `before` the one of the last row before the cut.
 */
export function isKeyCut(before: Uint8Array, key: Uint8Array): boolean {
  const limit = Math.min(before.length, key.length);
  let shared = 0;
  while (shared < limit && before[shared] === key[shared]) shared++;
  if (shared === key.length || (shared < before.length && before[shared] > key[shared]))
    return false;
  const hostEnd = key.indexOf(CLOSE_PAREN);
  if (hostEnd === -1 || hostEnd >= shared) return true;
  // The slash that begins the path is there in every row of the host.
  for (let i = hostEnd + 2; i <= shared; i++) if (key[i] <= QUESTION) return false;
  return shared > hostEnd + 1;
}
