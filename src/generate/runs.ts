import { commonPrefix, compareBytes, compareRanges, copyRange } from "../bytes/bytes.ts";
import type { SortedKeys } from "./key-table.ts";
import { rowKeyLength } from "./map-rows.ts";

/*
 * A run is a sorted list of keys with counts, put away until the final merge.
 *
 *     run   = block*                       about 64 KiB each
 *     block = entry*                       the first entry of a block shares nothing
 *     entry = shared length bytes count    varint, varint, `length` bytes, varint
 *
 * `shared` is how many bytes the key has in common with the one before it. Blocks can be read on
 * their own, so several threads can merge different key ranges of the same runs.
 */

const BLOCK_BYTES = 1 << 16;

/** Where a block of a run begins, and with which key. */
interface RunBlock {
  readonly offset: number;
  readonly firstKey: Uint8Array;
  /** How many keys are before it. */
  readonly before: number;
}

/** What is kept in memory of a run. */
export interface RunIndex {
  readonly blocks: readonly RunBlock[];
  readonly byteLength: number;
  readonly keys: number;
}

/** Encodes sorted keys as a run, handing out chunks that are valid only during the call. */
export function writeRun(keys: SortedKeys, write: (chunk: Uint8Array) => void): RunIndex {
  let buffer = new Uint8Array(BLOCK_BYTES * 2);
  let at = 0;
  let written = 0;
  let lastStart = 0;
  let lastEnd = 0;
  let before = 0;
  const blocks: RunBlock[] = [];
  keys.forEach((arena, start, end, count) => {
    if (at >= BLOCK_BYTES || blocks.length === 0) {
      write(buffer.subarray(0, at));
      written += at;
      at = 0;
      blocks.push({ offset: written, firstKey: arena.slice(start, end), before });
      lastStart = lastEnd = start;
    }
    const shared = commonPrefix(arena, lastStart, lastEnd, arena, start, end);
    const length = end - start - shared;
    if (at + length + 24 > buffer.length) {
      const larger = new Uint8Array(buffer.length + length + BLOCK_BYTES);
      larger.set(buffer);
      buffer = larger;
    }
    at = writeVarint(shared, buffer, at);
    at = writeVarint(length, buffer, at);
    at = copyRange(arena, start + shared, end, buffer, at);
    at = writeVarint(count, buffer, at);
    lastStart = start;
    lastEnd = end;
    before++;
  });
  write(buffer.subarray(0, at));
  return { blocks, byteLength: written + at, keys: keys.size };
}

function writeVarint(value: number, target: Uint8Array, at: number): number {
  let rest = value;
  let end = at;
  while (rest >= 0x80) {
    const quotient = Math.floor(rest / 0x80);
    target[end++] = rest - quotient * 0x80 + 0x80;
    rest = quotient;
  }
  target[end++] = rest;
  return end;
}

/** Reads bytes of a stored run; fewer than asked for only at its end. */
export type ReadRun = (offset: number, target: Uint8Array) => number;

/** Reads a run that is kept in memory. */
export function memoryRun(bytes: Uint8Array): ReadRun {
  return (offset, target) => {
    const part = bytes.subarray(offset, offset + target.length);
    target.set(part);
    return part.length;
  };
}

const READ_BYTES = 1 << 16;

/** Walks the keys of a run in order, from the first key at or after `from`. */
export class RunReader {
  readonly #read: ReadRun;
  readonly #index: RunIndex;
  #buffer = new Uint8Array(0);
  #at = 0;
  #end = 0;
  #offset = 0;
  /** The current key is `key[0, keyLength)`; overwritten by `next`. */
  key: Uint8Array = new Uint8Array(256);
  keyLength = 0;
  count = 0;

  constructor(index: RunIndex, read: ReadRun, from?: Uint8Array) {
    this.#index = index;
    this.#read = read;
    const before = from === undefined ? 0 : blocksBefore(index.blocks, from);
    this.#offset = before === 0 ? 0 : index.blocks[before - 1].offset;
    this.#buffer = new Uint8Array(Math.min(READ_BYTES, index.byteLength - this.#offset));
  }

  /** Moves to the next key; false at the end of the run. */
  next(): boolean {
    // An entry is at most its key and three numbers long; a refill keeps one whole in the buffer.
    if (this.#at + 24 >= this.#end && !this.#refill(24)) return false;
    const shared = this.#varint();
    const length = this.#varint();
    if (this.#at + length + 10 > this.#end) this.#refill(length + 10);
    const keyLength = shared + length;
    if (keyLength > this.key.length) this.#growKey(keyLength);
    copyRange(this.#buffer, this.#at, this.#at + length, this.key, shared);
    this.#at += length;
    this.keyLength = keyLength;
    this.count = this.#varint();
    return true;
  }

  #growKey(length: number): void {
    const larger = new Uint8Array(length * 2);
    larger.set(this.key);
    this.key = larger;
  }

  /** Makes `wanted` bytes available if the run has them; false when nothing is left. */
  #refill(wanted: number): boolean {
    const left = this.#end - this.#at;
    if (this.#offset < this.#index.byteLength) {
      const target =
        wanted > this.#buffer.length ? new Uint8Array(wanted + READ_BYTES) : this.#buffer;
      target.set(this.#buffer.subarray(this.#at, this.#end));
      this.#buffer = target;
      const read = this.#read(this.#offset, target.subarray(left));
      this.#offset += read;
      this.#at = 0;
      this.#end = left + read;
    }
    return this.#end > this.#at;
  }

  #varint(): number {
    const buffer = this.#buffer;
    let byte = buffer[this.#at++];
    if (byte < 0x80) return byte;
    let value = byte - 0x80;
    let scale = 0x80;
    do {
      byte = buffer[this.#at++];
      value += (byte & 0x7f) * scale;
      scale *= 0x80;
    } while (byte >= 0x80);
    return value;
  }
}

/** How many blocks begin before `key` or at it. */
function blocksBefore(blocks: readonly RunBlock[], key: Uint8Array): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareBytes(blocks[middle].firstKey, key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

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
 * The merged keys of runs within a range, for a run of their own. Can be gone through once, as the
 * readers can; its size is that of what has been gone through.
 */
export function mergedKeys(readers: readonly RunReader[], range: KeyRange = {}): SortedKeys {
  let size = 0;
  return {
    get size() {
      return size;
    },
    forEach(visit) {
      // The last key is still looked at when the next one comes, so that one must not overwrite it.
      let arena = new Uint8Array(1 << 16);
      let [start, end] = [0, 0];
      mergeRuns(readers, range, (key, keyLength, count) => {
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

/**
 * Cuts the keys of all runs into ranges of about equal size that can be merged independently.
 *
 * Blocks of runs are of one size, so their first keys are a fair sample. A cut never separates the
 * originals of a row.
 */
export function cutRuns(runs: readonly RunIndex[], parts: number): KeyRange[] {
  const firstKeys = runs.flatMap((run) => run.blocks.map((block) => rowPart(block.firstKey)));
  firstKeys.sort(compareBytes);
  const cuts: Uint8Array[] = [];
  for (let part = 1; part < parts; part++) {
    const cut = firstKeys[Math.floor((part * firstKeys.length) / parts)];
    const last = cuts.at(-1);
    if (cut !== undefined && (last === undefined || compareBytes(last, cut) < 0)) cuts.push(cut);
  }
  return [undefined, ...cuts].map((from, i) => ({ from, to: cuts[i] }));
}

/** The row that a key belongs to: without the query of an original. */
export function rowPart(key: Uint8Array): Uint8Array {
  return key.subarray(0, rowKeyLength(key, key.length));
}
