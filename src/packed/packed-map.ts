import { CLOSE_PAREN, COMMA, QUESTION, SLASH, STAR } from "../bytes/bytes.ts";
import { KeyHashes } from "./key-hashes.ts";
import {
  bitsOf,
  extendA,
  extendB,
  fingerprint,
  finishHigh,
  finishLow,
  NameHash,
  shardOf,
  START_A,
  START_B,
} from "./name-hash.ts";
import { crc32, cut, damaged, FLAG, MAX_DEPTH, type PackedHead } from "./packed-file.ts";
import { MAX_BITS, ribbonValue } from "./ribbon.ts";

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

/** The header of a packed map, and where it is in its file. */
export type PackedPlace = Omit<PackedHead, "descriptors" | "shards">;

/** Where the parts of a descriptor are among its bytes, and how many it has. */
const EXACT = 0;
const WILDCARDS = 1;
const VOID_EXACT = 2;
const VOID_WILDCARDS = 3;
const FLAGS = 4;
const WIDTH = 5;
const WIDE_WIDTH = 6;
const DESCRIPTOR = 7;

/** Numbers of a shard: its first word, its slots, its seed, its checksum, and 1 if it is loaded. */
const SHARD = 5;
const SHARD_CRC = 3;
const SHARD_IS_LOADED = 4;

/** Where the filters are among the sets of names: rows at their bits, and these behind them. */
const HOSTS = MAX_BITS + 1;
const VOIDS = MAX_BITS + 2;
/** Numbers of a set: its first shard, how many it has, and the bits of a slot. */
const SET = 3;
/** Sets are in front of the shards. */
const FIRST_SHARD = (VOIDS + 1) * SET;

