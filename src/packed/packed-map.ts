import { CLOSE_PAREN, COMMA, QUESTION, SLASH, STAR } from "../bytes/bytes.ts";
import { bitsOf, fingerprint, NameHash, shardOf } from "./name-hash.ts";
import {
  crc32,
  cut,
  damaged,
  type Descriptor,
  FLAG,
  MAX_DEPTH,
  type PackedHead,
  type Shard,
} from "./packed-file.ts";
import { ribbonValue } from "./ribbon.ts";

/** Reads `length` bytes at `offset` of a file. */
export type ReadBytes = (offset: number, length: number) => Uint8Array;

/** What the names of a key said. */
export const OUTCOME = {
  /** No name covers the key. */
  none: 0,
  present: 1,
  /** A void covers it. */
  void: 2,
  /** A shard must be loaded first: `neededShard`. */
  unloaded: 3,
} as const;
export type Outcome = (typeof OUTCOME)[keyof typeof OUTCOME];

/** Which names were found: written behind the first bytes of the key, or of its host. */
export const NAME = {
  exact: 0,
  anyQuery: 1,
  below: 2,
  hostsBelow: 3,
  spread: 4,
  spreadAnyQuery: 5,
} as const;
export type NameKind = (typeof NAME)[keyof typeof NAME];

const NOT_LOADED = -2;
const ABSENT = -1;

/** The names of one filter. */
interface NameSet {
  readonly bits: number;
  readonly firstShard: number;
  readonly shards: number;
}

/**
 * The names of a packed map, asked with keys in bytes.
 *
 * Holds a buffer of the size of the file, of which only the shards that were asked for take memory.
 * A shard is checked when it is loaded.
 */
export class PackedNames {
  /** Of the last key: which name decided, and how many bytes of the key it has. */
  name: NameKind = NAME.exact;
  nameEnd = 0;
  /** How far above the key the name is, as `lookupKeys` counts. */
  distance = 0;
  /** The count of the host in the table; -1 if it has none. */
  count = -1;
  /** The shard that was missing. */
  neededShard = -1;

  readonly head: PackedHead;
  readonly #source: string;
  readonly #words: Uint32Array;
  readonly #loaded: Uint8Array;
  readonly #read: ReadBytes | undefined;
  readonly #hosts: NameSet | undefined;
  readonly #voids: NameSet | undefined;
  /** By their bits. */
  readonly #rows: readonly (NameSet | undefined)[];
  readonly #shards: readonly Shard[];
  readonly #hash = new NameHash();
  #asksRows = true;
  /** The state of the hash at the ends of labels and of segments. */
  #statesA = new Int32Array(64);
  #statesB = new Int32Array(64);
  #ends = new Int32Array(64);

  /**
   * @param data all of the data; if it is not given, `read` or {@link load} bring it.
   * @param read for what can be read at once; if it is not given, `find` may say that a shard is needed.
   */
  constructor(
    head: PackedHead,
    source: string,
    { data, read }: { readonly data?: Uint32Array; readonly read?: ReadBytes | undefined } = {},
  ) {
    this.head = head;
    this.#source = source;
    this.#read = read;
    this.#shards = head.shards;
    this.#words = data ?? new Uint32Array((head.end - head.dataStart) / 4);
    this.#loaded = new Uint8Array(head.shards.length);
    let firstShard = 0;
    const rows: (NameSet | undefined)[] = [];
    for (const { kind, bits, shards } of head.header.filters) {
      const set = { bits, firstShard, shards };
      if (kind === "hosts") this.#hosts = set;
      else if (kind === "voids") this.#voids = set;
      else rows[bits] = set;
      firstShard += shards;
    }
    this.#rows = rows;
    if (data !== undefined) for (let i = 0; i < firstShard; i++) this.#check(i);
  }

  /** Where the bytes of a shard are in the file. */
  extent(shard: number): { readonly offset: number; readonly length: number } {
    const { words } = this.#shards[shard];
    const next = this.#shards.at(shard + 1)?.words ?? this.#words.length;
    return { offset: this.head.dataStart + 4 * words, length: 4 * (next - words) };
  }

  isLoaded(shard: number): boolean {
    return this.#loaded[shard] === 1;
  }

