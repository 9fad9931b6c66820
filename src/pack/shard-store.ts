import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { ioError } from "../errors.ts";
import type { Shard } from "../packed/packed-file.ts";
import type { ShardRun } from "./build-shards.ts";

/** A run, and its words: in memory, or where they are in the file. */
interface StoredRun extends Omit<ShardRun, "words"> {
  readonly words: Uint32Array | undefined;
  readonly offset: number;
  readonly length: number;
}

/** Keeps shards in any order until all are there: in memory as far as they may, then in a scratch file. */
export class ShardStore {
  readonly #path: string;
  readonly #runs: StoredRun[] = [];
  #memoryLeft: number;
  #file: number | undefined;
  #fileBytes = 0;

  constructor(path: string, memoryBytes: number) {
    this.#path = path;
    this.#memoryLeft = memoryBytes;
  }

  add({ words, ...run }: ShardRun): void {
    const length = words.byteLength;
    if (length <= this.#memoryLeft) {
      this.#memoryLeft -= length;
      this.#runs.push({ ...run, words, offset: 0, length });
      return;
    }
    this.#memoryLeft = 0;
    this.#runs.push({ ...run, words: undefined, offset: this.#fileBytes, length });
    const bytes = bytesOf(words);
    try {
      this.#file ??= openSync(this.#path, "wx+");
      for (let at = 0; at < length;) {
        at += writeSync(this.#file, bytes, at, length - at, this.#fileBytes + at);
      }
    } catch (error) {
      throw ioError(error, this.#path);
    }
    this.#fileBytes += length;
  }

  /** The entries of the directory, in order. Call it when all shards are there. */
  directory(bitsOf: readonly number[]): Shard[] {
    this.#runs.sort((a, b) => a.filter - b.filter || a.first - b.first);
    const shards: Shard[] = [];
    let at = 0;
    for (const { filter, slots, seeds, crcs } of this.#runs) {
      slots.forEach((count, i) => {
        shards.push({ words: at, slots: count, seed: seeds[i], crc: crcs[i] });
        at += (count / 32) * bitsOf[filter];
      });
    }
    return shards;
  }

  get bytes(): number {
    return this.#runs.reduce((sum, { length }) => sum + length, 0);
  }

  /** The words of all shards, in order; call `directory` first. */
  *data(): Generator<Uint8Array, void, undefined> {
    for (const { words, offset, length } of this.#runs) {
      yield words === undefined ? this.#read(offset, length) : bytesOf(words);
    }
  }

  #read(offset: number, length: number): Uint8Array {
    if (this.#file === undefined) throw new Error("nothing was stored");
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length;) {
      const read = readSync(this.#file, bytes, at, length - at, offset + at);
      if (read === 0) throw new Error("the scratch file is shorter than what was written to it");
      at += read;
    }
    return bytes;
  }

  /** Forgets all. */
  close(): void {
    this.#runs.length = 0;
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
    rmSync(this.#path, { force: true });
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