/** The key that is asked for at the moment. */
const KEY = new KeyHashes();
const HASH = new NameHash();

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
  /** The count and the period of the host in the table; -1 if it is not in it. */
  count = -1;
  period = -1;
  /** The shard that was missing. */
  neededShard = -1;

  readonly head: PackedPlace;
  readonly #source: string;
  readonly #words: Uint32Array;
  readonly #read: ReadBytes | undefined;
  /** Sets of names, and the shards that they are in. */
  readonly #tables: Int32Array;
  readonly #descriptors: Uint8Array;
  readonly #queries: boolean;
  readonly #fingerprintBits: number;
  readonly #descriptorBits: number;
  readonly #countBits: number;
  readonly #hasHostNames: boolean;
  #asksRows = true;

  /**
   * @param data all of the data; if it is not given, `read` or {@link load} bring it.
   * @param read for what can be read at once; if it is not given, `find` may say that a shard is needed.
   */
  constructor(
    { header, descriptors, shards, ...place }: PackedHead,
    source: string,
    { data, read }: { readonly data?: Uint32Array; readonly read?: ReadBytes | undefined } = {},
  ) {
    this.head = { header, ...place };
    this.#source = source;
    this.#read = read;
    this.#words = data ?? new Uint32Array((place.end - place.dataStart) / 4);
    this.#tables = new Int32Array(FIRST_SHARD + shards.length * SHARD);
    let at = FIRST_SHARD;
    for (const { words, slots, seed, crc } of shards) {
      this.#tables[at] = words;
      this.#tables[at + 1] = slots;
      this.#tables[at + 2] = seed;
      this.#tables[at + SHARD_CRC] = crc;
      at += SHARD;
    }
    this.#descriptors = new Uint8Array(descriptors.length * DESCRIPTOR);
    descriptors.forEach((one, i) => {
      const { exact, wildcards, voidExact, voidWildcards, flags, width, wideWidth } = one;
      const numbers = [exact, wildcards, voidExact, voidWildcards, flags, width, wideWidth];
      this.#descriptors.set(numbers, i * DESCRIPTOR);
    });
    this.#queries = header.queries;
    this.#fingerprintBits = header.table.fingerprint;
    this.#descriptorBits = header.table.descriptor;
    this.#countBits = header.table.count;
    this.#hasHostNames = (header.hostWildcards | header.hostSpreads) !== 0;
    let firstShard = 0;
    for (const { kind, bits, shards: count } of header.filters) {
      const set = { hosts: HOSTS, rows: bits, voids: VOIDS }[kind];
      this.#tables.set([firstShard, count, bits], set * SET);
      firstShard += count;
    }
    if (data !== undefined) for (let i = 0; i < firstShard; i++) this.#check(i);
  }

  /**
   * The names of a part that is in memory, at a multiple of four. It goes on to use the bytes: they must not change.
   *
   * @param bytes the file that the places of the head are counted in.
   */
  static within(bytes: Uint8Array, head: PackedHead, source: string): PackedNames {
    const words = (head.end - head.dataStart) / 4;
    const data = new Uint32Array(bytes.buffer, bytes.byteOffset + head.dataStart, words);
    return new PackedNames(head, source, { data });
  }

  /** As {@link within}, of a copy: for bytes at any place. */
  static copied(bytes: Uint8Array, head: PackedHead, source: string): PackedNames {
    const data = new Uint32Array((head.end - head.dataStart) / 4);
    new Uint8Array(data.buffer).set(bytes.subarray(head.dataStart, head.end));
    return new PackedNames(head, source, { data });
  }

  /** Where the bytes of a shard are in the file. */
  extent(shard: number): { readonly offset: number; readonly length: number } {
    const at = FIRST_SHARD + shard * SHARD;
    const words = this.#tables[at] >>> 0;
    const isLast = at + SHARD === this.#tables.length;
    const next = isLast ? this.#words.length : this.#tables[at + SHARD] >>> 0;
    return { offset: this.head.dataStart + 4 * words, length: 4 * (next - words) };
  }

  /** Whether anything may be called absent by a void. */
  get hasVoids(): boolean {
    if (this.#tables[VOIDS * SET + 1] > 0) return true;
    return this.#descriptors.some((flags, at) => {
      return at % DESCRIPTOR === FLAGS && (flags & FLAG.none) !== 0;
    });
  }

  get shardCount(): number {
    return (this.#tables.length - FIRST_SHARD) / SHARD;
  }

  isLoaded(shard: number): boolean {
    return this.#tables[FIRST_SHARD + shard * SHARD + SHARD_IS_LOADED] === 1;
  }

  /** Takes the bytes of a shard. @throws MM_BAD_INPUT where they are not what was written; MM_CUT */
  load(shard: number, bytes: Uint8Array): void {
    const { offset, length } = this.extent(shard);
    if (bytes.length !== length) throw cut(this.#source);
    const start = this.#words.byteOffset + offset - this.head.dataStart;
    new Uint8Array(this.#words.buffer, start, length).set(bytes);
    this.#check(shard);
  }

  #check(shard: number): void {
    const { offset, length } = this.extent(shard);
    const start = this.#words.byteOffset + offset - this.head.dataStart;
    const bytes = new Uint8Array(this.#words.buffer, start, length);
    const at = FIRST_SHARD + shard * SHARD;
    if (crc32(bytes, 0, length) !== this.#tables[at + SHARD_CRC] >>> 0) {
      throw damaged(`shard ${shard}`, this.#source);
    }
    this.#tables[at + SHARD_IS_LOADED] = 1;
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
    return this.findKey(KEY.read(bytes, start, end));
  }

  /** As {@link find}, for a key that other maps are asked for, too. */
  findKey(key: KeyHashes): Outcome {
    this.count = -1;
    this.period = -1;
    if (key.hostEnd < 0) return this.#findOpaque(key);
    const host = this.#host(key.folders.a[0], key.folders.b[0]);
    if (host === NOT_LOADED) return OUTCOME.unloaded;
    if (host !== ABSENT) {
      key.readPath();
      const outcome = this.#findOnHost(key, host);
      if (outcome !== OUTCOME.none) return outcome;
    }
    return this.#hasHostNames ? this.#findAbove(key) : OUTCOME.none;
  }

  /** The periods of all names in the table that a lookup of a key may ask for. All must be loaded. */
  periodsOf(surt: Uint8Array): number[] {
    const key = KEY.read(surt, 0, surt.length);
    const periods: number[] = [];
    const take = (a: number, b: number): void => {
      if (this.#host(a, b) >= 0) periods.push(this.period);
    };
    if (key.hostEnd < 0) {
      take(START_A, START_B);
      return periods;
    }
    take(key.folders.a[0], key.folders.b[0]);
    key.readLabels();
    const { hostWildcards, hostSpreads } = this.head.header;
    for (let at = 0; at < key.labelCount; at++) {
      const mask = 1 << Math.min(at + 1, 31);
      const a = extendA(extendA(key.labels.a[at], COMMA), STAR);
      const b = extendB(extendB(key.labels.b[at], COMMA), STAR);
      if ((hostWildcards & mask) !== 0) take(a, b);
      if ((hostSpreads & mask) !== 0) take(extendA(a, CLOSE_PAREN), extendB(b, CLOSE_PAREN));
    }
    return periods;
  }

  /** Keys without a host are rows of depth 1 of a host without a name. */
  #findOpaque({ bytes, start, end, folders }: KeyHashes): Outcome {
    const host = this.#host(START_A, START_B);
    if (host === NOT_LOADED) return OUTCOME.unloaded;
    if (host === ABSENT || (this.#descriptors[host + EXACT] & 2) === 0) return OUTCOME.none;
    const width = this.#descriptors[host + WIDTH];
    const found = this.#ask(folders.a[0], folders.b[0], true, false, width);
    if (found !== ABSENT || !this.#queries) return this.#outcome(found, NAME.exact, end, 0);
    const query = bytes.subarray(start, end).indexOf(QUESTION);
    const pageEnd = query === -1 ? end : start + query;
    const { a, b } = new NameHash().extend(bytes, start, pageEnd);
    const any = this.#askAny(a, b, QUESTION, true, false, width);
    return this.#outcome(any, NAME.anyQuery, pageEnd, 1);
  }

  /** @param host where its descriptor is. */
  #findOnHost(key: KeyHashes, host: number): Outcome {
    const { depth, end, queryStart, folders } = key;
    const descriptors = this.#descriptors;
    const flags = descriptors[host + FLAGS];
    const width = descriptors[host + WIDTH];
    const wideWidth = descriptors[host + WIDE_WIDTH];
    const queries = this.#queries;
    const hasQuery = queries && queryStart < end;
    // The page itself.
    const bit = 1 << (depth < MAX_DEPTH ? depth : MAX_DEPTH);
    const mayBeVoid = (descriptors[host + VOID_EXACT] & bit) !== 0;
    const isRow = hasQuery ? (flags & FLAG.query) !== 0 : (descriptors[host + EXACT] & bit) !== 0;
    if (!hasQuery && depth === 0 && (flags & FLAG.home) !== 0 && this.#asksRows) {
      return this.#outcome(1, NAME.exact, end, 0);
    }
    if (isRow || mayBeVoid) {
      const a = hasQuery ? key.wholeA : key.pageA;
      const b = hasQuery ? key.wholeB : key.pageB;
      const found = this.#ask(a, b, isRow, mayBeVoid, width);
      if (found !== ABSENT) return this.#outcome(found, NAME.exact, end, 0);
    }
    const distance = queries ? 1 : 0;
    const isAny = (flags & FLAG.anyQuery) !== 0;
    if (queries && (isAny || mayBeVoid)) {
      const found = this.#askAny(key.pageA, key.pageB, QUESTION, isAny, mayBeVoid, wideWidth);
      if (found !== ABSENT) return this.#outcome(found, NAME.anyQuery, queryStart, distance);
    }
    // What is below it, and below each folder above it.
    const wildcards = descriptors[host + WILDCARDS];
    const voids = descriptors[host + VOID_WILDCARDS];
    const isAll = (flags & FLAG.all) !== 0 && this.#asksRows;
    if ((wildcards | voids) !== 0) {
      for (let at = depth; at >= 0; at--) {
        const mask = 1 << (at < MAX_DEPTH ? at : MAX_DEPTH);
        if (at === 0 && isAll) break;
        if (((wildcards | voids) & mask) === 0) continue;
        const isBelow = (wildcards & mask) !== 0;
        const found = this.#askAny(
          folders.a[at],
          folders.b[at],
          SLASH,
          isBelow,
          (voids & mask) !== 0,
          wideWidth,
        );
        if (found !== ABSENT) {
          return this.#outcome(found, NAME.below, folders.ends[at], distance + depth - at + 1);
        }
      }
    }
    this.distance = distance + depth + 1;
    return isAll ? this.#outcome(1, NAME.below, folders.ends[0], this.distance) : OUTCOME.none;
  }

  /** Asks for `X,*)/path` and `X,*` from the host up. */
  #findAbove(key: KeyHashes): Outcome {
    const { hostWildcards, hostSpreads } = this.head.header;
    key.readPath();
    key.readLabels();
    const { labels } = key;
    let distance = (this.#queries ? 2 : 1) + key.depth;
    for (let at = key.labelCount - 1; at >= 0; at--) {
      const mask = 1 << Math.min(at + 1, 31);
      const a = extendA(extendA(labels.a[at], COMMA), STAR);
      const b = extendB(extendB(labels.b[at], COMMA), STAR);
      distance++;
      if ((hostSpreads & mask) !== 0) {
        const outcome = this.#findSpread(
          key,
          at,
          extendA(a, CLOSE_PAREN),
          extendB(b, CLOSE_PAREN),
          distance,
        );
        if (outcome !== OUTCOME.none) return outcome;
      }
      if (at > 0) distance++;
      if ((hostWildcards & mask) === 0) continue;
      const found = this.#hostWildcard(a, b);
      if (found !== ABSENT) return this.#outcome(found, NAME.hostsBelow, labels.ends[at], distance);
    }
    return OUTCOME.none;
  }

  /** Asks for `X,*)/path`, given the state of `X,*)`. */
  #findSpread(
    { bytes, hostEnd, queryStart, end, labels }: KeyHashes,
    label: number,
    a: number,
    b: number,
    distance: number,
  ): Outcome {
    const host = this.#host(a, b);
    if (host === NOT_LOADED) return OUTCOME.unloaded;
    if (host === ABSENT) return OUTCOME.none;
    const mayBeVoid = this.#descriptors[host + VOID_EXACT] !== 0;
    const width = this.#descriptors[host + WIDTH];
    const nameEnd = labels.ends[label];
    const hash = HASH.resume(a, b).extend(bytes, hostEnd + 1, queryStart);
    const [pageA, pageB] = [hash.a, hash.b];
    hash.extend(bytes, queryStart, end);
    const found = this.#ask(hash.a, hash.b, true, mayBeVoid, width);
    if (found !== ABSENT) return this.#outcome(found, NAME.spread, nameEnd, distance);
    if (!this.#queries) return OUTCOME.none;
    const wideWidth = this.#descriptors[host + WIDE_WIDTH];
    const any = this.#askAny(pageA, pageB, QUESTION, true, mayBeVoid, wideWidth);
    return this.#outcome(any, NAME.spreadAnyQuery, nameEnd, distance);
  }

  /** Without a table, host wildcards are rows. */
  #hostWildcard(a: number, b: number): number {
    if (this.#fingerprintBits === 0) {
      return this.#ask(a, b, true, true, this.#descriptors[WIDE_WIDTH]);
    }
    const host = this.#host(a, b);
    if (host < 0) return host;
    return (this.#descriptors[host + FLAGS] & FLAG.none) === 0 ? 1 : VOID;
  }

  /** Where the descriptor of a host is, ABSENT or NOT_LOADED; sets `count` and `period`. */
  #host(a: number, b: number): number {
    // Without a table all hosts have one descriptor.
    if (this.#fingerprintBits === 0) return 0;
    const low = finishLow(a, b);
    const value = this.#value(HOSTS * SET, low, finishHigh(b, low), this.#fingerprintBits);
    if (value < 0) return value;
    const at = DESCRIPTOR * (value & ((1 << this.#descriptorBits) - 1));
    // A number that no descriptor has shows that the host is not in the table.
    if (at >= this.#descriptors.length) return ABSENT;
    const note = value >>> this.#descriptorBits;
    this.count = note & ((1 << this.#countBits) - 1);
    this.period = note >>> this.#countBits;
    return at;
  }

  /** Asks for the name that a separator and a star end. */
  #askAny(
    a: number,
    b: number,
    separator: number,
    asksRows: boolean,
    asksVoids: boolean,
    width: number,
  ): number {
    const nameA = extendA(extendA(a, separator), STAR);
    return this.#ask(nameA, extendB(extendB(b, separator), STAR), asksRows, asksVoids, width);
  }

  /** 1 if a row is there, VOID for a void, else ABSENT or NOT_LOADED. */
  #ask(a: number, b: number, asksRows: boolean, asksVoids: boolean, width: number): number {
    const low = finishLow(a, b);
    const high = finishHigh(b, low);
    if (asksRows && this.#asksRows) {
      const bits = bitsOf(width, high);
      if (bits === 0) return 1;
      const value = this.#value(bits * SET, low, high, bits);
      if (value !== ABSENT) return value < 0 ? value : 1;
    }
    if (!asksVoids) return ABSENT;
    const value = this.#value(VOIDS * SET, low, high, MAX_BITS);
    return value < 0 ? value : VOID;
  }

  /** What a set gives a name, if it may be in it; else ABSENT or NOT_LOADED. */
  #value(set: number, low: number, high: number, checkedBits: number): number {
    const tables = this.#tables;
    const shardCount = tables[set + 1];
    if (shardCount === 0) return ABSENT;
    const shard = tables[set] + shardOf(low, shardCount);
    const at = FIRST_SHARD + SHARD * shard;
    if (tables[at + SHARD_IS_LOADED] === 0 && !this.#loadAtOnce(shard)) return NOT_LOADED;
    const check = fingerprint(low, high);
    const bits = tables[set + 2];
    return ribbonValue(this.#words, tables, at, bits, low, high, checkedBits, check);
  }

  #loadAtOnce(shard: number): boolean {
    if (this.#read === undefined) {
      this.neededShard = shard;
      return false;
    }
    const { offset, length } = this.extent(shard);
    this.load(shard, this.#read(offset, length));
    return true;
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
