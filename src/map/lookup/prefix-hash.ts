import { SPACE, STAR } from "../../bytes/bytes.ts";
import { EMPTY_HASH, extendHash } from "./key-hash.ts";

/**
 * Hashes the keys that start the rows of a map, one row after the other.
 *
 * Neighbours in a sorted map have most of their keys in common. So the hash up to each byte of the
 * last key is kept, and only what a key does not share with the last one is hashed.
 */
export class PrefixHash {
  /** Behind the key. */
  end = 0;
  hash = EMPTY_HASH;
  hasStar = false;
  /** How the key compares with the last one, by bytes: negative, 0 or positive. */
  order = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #start = 0;
  #length = 0;
  /** The hash of so many bytes of the last key. */
  #hashes: Int32Array = Int32Array.of(EMPTY_HASH, 0, 0, 0);
  /** Where the first `*` of the last key is, from its start. */
  #star = Number.POSITIVE_INFINITY;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Takes the key that starts at `start`; false, with nothing done but `end`, if it is empty. */
  take(start: number): boolean {
    const bytes = this.#bytes;
    const shared = this.#sharedWithLast(start);
    let star = this.#star < shared ? this.#star : Number.POSITIVE_INFINITY;
    let hashes = this.#hashes;
    let hash = hashes[shared];
    let length = shared;
    for (let byte = bytes[start + length]; byte > SPACE; byte = bytes[start + length]) {
      if (byte === STAR && star > length) star = length;
      hash = extendHash(hash, byte);
      if (++length === hashes.length) hashes = this.#grow();
      hashes[length] = hash;
      if (start + length >= bytes.length) break;
    }
    this.end = start + length;
    if (length === 0) return false;
    this.order = this.#compare(start, shared, length);
    this.hash = hash;
    this.hasStar = star < length;
    this.#star = star;
    this.#start = start;
    this.#length = length;
    return true;
  }

  #sharedWithLast(start: number): number {
    const view = this.#view;
    const last = this.#start;
    const left = view.byteLength - start;
    const limit = this.#length < left ? this.#length : left;
    let i = 0;
    while (i + 4 <= limit && view.getInt32(start + i, true) === view.getInt32(last + i, true)) {
      i += 4;
    }
    while (i < limit && view.getUint8(start + i) === view.getUint8(last + i)) i++;
    return i;
  }

  #compare(start: number, shared: number, length: number): number {
    if (shared === length || shared === this.#length) return length - this.#length;
    return this.#bytes[start + shared] - this.#bytes[this.#start + shared];
  }

  #grow(): Int32Array {
    const larger = new Int32Array(this.#hashes.length * 2);
    larger.set(this.#hashes);
    this.#hashes = larger;
    return larger;
  }
}
