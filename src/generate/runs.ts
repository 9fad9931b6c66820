import {
  commonPrefix,
  compareBytes,
  compareRanges,
  copyRange,
  joinBytes,
  withRoom,
} from "../bytes/bytes.ts";
import type { SortedKeys } from "./key-table.ts";

/*
 * A run is a sorted list of keys with counts, stored until the final merge.
 *
 *     run   = block*                       about 64 KiB each
 *     block = entry*                       the first entry of a block shares nothing
 *     entry = shared length bytes count    varint, varint, `length` bytes, varint
 *
 * `shared` is how many bytes the key has in common with the one before it. Blocks can be read on
 * their own, so several threads can merge different key ranges of the same runs.
 */

const BLOCK_BYTES = 1 << 16;
/** Maximum size of the three numbers of an entry. */
const NUMBERS_BYTES = 24;

/** The offset and first key of a block of a run. */
interface RunBlock {
  readonly offset: number;
  readonly firstKey: Uint8Array;
  /** Number of keys before it. */
  readonly before: number;
}

/** The in-memory index of a run. */
export interface RunIndex {
  readonly blocks: readonly RunBlock[];
  readonly byteLength: number;
  readonly keys: number;
}

/** Encodes sorted keys as a run, handing out chunks that are valid only during the call. */
export class RunWriter {
  readonly #write: (chunk: Uint8Array) => void;
  readonly #blocks: RunBlock[] = [];
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(BLOCK_BYTES * 2);
  #at = 0;
  #written = 0;
  #keys = 0;
  #last: Uint8Array<ArrayBuffer> = new Uint8Array(256);
  #lastLength = 0;

  constructor(write: (chunk: Uint8Array) => void) {
    this.#write = write;
  }

  /** Adds the key `bytes[start, end)`, which must sort after the previous one. */
  add(bytes: Uint8Array, start: number, end: number, count: number): void {
    if (this.#at >= BLOCK_BYTES || this.#keys === 0) {
      this.#flush();
      const firstKey = bytes.slice(start, end);
      this.#blocks.push({ offset: this.#written, firstKey, before: this.#keys });
      this.#lastLength = 0;
    }
    const shared = commonPrefix(this.#last, 0, this.#lastLength, bytes, start, end);
    this.#lastLength = end - start;
    this.#last = withRoom(this.#last, this.#lastLength);
    copyRange(bytes, start + shared, end, this.#last, shared);
    const rest = this.#lastLength - shared;
    const buffer = (this.#buffer = withRoom(this.#buffer, this.#at + rest + NUMBERS_BYTES));
    let at = writeVarint(shared, buffer, this.#at);
    at = writeVarint(rest, buffer, at);
    at = copyRange(bytes, start + shared, end, buffer, at);
    this.#at = writeVarint(count, buffer, at);
    this.#keys++;
  }

  end(): RunIndex {
    this.#flush();
    return { blocks: this.#blocks, byteLength: this.#written, keys: this.#keys };
  }

  #flush(): void {
    this.#write(this.#buffer.subarray(0, this.#at));
    this.#written += this.#at;
    this.#at = 0;
  }
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

/** Reads bytes of a stored run; fewer than requested only at its end. */
export type ReadRun = (offset: number, target: Uint8Array) => number;

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
  key: Uint8Array<ArrayBuffer> = new Uint8Array(256);
  keyLength = 0;
  count = 0;

  constructor(index: RunIndex, read: ReadRun, from?: Uint8Array) {
    this.#index = index;
    this.#read = read;
    const block =
      from && index.blocks.findLast(({ firstKey }) => compareBytes(firstKey, from) <= 0);
    this.#offset = block?.offset ?? 0;
    this.#buffer = new Uint8Array(Math.min(READ_BYTES, index.byteLength - this.#offset));
  }

  /** Moves to the next key; false at the end of the run. */
  next(): boolean {
    // An entry is at most its key and three numbers long; a refill keeps one whole in the buffer.
    if (this.#at + NUMBERS_BYTES >= this.#end && !this.#refill(NUMBERS_BYTES)) return false;
    const shared = this.#varint();
    const length = this.#varint();
    if (this.#at + length + 10 > this.#end) this.#refill(length + 10);
    const keyLength = shared + length;
    this.key = withRoom(this.key, keyLength);
    copyRange(this.#buffer, this.#at, this.#at + length, this.key, shared);
    this.#at += length;
    this.keyLength = keyLength;
    this.count = this.#varint();
    return true;
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

/** A run in memory. */
export interface MemoryRun {
  readonly bytes: Uint8Array;
  readonly index: RunIndex;
}

/** Stores keys as a run in memory. */
export function memorize(keys: SortedKeys): MemoryRun {
  const chunks: Uint8Array[] = [];
  const writer = new RunWriter((chunk) => void chunks.push(chunk.slice()));
  keys.forEach((bytes, start, end, count) => writer.add(bytes, start, end, count));
  const index = writer.end();
  return { bytes: joinBytes(chunks), index };
}

/** Walks the keys of a run in memory. */
export function readerOf({ bytes, index }: MemoryRun, from?: Uint8Array): RunReader {
  const read: ReadRun = (offset, target) => {
    const part = bytes.subarray(offset, offset + target.length);
    target.set(part);
    return part.length;
  };
  return new RunReader(index, read, from);
}

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
export class RunMerge {
  /** The current key is `key[0, keyLength)`; overwritten by `next`. */
  key: Uint8Array<ArrayBuffer> = new Uint8Array(256);
  keyLength = 0;
  count = 0;
  readonly #open: RunReader[] = [];
  readonly #to: Uint8Array | undefined;

  constructor(readers: readonly RunReader[], { from, to }: KeyRange = {}) {
    this.#to = to;
    for (const reader of readers) {
      let isOpen = reader.next();
      while (isOpen && from !== undefined && compareKeys(reader, from, from.length) < 0) {
        isOpen = reader.next();
      }
      if (isOpen) this.#insert(reader);
    }
  }

  /** Moves to the next key; false when all runs are at their ends. */
  next(): boolean {
    const open = this.#open;
    if (open.length === 0) return false;
    const [first] = open;
    this.keyLength = first.keyLength;
    this.key = withRoom(this.key, first.keyLength);
    copyRange(first.key, 0, first.keyLength, this.key, 0);
    this.count = 0;
    do {
      this.count += open[0].count;
      this.#advance();
    } while (open.length > 0 && compareKeys(open[0], this.key, this.keyLength) === 0);
    return true;
  }

  /** Advances the first reader and moves it to its new place, or drops it at its end. */
  #advance(): void {
    const open = this.#open;
    const [first, second] = open;
    const isOpen = first.next();
    if (isOpen && open.length === 1 && this.#to === undefined) return;
    if (isOpen && open.length > 1 && compareKeys(first, second.key, second.keyLength) <= 0) return;
    open.shift();
    if (isOpen) this.#insert(first);
  }

  #insert(reader: RunReader): void {
    if (this.#to !== undefined && compareKeys(reader, this.#to, this.#to.length) >= 0) return;
    const open = this.#open;
    let low = 0;
    let high = open.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareKeys(open[middle], reader.key, reader.keyLength) < 0) low = middle + 1;
      else high = middle;
    }
    open.splice(low, 0, reader);
  }
}

function compareKeys(reader: RunReader, key: Uint8Array, length: number): number {
  return compareRanges(reader.key, 0, reader.keyLength, key, 0, length);
}