  /** Takes the bytes of a shard. @throws MM_BAD_INPUT where they are not what was written; MM_CUT */
  load(shard: number, bytes: Uint8Array): void {
    if (bytes.length !== this.extent(shard).length) throw cut(this.#source);
    const { words } = this.#shards[shard];
    const own = new Uint8Array(
      this.#words.buffer,
      this.#words.byteOffset + 4 * words,
      bytes.length,
    );
    own.set(bytes);
    this.#check(shard);
  }

  #check(shard: number): void {
    const { offset, length } = this.extent(shard);
    const start = this.#words.byteOffset + offset - this.head.dataStart;
    const bytes = new Uint8Array(this.#words.buffer, start, length);
    if (crc32(bytes, 0, length) !== this.#shards[shard].crc) {
      throw damaged(`shard ${shard}`, this.#source);
    }
    this.#loaded[shard] = 1;
  }

  /** Whether some name of the key is taken for a void, whatever its rows say. All must be loaded. */
  hitsVoid(bytes: Uint8Array, start: number, end: number): boolean {
    this.#asksRows = false;
    try {
      return this.find(bytes, start, end) === OUTCOME.void;
    } finally {
      this.#asksRows = true;
    }
  }

  /** Finds the name that decides about the key `bytes[start, end)`, most specific first. */
  find(bytes: Uint8Array, start: number, end: number): Outcome {
    const { header } = this.head;
    this.count = -1;
    let hostEnd = start;
    const hash = this.#hash.reset();
    // The states of hosts are needed only where some of them have wildcards.
    const hasHostNames = (header.hostWildcards | header.hostSpreads) !== 0;
    let [labels, read] = [0, start];
    for (; hostEnd < end; hostEnd++) {
      const byte = bytes[hostEnd];
      if (byte === CLOSE_PAREN && (hostEnd + 1 === end || bytes[hostEnd + 1] === SLASH)) break;
      if (byte === COMMA && hasHostNames) {
        this.#keepState(labels++, hash.extend(bytes, read, hostEnd), hostEnd);
        read = hostEnd;
      }
    }
    if (hostEnd === end) return this.#findOpaque(bytes, start, end);
    hash.extend(bytes, read, hostEnd);
    if (hasHostNames) this.#keepState(labels++, hash, hostEnd);
    const outcome = this.#findOnHost(hash.extendByte(CLOSE_PAREN), labels, bytes, hostEnd + 1, end);
    if (outcome !== OUTCOME.none || !hasHostNames) return outcome;
    return this.#findAbove(labels, bytes, hostEnd, end);
  }

  /** Keys without a host are rows of depth 1 of a host without a name. */
  #findOpaque(bytes: Uint8Array, start: number, end: number): Outcome {
    const descriptor = this.#host(this.#hash.reset().finish());
    if (descriptor === NOT_LOADED) return OUTCOME.unloaded;
    if (descriptor === ABSENT) return OUTCOME.none;
    const { exact, width } = this.head.descriptors[descriptor];
    if ((exact & 2) === 0) return OUTCOME.none;
    const found = this.#row(this.#hash.extend(bytes, start, end).finish(), width);
    if (found !== ABSENT || !this.head.header.queries) {
      return this.#outcome(found, NAME.exact, end, 0);
    }
    const query = bytes.subarray(start, end).indexOf(QUESTION);
    const pageEnd = query === -1 ? end : start + query;
    const any = this.#hash.reset().extend(bytes, start, pageEnd);
    const foundAny = this.#row(any.extendByte(QUESTION).extendByte(STAR).finish(), width);
    return this.#outcome(foundAny, NAME.anyQuery, pageEnd, 1);
  }

  /** @param labels where the states of segments may be kept. */
  #findOnHost(
    hash: NameHash,
    labels: number,
    bytes: Uint8Array,
    pathStart: number,
    end: number,
  ): Outcome {
    const { a, b } = hash;
    const index = this.#host(hash.finish());
    if (index === ABSENT) return OUTCOME.none;
    if (index === NOT_LOADED) return OUTCOME.unloaded;
    const descriptor = this.head.descriptors[index];
    hash.resume(a, b);
    // Keeps the state at the end of each segment: of `/a/b` those of ``, `/a` and `/a/b`.
    let depth = 0;
    let at = pathStart;
    this.#keepState(labels, hash, at);
    const isHome = end - pathStart <= 1;
    if (!isHome && bytes[pathStart + 1] !== QUESTION) {
      let read = pathStart;
      for (at = pathStart + 1; at < end && bytes[at] !== QUESTION; at++) {
        if (bytes[at] !== SLASH) continue;
        this.#keepState(labels + ++depth, hash.extend(bytes, read, at), at);
        read = at;
      }
      this.#keepState(labels + ++depth, hash.extend(bytes, read, at), at);
    }
    return this.#findRows(descriptor, labels, depth, bytes, at, end);
  }

