import { shardOf } from "../packed/name-hash.ts";
import type { SpillStore } from "../files/scratch.ts";

/** Kinds of names. */
export const NAME = {
  /** A row stored in a filter. */
  row: 0,
  void: 1,
  /** A home page: stored as a row unless the descriptor of its host has it. */
  home: 2,
  /** `/*` or `com,cnn,*`: stored as a row if there is no table of hosts. */
  whole: 3,
} as const;
export type NameKind = (typeof NAME)[keyof typeof NAME];

/** Words of a name: both halves of its hash, and its host number with the kind in the upper bits. */
export const NAME_WORDS = 3;
const HOST_BITS = 30;

/** The host number in the third word of a name. */
export function hostOfName(word: number): number {
  return word & (2 ** HOST_BITS - 1);
}

export function kindOfName(word: number): NameKind {
  return (word >>> HOST_BITS) as NameKind; // as `add` wrote it
}

/** Size of the chunks in which the names of a partition are stored. */
const CHUNK_WORDS = 1024 * NAME_WORDS;

/** Names of a partition: in memory, or at an offset of the spill store. */
type Chunk = Uint32Array | { readonly offset: number; readonly length: number };

/**
 * The names of the rows of a map, partitioned by the first bits of their shard number, so that the shards of a
 * filter can be built partition by partition.
 *
 * Names are held in memory up to a limit; the rest goes to a spill store.
 */
export class NameLog {
  /** Number of names of each kind. */
  readonly counts: Float64Array = new Float64Array(4);
  readonly #chunks: Chunk[][];
  /** The chunk being filled for each partition, and its number of words. */
  readonly #open: Uint32Array[];
  readonly #openWords: Int32Array;
  readonly #newSpill: () => SpillStore;
  #spill: SpillStore | undefined;
  #memoryLeft: number;
  #spilled = 0;

  constructor(partitions: number, memoryBytes: number, newSpill: () => SpillStore) {
    this.#chunks = Array.from({ length: partitions }, () => []);
    this.#open = Array.from({ length: partitions }, () => new Uint32Array(CHUNK_WORDS));
    this.#openWords = new Int32Array(partitions);
    this.#memoryLeft = memoryBytes;
    this.#newSpill = newSpill;
  }

  get partitions(): number {
    return this.#chunks.length;
  }

  add(kind: NameKind, low: number, high: number, host: number): void {
    const partition = shardOf(low, this.#chunks.length);
    const names = this.#open[partition];
    const at = this.#openWords[partition];
    names[at] = low;
    names[at + 1] = high;
    names[at + 2] = host + kind * 2 ** HOST_BITS;
    this.counts[kind]++;
    this.#openWords[partition] = (at + NAME_WORDS) % CHUNK_WORDS;
    if (at + NAME_WORDS === CHUNK_WORDS) this.#putAway(partition);
  }

  #putAway(partition: number): void {
    const names = this.#open[partition];
    const { length, byteLength: bytes } = names;
    if (this.#memoryLeft >= bytes) {
      this.#memoryLeft -= bytes;
      this.#chunks[partition].push(names.slice());
    } else {
      this.#spill ??= this.#newSpill();
      this.#spill.write(this.#spilled, bytesOf(names));
      this.#chunks[partition].push({ offset: this.#spilled, length });
      this.#spilled += bytes;
    }
  }

  /** The names of a partition, chunk by chunk; each is valid until the next. */
  *namesOf(partition: number): Generator<Uint32Array, void, undefined> {
    for (const chunk of this.#chunks[partition]) {
      if (chunk instanceof Uint32Array) {
        yield chunk;
        continue;
      }
      const names = new Uint32Array(chunk.length);
      this.#spill?.read(chunk.offset, bytesOf(names));
      yield names;
    }
    yield this.#open[partition].subarray(0, this.#openWords[partition]);
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
