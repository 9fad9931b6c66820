import type { CachedAnswer, CacheStore } from "./cached-answer.ts";
import { decodeHead, encodeHead } from "./cached-head.ts";
import { PlaceIndex } from "./place-index.ts";
import { textHash } from "./text-hash.ts";

const SLAB_BYTES = 1024 * 1024;
/** Length of the head, length of the body: four bytes each. */
const FRAME_BYTES = 8;
/** What an entry has at least, so that the index has a place for each. */
const LEAST_ENTRY_BYTES = 256;
/** Beyond all offsets within a slab, so that a slab and an offset are one number. */
const SLAB_STEP = 2 ** 32;

interface Slab {
  readonly bytes: Buffer;
  used: number;
}

/**
 * Keeps answers in memory, up to so many bytes.
 *
 * They are written one after the other into large buffers, and the oldest buffer goes when there is
 * no room; what is asked for again moves to the front before. Nothing is left to the garbage
 * collector, which would else spend more time on them than the requests take.
 */
export class MemoryStore implements CacheStore {
  readonly #maxBytes: number;
  readonly #slabBytes: number;
  readonly #seed = Math.trunc(Math.random() * 0x7fff_ffff);
  /** By the hash of a key: the number of its slab, times `SLAB_STEP`, and the offset there. */
  #places: PlaceIndex;
  #slabs: Slab[] = [];
  /** The number of the oldest slab. */
  #oldest = 0;
  #bytes = 0;

  constructor(options: { /** Default 64 MiB. */ readonly maxBytes?: number | undefined } = {}) {
    this.#maxBytes = options.maxBytes ?? 64 * 2 ** 20;
    this.#slabBytes = Math.min(SLAB_BYTES, Math.ceil(this.#maxBytes / 8));
    this.#places = new PlaceIndex(this.#maxBytes / LEAST_ENTRY_BYTES);
  }

  /** Bytes of all buffers. */
  get bytes(): number {
    return this.#bytes;
  }

  find(key: string): CachedAnswer | undefined {
    const hash = textHash(key, this.#seed);
    const place = this.#places.find(hash, this.#oldest * SLAB_STEP);
    if (place === undefined) return undefined;
    const number = Math.floor(place / SLAB_STEP);
    const { bytes } = this.#slabs[number - this.#oldest];
    const offset = place % SLAB_STEP;
    const headStart = offset + FRAME_BYTES;
    const bodyStart = headStart + bytes.readUInt32LE(offset);
    const bodyEnd = bodyStart + bytes.readUInt32LE(offset + 4);
    const head = decodeHead(bytes.toString("latin1", headStart, bodyStart));
    if (head.key !== key) return undefined;
    // A copy: the buffer may be given up while somebody still reads.
    const answer = { ...head.answer, body: Uint8Array.from(bytes.subarray(bodyStart, bodyEnd)) };
    if (number - this.#oldest < this.#slabs.length / 2 - 1) this.put(key, answer);
    return answer;
  }

  /** Answers of more than a quarter of all room are not kept. */
  put(key: string, answer: CachedAnswer): void {
    const hash = textHash(key, this.#seed);
    const head = encodeHead(key, answer);
    const size = FRAME_BYTES + head.length + answer.body.byteLength;
    if (size > this.#maxBytes / 4) {
      this.#places.delete(hash);
      return;
    }
    const slab = this.#slabFor(size);
    const { bytes, used } = slab;
    bytes.writeUInt32LE(head.length, used);
    bytes.writeUInt32LE(answer.body.byteLength, used + 4);
    bytes.write(head, used + FRAME_BYTES, "latin1");
    bytes.set(answer.body, used + FRAME_BYTES + head.length);
    slab.used += size;
    this.#places.set(hash, (this.#oldest + this.#slabs.length - 1) * SLAB_STEP + used);
  }

  delete(key: string): void {
    this.#places.delete(textHash(key, this.#seed));
  }

  close(): Promise<void> {
    this.#places = new PlaceIndex(0);
    this.#slabs = [];
    this.#bytes = 0;
    return Promise.resolve();
  }

  /** The newest slab if it has room, else a new one. */
  #slabFor(size: number): Slab {
    const newest = this.#slabs.at(-1);
    if (newest !== undefined && newest.used + size <= newest.bytes.length) return newest;
    const wanted = Math.max(size, this.#slabBytes);
    let bytes: Buffer | undefined;
    while (this.#bytes + wanted > this.#maxBytes && this.#slabs.length > 0) {
      const freed = this.#dropOldest();
      if (freed.length === wanted) bytes = freed;
    }
    bytes ??= Buffer.allocUnsafeSlow(wanted);
    const slab = { bytes, used: 0 };
    this.#slabs.push(slab);
    this.#bytes += bytes.length;
    return slab;
  }

  /** Its buffer can be written again: whoever found something there has a copy. */
  #dropOldest(): Buffer {
    const [{ bytes }] = this.#slabs;
    this.#slabs.shift();
    this.#oldest += 1;
    this.#bytes -= bytes.length;
    return bytes;
  }
}
