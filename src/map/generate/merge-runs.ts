import { compareRanges, copyRange } from "../../bytes/bytes.ts";
import type { SortedKeys } from "./key-table.ts";
import type { RunReader } from "./run.ts";

/** Receives each key once, in byte order; the bytes are valid only during the call. */
export type VisitKey = (key: Uint8Array, keyLength: number, count: number) => void;

/** Which keys to merge: from `from` (included) up to `to` (not included). */
export interface KeyRange {
  readonly from?: Uint8Array | undefined;
  readonly to?: Uint8Array | undefined;
}

/**
 * Merges sorted runs into one sorted sequence of distinct keys; counts of the same key are added.
 *
 * Holds one read buffer per run. Readers are kept sorted by their current key, so runs that do not
 * overlap cost one comparison a key.
 */
export function mergeRuns(readers: readonly RunReader[], range: KeyRange, visit: VisitKey): void {
  const open: RunReader[] = [];
  for (const reader of readers) if (seek(reader, range)) insert(open, reader);
  let key = new Uint8Array(256);
  while (open.length > 0) {
    const first = open[0];
    let { count } = first;
    const { keyLength } = first;
    if (keyLength > key.length) key = new Uint8Array(keyLength * 2);
    if (open.length === 1 || compare(first, open[1]) !== 0) {
      visit(first.key, keyLength, count);
      advance(open, range);
      continue;
    }
    key.set(first.key.subarray(0, keyLength));
    advance(open, range);
    while (
      open.length > 0 &&
      compareRanges(open[0].key, 0, open[0].keyLength, key, 0, keyLength) === 0
    ) {
      count += open[0].count;
      advance(open, range);
    }
    visit(key, keyLength, count);
  }
}

/**
 * The merged keys of runs, for a run of their own. Can be gone through once, as the readers can; its
 * size is that of what has been gone through.
 */
export function mergedKeys(readers: readonly RunReader[]): SortedKeys {
  let size = 0;
  return {
    get size() {
      return size;
    },
    forEach(visit) {
      // The last key is still looked at when the next one comes, so that one must not overwrite it.
      let arena = new Uint8Array(1 << 16);
      let [start, end] = [0, 0];
      mergeRuns(readers, {}, (key, keyLength, count) => {
        if (end + keyLength <= arena.length) start = end;
        else if (keyLength <= start) start = 0;
        else {
          const larger = new Uint8Array((end + keyLength) * 2);
          larger.set(arena);
          arena = larger;
          start = end;
        }
        end = copyRange(key, 0, keyLength, arena, start);
        size++;
        visit(arena, start, end, count);
      });
    },
  };
}

function seek(reader: RunReader, { from, to }: KeyRange): boolean {
  while (reader.next()) {
    if (from === undefined || order(reader, from) >= 0) return isBelow(reader, to);
  }
  return false;
}

function isBelow(reader: RunReader, to: Uint8Array | undefined): boolean {
  return to === undefined || order(reader, to) < 0;
}

function order(reader: RunReader, key: Uint8Array): number {
  return compareRanges(reader.key, 0, reader.keyLength, key, 0, key.length);
}

function compare(a: RunReader, b: RunReader): number {
  return compareRanges(a.key, 0, a.keyLength, b.key, 0, b.keyLength);
}

/** Moves the first reader on and puts it back in its place, or drops it at its end. */
function advance(open: RunReader[], range: KeyRange): void {
  const first = open[0];
  if (!first.next() || !isBelow(first, range.to)) {
    open.shift();
  } else if (open.length > 1 && compare(first, open[1]) > 0) {
    open.shift();
    insert(open, first);
  }
}

function insert(open: RunReader[], reader: RunReader): void {
  let low = 0;
  let high = open.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(open[middle], reader) < 0) low = middle + 1;
    else high = middle;
  }
  open.splice(low, 0, reader);
}
