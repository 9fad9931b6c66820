import { CLOSE_PAREN, copyRange, HASH, hashRange, QUESTION, SLASH } from "../bytes/bytes.ts";
import { MementoMapError } from "../errors.ts";
import { enlarged } from "./budget-survey.ts";
import { sortKeys } from "../bytes/sort-keys.ts";
import { wholeLines } from "../bytes/lines.ts";
import { LookupList } from "../lookup/lookup-list.ts";
import type { KeyOptions } from "../surt/key.ts";
import { QUERY_MARK } from "../ukvs/key-tree.ts";
import { queryMarkAt } from "./tree-order.ts";
import { Key } from "../surt/lookup-key.ts";

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

/**
 * Lookups that an archive could not answer, as sorted keys.
 *
 * Holds all of them: their bytes and 9 bytes each. Every key counts once, however often it was
 * asked: what is asked again soon tells little of what other pages will be asked for.
 */
export class MissList {
  readonly count: number;
  /** The keys, one after the other, in byte order. */
  readonly bytes: Uint8Array;
  /** Key `i` is `bytes[starts[i], starts[i + 1])`. */
  readonly starts: Uint32Array;
  /** Whether the key was first seen in the later half of the log. */
  readonly isLate: Uint8Array;
  /** Lines of the log that were left out, because they are neither URIs nor SURTs. */
  readonly oddLines: number;

  /** @param log the keys in the order of the log; a collector must not be added to any more. */
  constructor(log: MissCollector | Iterable<string>, oddLines: number = 0) {
    const { count, bytes, starts } = log instanceof MissCollector ? log : collected(log);
    const ids = Uint32Array.from({ length: count }, (_, id) => id);
    sortKeys(ids, bytes, starts);
    this.count = count;
    this.oddLines = oddLines;
    this.bytes = new Uint8Array(starts[count]);
    this.starts = new Uint32Array(count + 1);
    this.isLate = new Uint8Array(count);
    let at = 0;
    for (let i = 0; i < count; i++) {
      const id = ids[i];
      at = copyRange(bytes, starts[id], starts[id + 1], this.bytes, at);
      this.starts[i + 1] = at;
      this.isLate[i] = id * 2 >= count ? 1 : 0;
    }
  }
}

function collected(keys: Iterable<string>): MissCollector {
  const collector = new MissCollector();
  const encoder = new TextEncoder();
  for (const key of keys) {
    const bytes = encoder.encode(key);
    collector.add(bytes, 0, bytes.length);
  }
  return collector;
}

/**
 * Reads a list of lookups that missed, URIs or SURTs, in the order they came; `lookup-list.ts` says
 * what it looks like. Holds all keys; with queries, as the key tree has them (`tree-order.ts`).
 *
 * @throws MM_BAD_INPUT for what is not such a list, MM_LIMIT for a line that is too long, or keys of
 *   4 GiB
 */
export async function readMissList(
  chunks: AsyncIterable<Uint8Array>,
  source: string,
  options: KeyOptions = {},
): Promise<MissList> {
  const collector = new MissCollector();
  const key = new Key();
  const queries = options.queries === true;
  const list = new LookupList(source);
  for await (const block of wholeLines(chunks, source)) {
    list.forEach(block, (start, end) => {
      if (isSurt(block, start, end)) key.ofSurt(block, start, end, queries);
      else key.ofUri(block, start, end, queries).readPath();
      const mark = queries ? queryMarkAt(key.bytes, 0, key.length) : -1;
      if (mark !== -1) key.bytes[mark] = QUERY_MARK;
      collector.add(key.bytes, 0, key.length);
    });
  }
  list.end();
  return new MissList(collector, list.oddLines);
}

/** Whether there is a `)` before any slash, query and fragment, and a slash or nothing behind it. */
function isSurt(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end && bytes[at] !== SLASH && bytes[at] !== QUESTION && bytes[at] !== HASH) at++;
  return at > start && bytes[at - 1] === CLOSE_PAREN && (at === end || bytes[at] === SLASH);
}
