import { commonPrefix, compareBytes, copyRange } from "../../bytes/bytes.ts";
import type { SortedKeys } from "./key-table.ts";

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
export interface RunBlock {
  readonly offset: number;
  readonly firstKey: Uint8Array;
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
  const blocks: RunBlock[] = [];
  keys.forEach((arena, start, end, count) => {
    if (at >= BLOCK_BYTES || blocks.length === 0) {
      write(buffer.subarray(0, at));
      written += at;
      at = 0;
      blocks.push({ offset: written, firstKey: arena.slice(start, end) });
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
    this.#offset = from === undefined ? 0 : blockBefore(index, from);
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

/** The offset of the last block that begins at or before `key`. */
function blockBefore(index: RunIndex, key: Uint8Array): number {
  let low = 0;
  let high = index.blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareBytes(index.blocks[middle].firstKey, key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : index.blocks[low - 1].offset;
}
