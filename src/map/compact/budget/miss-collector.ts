import { copyRange, hashRange } from "../../../bytes/bytes.ts";
import { MementoMapError } from "../../../errors.ts";
import { enlarged } from "../node-stack.ts";

const INITIAL_KEYS = 1 << 10;
const INITIAL_BYTES = 1 << 16;
/** Where keys begin is kept in 32 bits. */
const MAX_BYTES = 2 ** 32 - 1;

/**
 * Collects the keys of missed lookups, each once, in the order they came.
 *
 * Holds their bytes and 16 to 40 bytes each.
 */
export class MissCollector {
  count = 0;
  /** The keys, one after the other; key `id` is `bytes[starts[id], starts[id + 1])`. */
  bytes: Uint8Array = new Uint8Array(INITIAL_BYTES);
  starts: Uint32Array = new Uint32Array(INITIAL_KEYS + 1);
  #hashes = new Uint32Array(INITIAL_KEYS);
  /** Key id + 1 by hash; 0 is free. At most half of the slots are taken. */
  #slots = new Uint32Array(INITIAL_KEYS * 2);

  /** @throws MM_LIMIT when the keys come to 4 GiB */
  add(source: Uint8Array, start: number, end: number): void {
    const hash = hashRange(source, start, end);
    const slots = this.#slots;
    let slot = hash & (slots.length - 1);
    for (; slots[slot] !== 0; slot = (slot + 1) & (slots.length - 1)) {
      const id = slots[slot] - 1;
      if (this.#hashes[id] === hash && this.#isKey(id, source, start, end)) return;
    }
    const id = this.count++;
    this.#hashes[id] = hash;
    slots[slot] = id + 1;
    const at = this.starts[id];
    if (at + (end - start) > this.bytes.length) this.#growBytes(at + (end - start));
    this.starts[id + 1] = copyRange(source, start, end, this.bytes, at);
    if (this.count === this.#hashes.length) this.#growKeys();
  }

  #isKey(id: number, source: Uint8Array, start: number, end: number): boolean {
    const from = this.starts[id];
    if (this.starts[id + 1] - from !== end - start) return false;
    for (let i = start; i < end; i++) {
      if (source[i] !== this.bytes[from + i - start]) return false;
    }
    return true;
  }

  #growBytes(needed: number): void {
    if (needed > MAX_BYTES) {
      throw new MementoMapError("MM_LIMIT", "the misses come to 4 GiB of keys; give fewer of them");
    }
    const size = Math.min(MAX_BYTES, Math.max(needed, this.bytes.length * 2));
    this.bytes = enlarged(new Uint8Array(size), this.bytes);
  }

  #growKeys(): void {
    const size = this.count * 2;
    this.starts = enlarged(new Uint32Array(size + 1), this.starts);
    this.#hashes = enlarged(new Uint32Array(size), this.#hashes);
    const slots = new Uint32Array(size * 2);
    for (let id = 0; id < this.count; id++) {
      let slot = this.#hashes[id] & (slots.length - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
      slots[slot] = id + 1;
    }
    this.#slots = slots;
  }
}
