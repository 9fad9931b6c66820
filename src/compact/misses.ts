import {
  CLOSE_PAREN,
  compareRanges,
  copyRange,
  HASH,
  QUESTION,
  SLASH,
  withRoom,
} from "../bytes/bytes.ts";
import { wholeLines } from "../bytes/lines.ts";
import { sortKeys } from "../bytes/sort-keys.ts";
import { MementoMapError } from "../errors.ts";
import { LookupList } from "../lookup/lookup-list.ts";
import type { KeyOptions } from "../surt/key.ts";
import { Key } from "../surt/lookup-key.ts";
import { QUERY_MARK } from "../ukvs/key-tree.ts";
import { queryMarkAt } from "./tree-order.ts";

/** Offsets of keys have 32 bits. */
const MAX_BYTES = 2 ** 32 - 1;

/** The keys of missed lookups in log order. */
export class MissLog {
  count = 0;
  /** The keys, one after the other; key `id` is `bytes[starts[id], starts[id + 1])`. */
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(1 << 16);
  starts: Uint32Array = new Uint32Array(1 << 10);

  /** @throws MM_LIMIT if the keys exceed 4 GiB */
  add(source: Uint8Array, start: number, end: number): void {
    const at = this.starts[this.count];
    const length = at + end - start;
    if (length > MAX_BYTES) {
      throw new MementoMapError(
        "MM_LIMIT",
        "the keys of the misses exceed 4 GiB; use a shorter list",
      );
    }
    this.bytes = withRoom(this.bytes, length);
    copyRange(source, start, end, this.bytes, at);
    this.count++;
    if (this.count === this.starts.length) {
      const larger = new Uint32Array(2 * this.count);
      larger.set(this.starts);
      this.starts = larger;
    }
    this.starts[this.count] = length;
  }

  isSame(a: number, b: number): boolean {
    const { bytes, starts } = this;
    return compareRanges(bytes, starts[a], starts[a + 1], bytes, starts[b], starts[b + 1]) === 0;
  }
}

/**
 * Missed lookups of an archive, as sorted keys.
 *
 * Holds all of them: their bytes and 9 bytes each. Every key counts once, regardless of how often it was
 * looked up: repetitions say little about future lookups of other pages.
 */
export class MissList {
  readonly count: number;
  /** The keys, one after the other, in byte order. */
  readonly bytes: Uint8Array;
  /** Key `i` is `bytes[starts[i], starts[i + 1])`. */
  readonly starts: Uint32Array;
  /** Whether the key was first seen in the later half of the log. */
  readonly isLate: Uint8Array;
  /** Lines of the log skipped because they are neither URIs nor SURTs. */
  readonly oddLines: number;

  /** @param log the keys in the order of the log. */
  constructor(log: MissLog, oddLines: number = 0) {
    const ids = firstOfEach(log);
    this.count = ids.length;
    this.oddLines = oddLines;
    this.starts = new Uint32Array(this.count + 1);
    this.isLate = new Uint8Array(this.count);
    const firstLate = ids.toSorted()[Math.ceil(this.count / 2)] ?? Number.POSITIVE_INFINITY;
    const { bytes, starts } = log;
    for (const [i, id] of ids.entries()) {
      this.starts[i + 1] = this.starts[i] + starts[id + 1] - starts[id];
      this.isLate[i] = id >= firstLate ? 1 : 0;
    }
    this.bytes = new Uint8Array(this.starts[this.count]);
    for (const [i, id] of ids.entries()) {
      copyRange(bytes, starts[id], starts[id + 1], this.bytes, this.starts[i]);
    }
  }
}

/** The first occurrence of each key in a log, in key order. */
function firstOfEach(log: MissLog): Uint32Array {
  const ids = Uint32Array.from({ length: log.count }, (_, id) => id);
  sortKeys(ids, log.bytes, log.starts);
  let count = 0;
  for (const id of ids) {
    if (count > 0 && log.isSame(ids[count - 1], id)) {
      ids[count - 1] = Math.min(ids[count - 1], id);
    } else {
      ids[count++] = id;
    }
  }
  return ids.subarray(0, count);
}

/**
 * Reads a list of missed lookups, URIs or SURTs, in log order; see `lookup-list.ts` for the format. Holds
 * all keys; with queries, in the order of the key tree (`tree-order.ts`).
 *
 * @throws MM_BAD_INPUT if it is not such a list, MM_LIMIT for a line that is too long, or over 4 GiB of
 *   keys
 */
export async function readMissList(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
  { queries = false }: KeyOptions = {},
): Promise<MissList> {
  const log = new MissLog();
  const key = new Key();
  const list = new LookupList(source);
  for await (const block of wholeLines(chunks, source)) {
    list.forEach(block, (start, end) => {
      if (isSurt(block, start, end)) key.ofSurt(block, start, end, queries);
      else key.ofUri(block, start, end, queries);
      key.readPath();
      const mark = queries ? queryMarkAt(key.bytes, 0, key.length) : -1;
      if (mark !== -1) key.bytes[mark] = QUERY_MARK;
      log.add(key.bytes, 0, key.length);
    });
  }
  list.end();
  return new MissList(log, list.skippedLines);
}

/** Whether there is a `)` before any slash, query and fragment, followed by a slash or the end. */
function isSurt(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end && bytes[at] !== SLASH && bytes[at] !== QUESTION && bytes[at] !== HASH) at++;
  return at > start && bytes[at - 1] === CLOSE_PAREN && (at === end || bytes[at] === SLASH);
}
