import { compareRanges } from "../../bytes/compare.ts";
import { enlarged } from "../node-stack.ts";

/**
 * Lookups that an archive could not answer, as sorted keys.
 *
 * Holds all of them: their bytes and 16 bytes each. Every key counts once, however often it was
 * asked, unless the log says how often: what is asked again soon tells little of what other pages
 * will be asked for.
 */
export class MissList {
  readonly count: number;
  /** The keys, one after the other, in byte order. */
  readonly bytes: Uint8Array;
  /** Key `i` is `bytes[starts[i], starts[i + 1])`. */
  readonly starts: Float64Array;
  /** Whether the key was first seen in the later half of the log. */
  readonly isLate: Uint8Array;

  /** @param keys in the order of the log. */
  constructor(keys: Iterable<string>) {
    const places = new Map<string, number>();
    for (const key of keys) {
      if (!places.has(key)) places.set(key, places.size);
    }
    const encoder = new TextEncoder();
    const entries = Array.from(places, ([key, place]) => ({ key: encoder.encode(key), place }));
    entries.sort((a, b) => compareRanges(a.key, 0, a.key.length, b.key, 0, b.key.length));
    this.count = entries.length;
    this.starts = new Float64Array(entries.length + 1);
    this.isLate = new Uint8Array(entries.length);
    this.bytes = new Uint8Array(entries.reduce((sum, { key }) => sum + key.length, 0));
    let at = 0;
    for (const [i, { key, place }] of entries.entries()) {
      this.bytes.set(key, at);
      at += key.length;
      this.starts[i + 1] = at;
      this.isLate[i] = place * 2 >= entries.length ? 1 : 0;
    }
  }
}

/**
 * Branches of the key tree that hold nothing but were asked for: what an exclusion could say.
 *
 * In the order of the records they belong to. Holds 40 bytes a branch.
 */
export class BranchList {
  count = 0;
  /** The record of the deepest node above that has one. */
  record = new Float64Array(64);
  /** The branch is the first `textLength` bytes of this miss. */
  miss = new Float64Array(64);
  textLength = new Int32Array(64);
  /** Missed lookups in the earlier half of the log, and in all of it. */
  early = new Int32Array(64);
  misses = new Int32Array(64);
  /** Whether the branch is a host, to be written `com,cnn,*`. */
  isHost = new Uint8Array(64);

  add(): number {
    if (this.count === this.record.length) this.#grow();
    return this.count++;
  }

  #grow(): void {
    const size = this.count * 2;
    this.record = enlarged(new Float64Array(size), this.record);
    this.miss = enlarged(new Float64Array(size), this.miss);
    this.textLength = enlarged(new Int32Array(size), this.textLength);
    this.early = enlarged(new Int32Array(size), this.early);
    this.misses = enlarged(new Int32Array(size), this.misses);
    this.isHost = enlarged(new Uint8Array(size), this.isHost);
  }
}
