// Asks a packed map without voids for the rows of a map, `key count`, as src/map/pack/held-check.ts does.
//
// Rows are in byte order, so each has much in common with the one before it: what was read and hashed of that is
// not read again. And what is below a folder is present as soon as the folder is, whatever else it is asked for.

import { commonBytes, QUESTION, SLASH, SPACE, STAR, ZERO } from "../shared/bytes";
import { frequencyEnd, hostEnd, pathEnd, textEnd } from "../lookup/plain";
import { findAfter, foundEnd, foundKind, NAME_BELOW, OUTCOME_PRESENT } from "./names";

/** Longer rows are left to the caller. */
const MAX_ROW_BYTES: usize = 4096;

export let absentCount: i32 = 0;

/** The last row, or 0; and how many bytes of it are those of a plain page. */
let lastRow: usize = 0;
let plainBytes: i32 = 0;
/** Where the `)` of its host is. */
let hostBytes: i32 = 0;
/** All that begins like the last row up to here, and goes on with a slash, is present; 0 for nothing. */
let coveredBytes: i32 = 0;
/** What rows have in common with the last one that was asked for. */
let sharedWithAsked: i32 = 0;

/**
 * Asks for the keys of rows as pages, up to `end`, where a byte that no row has must be. Returns where it stopped:
 * at `end`, or at a row that is not plain, or is a void.
 */
export function ask(start: usize, end: usize, hasQueries: bool): usize {
  absentCount = 0;
  lastRow = 0;
  plainBytes = 0;
  hostBytes = 0;
  coveredBytes = 0;
  sharedWithAsked = 0;
  let at = start;
  while (at < end) {
    const next = askRow(at, hasQueries);
    if (next == 0 || next > end) break;
    at = next;
  }
  return at;
}

/** Asks for one row; returns where the next one begins, or 0 if it is not plain. */
@inline
function askRow(row: usize, hasQueries: bool): usize {
  const shared = commonBytes(row, lastRow, 0, plainBytes);
  // Whether the `)/` is one that the rows share.
  const isSameHost = shared > hostBytes + 1;
  const host = isSameHost ? row + <usize>hostBytes : hostEnd(row, false);
  if (host == 0) return 0;
  const page = pathEnd(isSameHost ? row + <usize>shared : host + 1);
  let at = page;
  // A wildcard: there is a page of this name below it.
  if (load<u8>(at) == STAR && load<u8>(at - 1) == SLASH) at++;
  const pageEnd = at;
  if (load<u8>(at) == QUESTION) {
    if (!hasQueries) return 0;
    at = textEnd(at);
  }
  if (load<u8>(at) != SPACE || at - row > MAX_ROW_BYTES) return 0;
  const feed = frequencyEnd(at + 1);
  if (feed == 0 || load<u8>(at + 1) == ZERO) return 0;
  lastRow = row;
  plainBytes = <i32>(page - row);
  hostBytes = <i32>(host - row);
  sharedWithAsked = min(sharedWithAsked, shared);
  if (coveredBytes > 0 && shared >= coveredBytes && load<u8>(row + <usize>coveredBytes) == SLASH) {
    return feed + 1;
  }
  const outcome = findAfter(row, host, pageEnd, at, sharedWithAsked);
  if (outcome != OUTCOME_PRESENT) absentCount++;
  coveredBytes = outcome == OUTCOME_PRESENT && foundKind == NAME_BELOW ? <i32>(foundEnd - row) : 0;
  sharedWithAsked = plainBytes;
  return feed + 1;
}
