import { enlarged } from "../node-stack.ts";

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