  #findRows(
    descriptor: Descriptor,
    labels: number,
    depth: number,
    bytes: Uint8Array,
    pathEnd: number,
    end: number,
  ): Outcome {
    const { exact, wildcards, voidExact, voidWildcards, flags, width } = descriptor;
    const hash = this.#hash;
    const { queries } = this.head.header;
    const queryStart = depth === 0 ? Math.min(end, pathEnd + 1) : pathEnd;
    const hasQuery = queries && queryStart < end;
    let distance = 0;
    // The page itself.
    const bit = 1 << Math.min(depth, MAX_DEPTH);
    const ask = hasQuery ? (flags & FLAG.query) !== 0 : (exact & bit) !== 0;
    if (!hasQuery && depth === 0 && (flags & FLAG.home) !== 0 && this.#asksRows) {
      return this.#outcome(1, NAME.exact, end, 0);
    }
    if (ask || (voidExact & bit) !== 0) {
      this.#resume(labels + depth);
      if (depth === 0) hash.extendByte(SLASH);
      if (hasQuery) hash.extend(bytes, queryStart, end);
      hash.finish();
      const found = this.#presence(hash, ask, (voidExact & bit) !== 0, width);
      if (found !== ABSENT) return this.#outcome(found, NAME.exact, end, 0);
    }
    if (queries) {
      distance++;
      const mayBeVoid = (voidExact & bit) !== 0;
      if ((flags & FLAG.anyQuery) !== 0 || mayBeVoid) {
        this.#resume(labels + depth);
        if (depth === 0) hash.extendByte(SLASH);
        hash.extendByte(QUESTION).extendByte(STAR).finish();
        const found = this.#presence(hash, (flags & FLAG.anyQuery) !== 0, mayBeVoid, width);
        if (found !== ABSENT) return this.#outcome(found, NAME.anyQuery, queryStart, distance);
      }
    }
    // What is below it, and below each folder above it.
    for (let at = depth; at >= 0; at--) {
      distance++;
      const mask = 1 << Math.min(at, MAX_DEPTH);
      if (at === 0 && (flags & FLAG.all) !== 0 && this.#asksRows) {
        return this.#outcome(1, NAME.below, this.#ends[labels], distance);
      }
      const mayBeVoid = (voidWildcards & mask) !== 0;
      if ((wildcards & mask) === 0 && !mayBeVoid) continue;
      this.#resume(labels + at);
      hash.extendByte(SLASH).extendByte(STAR).finish();
      const found = this.#presence(hash, (wildcards & mask) !== 0, mayBeVoid, width);
      if (found !== ABSENT)
        return this.#outcome(found, NAME.below, this.#ends[labels + at], distance);
    }
    this.distance = distance;
    return OUTCOME.none;
  }

  /** Asks for `X,*)/path` and `X,*` from the host up. */
  #findAbove(labels: number, bytes: Uint8Array, hostEnd: number, end: number): Outcome {
    const { hostWildcards, hostSpreads } = this.head.header;
    const hash = this.#hash;
    let [distance, pageEnd] = [1, hostEnd + 1];
    for (; pageEnd < end && bytes[pageEnd] !== QUESTION; pageEnd++) {
      if (bytes[pageEnd] === SLASH) distance++;
    }
    // The slash of a home page leads to no segment.
    if (pageEnd === hostEnd + 2) distance--;
    if (this.head.header.queries) distance++;
    for (let at = labels - 1; at >= 0; at--) {
      const mask = 1 << Math.min(at + 1, 31);
      distance++;
      if ((hostSpreads & mask) !== 0) {
        this.#resume(at);
        hash.extendByte(COMMA).extendByte(STAR).extendByte(CLOSE_PAREN);
        const { a, b } = hash;
        const index = this.#host(hash.finish());
        if (index === NOT_LOADED) return OUTCOME.unloaded;
        if (index !== ABSENT) {
          const { width, voidExact } = this.head.descriptors[index];
          const mayBeVoid = voidExact !== 0;
          hash.resume(a, b).extend(bytes, hostEnd + 1, end);
          const found = this.#presence(hash.finish(), true, mayBeVoid, width);
          if (found !== ABSENT) return this.#outcome(found, NAME.spread, this.#ends[at], distance);
          if (this.head.header.queries) {
            hash
              .resume(a, b)
              .extend(bytes, hostEnd + 1, pageEnd)
              .extendByte(QUESTION);
            const any = this.#presence(hash.extendByte(STAR).finish(), true, mayBeVoid, width);
            if (any !== ABSENT) {
              return this.#outcome(any, NAME.spreadAnyQuery, this.#ends[at], distance);
            }
          }
        }
      }
      if (at > 0) distance++;
      if ((hostWildcards & mask) === 0) continue;
      this.#resume(at);
      const found = this.#hostWildcard(hash.extendByte(COMMA).extendByte(STAR).finish());
      if (found !== ABSENT) return this.#outcome(found, NAME.hostsBelow, this.#ends[at], distance);
    }
    return OUTCOME.none;
  }

  /** Without a table, host wildcards are rows. */
  #hostWildcard(hash: NameHash): number {
    const { descriptors, header } = this.head;
    if (header.table.fingerprint === 0) {
      return this.#presence(hash, true, true, descriptors[0].width);
    }
    const index = this.#host(hash);
    if (index < 0) return index;
    return (descriptors[index].flags & FLAG.none) === 0 ? 1 : VOID;
  }

  #keepState(index: number, hash: NameHash, end: number): void {
    if (index === this.#ends.length) {
      this.#statesA = enlarged(this.#statesA);
      this.#statesB = enlarged(this.#statesB);
      this.#ends = enlarged(this.#ends);
    }
    this.#statesA[index] = hash.a;
    this.#statesB[index] = hash.b;
    this.#ends[index] = end;
  }

  #resume(index: number): void {
    this.#hash.resume(this.#statesA[index], this.#statesB[index]);
  }

  /** The descriptor of a host, ABSENT or NOT_LOADED; sets `count`. */
  #host({ low, high }: NameHash): number {
    const set = this.#hosts;
    const { fingerprint: checkedBits, descriptor: bits } = this.head.header.table;
    // Without a table all hosts have one descriptor; a table without a host has none.
    if (set === undefined) return checkedBits === 0 ? 0 : ABSENT;
    const value = this.#value(set, low, high, checkedBits);
    if (value < 0) return value;
    const index = value & (2 ** bits - 1);
    // A number that no descriptor has shows that the host is not in the table.
    if (index >= this.head.descriptors.length) return ABSENT;
    this.count = value >>> bits;
    return index;
  }

  /** 1 if a row is there, VOID for a void, else ABSENT or NOT_LOADED. */
  #presence(hash: NameHash, asksRows: boolean, asksVoids: boolean, width: number): number {
    const found = asksRows ? this.#row(hash, width) : ABSENT;
    if (found !== ABSENT || !asksVoids || this.#voids === undefined) return found;
    const value = this.#value(this.#voids, hash.low, hash.high, this.#voids.bits);
    return value < 0 ? value : VOID;
  }

  /** 1 if a row may be there, else ABSENT or NOT_LOADED. */
  #row({ low, high }: NameHash, width: number): number {
    if (!this.#asksRows) return ABSENT;
    const bits = bitsOf(width, high);
    if (bits === 0) return 1;
    const set = this.#rows[bits];
    if (set === undefined) return ABSENT;
    const value = this.#value(set, low, high, bits);
    return value < 0 ? value : 1;
  }

  #value(set: NameSet, low: number, high: number, checkedBits: number): number {
    const index = set.firstShard + shardOf(low, set.shards);
    if (this.#loaded[index] === 0) {
      if (this.#read === undefined) {
        this.neededShard = index;
        return NOT_LOADED;
      }
      const { offset, length } = this.extent(index);
      this.load(index, this.#read(offset, length));
    }
    const { words, slots, seed } = this.#shards[index];
    const check = fingerprint(low, high);
    return ribbonValue(this.#words, words, slots, seed, set.bits, low, high, checkedBits, check);
  }

  #outcome(found: number, name: NameKind, nameEnd: number, distance: number): Outcome {
    if (found === NOT_LOADED) return OUTCOME.unloaded;
    if (found === ABSENT) return OUTCOME.none;
    this.name = name;
    this.nameEnd = nameEnd;
    this.distance = distance;
    return found === VOID ? OUTCOME.void : OUTCOME.present;
  }
}

const VOID = 2;

function enlarged(array: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * array.length);
  larger.set(array);
  return larger;
}
