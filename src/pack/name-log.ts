import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { shardOf } from "../packed/name-hash.ts";
import { ioError } from "../errors.ts";

/** What a list of names is for. */
export const LIST = {
  /** Rows that have a place in a filter. */
  rows: 0,
  voids: 1,
  /** Home pages: rows where the descriptor of their host does not say so. */
  homes: 2,
  /** `/*` and `com,cnn,*`: rows where there is no table of hosts. */
  wholes: 3,
} as const;
export type ListKind = (typeof LIST)[keyof typeof LIST];
const KINDS = 4;

/** Words of a name: both halves of its hash, and the number of its host. */
export const NAME_WORDS = 3;
/** Words of the names that are kept at once. */
const LIST_WORDS = 1024 * NAME_WORDS;
/** Memory is taken in pieces that threads share. */
const SLAB_WORDS = 2 ** 15;

/**
 * The names of a part of a map, as threads send them to each other.
 *
 * Names are dealt out to lists by kind and by place: the first bits of what decides about their shard. So
 * the shards of a filter can be built list by list.
 */
export interface NameLogPart {
  readonly slabs: readonly Uint32Array[];
  /** What did not fit in memory. */
  readonly path: string | undefined;
  /** For each list, where its chunks begin, in words, and how many names they have. */
  readonly chunks: readonly (readonly number[])[];
}

/** The number of a list. */
export function listOf(kind: ListKind, partitionBits: number, partition: number): number {
  return kind * 2 ** partitionBits + partition;
}

/** Collects names: in memory as far as they may, and then in a scratch file. */
export class NameLog {
  readonly #slabs: Uint32Array[] = [];
  readonly #chunks: readonly number[][];
  readonly #path: string;
  readonly #maxSlabs: number;
  #file: number | undefined;
  #words = 0;

  /** @param path a scratch file, which is made when it is needed. */
  constructor(partitionBits: number, memoryBytes: number, path: string) {
    this.#chunks = Array.from({ length: KINDS * 2 ** partitionBits }, () => []);
    this.#maxSlabs = Math.floor(memoryBytes / 4 / SLAB_WORDS);
    this.#path = path;
  }

  /** Takes names of a list; copies them. */
  add(list: number, names: Uint32Array): void {
    // A chunk is in one slab.
    if ((this.#words % SLAB_WORDS) + names.length > SLAB_WORDS && !this.#isFull) {
      this.#words = SLAB_WORDS * this.#slabs.length;
    }
    this.#chunks[list].push(this.#words, names.length / NAME_WORDS);
    const slab = Math.floor(this.#words / SLAB_WORDS);
    if (slab < this.#maxSlabs) {
      if (slab === this.#slabs.length) {
        this.#slabs.push(new Uint32Array(new SharedArrayBuffer(4 * SLAB_WORDS)));
      }
      this.#slabs[slab].set(names, this.#words % SLAB_WORDS);
    } else {
      this.#write(names);
    }
    this.#words += names.length;
  }

  get #isFull(): boolean {
    return this.#words >= this.#maxSlabs * SLAB_WORDS;
  }

  #write(names: Uint32Array): void {
    const bytes = new Uint8Array(names.buffer, names.byteOffset, names.byteLength);
    const offset = 4 * (this.#words - this.#maxSlabs * SLAB_WORDS);
    try {
      this.#file ??= openSync(this.#path, "wx");
      for (let at = 0; at < bytes.length;) {
        at += writeSync(this.#file, bytes, at, bytes.length - at, offset + at);
      }
    } catch (error) {
      throw ioError(error, this.#path);
    }
  }

  /** What was collected. */
  finish(): NameLogPart {
    const path = this.#file === undefined ? undefined : this.#path;
    this.close();
    return { slabs: this.#slabs, path, chunks: this.#chunks };
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

/** How many names a list has. */
export function namesIn({ chunks }: NameLogPart, list: number): number {
  let names = 0;
  for (let i = 1; i < chunks[list].length; i += 2) names += chunks[list][i];
  return names;
}

/** Gives the names of a list, chunk by chunk; those in memory where they are, which must not be changed. */
export function* namesOf(part: NameLogPart, list: number): Generator<Uint32Array, void, undefined> {
  const { slabs, path, chunks } = part;
  let file: number | undefined;
  try {
    for (let i = 0; i < chunks[list].length; i += 2) {
      const start = chunks[list][i];
      const words = NAME_WORDS * chunks[list][i + 1];
      const slab = Math.floor(start / SLAB_WORDS);
      if (slab < slabs.length) {
        const first = start % SLAB_WORDS;
        yield slabs[slab].subarray(first, first + words);
        continue;
      }
      if (path === undefined) throw new Error("names are in memory or in a file");
      file ??= openSync(path, "r");
      const names = new Uint32Array(words);
      readFully(file, new Uint8Array(names.buffer), 4 * (start - slabs.length * SLAB_WORDS));
      yield names;
    }
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function readFully(file: number, target: Uint8Array, offset: number): void {
  for (let at = 0; at < target.length;) {
    const read = readSync(file, target, at, target.length - at, offset + at);
    if (read === 0) throw new Error("the scratch file is shorter than what was written to it");
    at += read;
  }
}

/** Deals names out to the lists of a log. */
export class NameLists {
  readonly #log: NameLog;
  readonly #partitionBits: number;
  /** Room for some names of each list, and how many words it has. */
  readonly #names: Uint32Array;
  readonly #counts: Int32Array;

  constructor(log: NameLog, partitionBits: number) {
    this.#log = log;
    this.#partitionBits = partitionBits;
    this.#counts = new Int32Array(KINDS * 2 ** partitionBits);
    this.#names = new Uint32Array(LIST_WORDS * this.#counts.length);
  }

  add(kind: ListKind, low: number, high: number, host: number): void {
    const list = (kind << this.#partitionBits) + shardOf(low, 1 << this.#partitionBits);
    const count = this.#counts[list];
    const at = list * LIST_WORDS + count;
    this.#names[at] = low;
    this.#names[at + 1] = high;
    this.#names[at + 2] = host;
    this.#counts[list] = count + NAME_WORDS;
    if (count + NAME_WORDS === LIST_WORDS) this.#flush(list);
  }

  finish(): void {
    this.#counts.forEach((count, list) => {
      if (count > 0) this.#flush(list);
    });
  }

  #flush(list: number): void {
    const start = list * LIST_WORDS;
    this.#log.add(list, this.#names.subarray(start, start + this.#counts[list]));
    this.#counts[list] = 0;
  }
}
