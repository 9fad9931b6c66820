import type { ByteSource } from "../bytes/byte-source.ts";
import { CLOSE_PAREN, COMMA, QUESTION, SLASH, STAR, ZERO } from "../bytes/bytes.ts";
import { MementoMapError } from "../errors.ts";
import { checkSignal } from "../interruption.ts";
import { ABSENT, Filters, UNLOADED } from "../packed/filters.ts";
import { finishHigh, finishLow, NameHash } from "../packed/name-hash.ts";
import {
  FLAG,
  headersOf,
  MAX_DEPTH,
  type PackedHead,
  type PackedHeader,
  parseHead,
} from "../packed/packed-file.ts";
import { readHead } from "../packed/read-packed.ts";
import { FORM, type Form, MISSING, NONE } from "../surt/covering-keys.ts";
import type { Key } from "../surt/lookup-key.ts";
import type { UkvsHeaders } from "../ukvs/header.ts";
import { SourceLookup } from "./map-lookup.ts";
import type { Held, Verdict } from "./source.ts";

/** Offsets of the fields of a descriptor, and its size. */
const EXACT = 0;
const WILDCARDS = 1;
const FLAGS = 2;
const WIDTH = 3;
const DESCRIPTOR = 4;

/** Results of `ask`: a void, or a row. */
const VOID_HIT = 0;
const ROW_HIT = 1;

/** A few milliseconds of work. */
const SLICE_BYTES = 256 * 1024;

/**
 * Hash states for the names that cover a key. These names share prefixes of the key, so one pass over it
 * yields all states. Shared by all maps.
 */
class KeyStates {
  /** The key object last read; its contents may have changed since. */
  #key: Key | undefined;
  #isPathRead = false;
  /** By depth, the state after each folder; at 0 after the host and its parenthesis. */
  readonly folders: NameHash[] = [new NameHash()];
  readonly page = new NameHash();
  /** After the page and its query. */
  readonly whole = new NameHash();

  /** Hashes the host, if the key has one. */
  readHost(key: Key): NameHash {
    this.#key = key;
    this.#isPathRead = false;
    return this.folders[0].reset().extend(key.bytes, 0, key.hostEnd + 1);
  }

  readPath(key: Key): this {
    if (this.#key !== key) this.readHost(key);
    if (this.#isPathRead) return this;
    this.#isPathRead = true;
    const { bytes, depth, folderEnds, pageEnd, length } = key;
    const { folders } = this;
    let state = folders[0];
    let at = key.hostEnd + 1;
    for (let folder = 1; folder <= depth; folder++) {
      if (folder === folders.length) folders.push(new NameHash());
      const end = folderEnds[folder];
      state = folders[folder].resume(state).extend(bytes, at, end);
      at = end;
    }
    this.page.resume(state).extend(bytes, at, pageEnd);
    this.whole.resume(this.page).extend(bytes, pageEnd, length);
    return this;
  }
}

const STATES = new KeyStates();
/** For names that are not prefixes of the key. */
const NAME = new NameHash();

/**
 * A packed map: filters are queried for the names that cover a key. There are false positives but no false
 * negatives. Periods are ignored.
 *
 * Reserves a buffer of the size of the file; only shards that were loaded take memory.
 */
export class PackedLookup extends SourceLookup {
  readonly head: PackedHead;
  readonly headers: UkvsHeaders;
  readonly readsQueries: boolean;
  readonly filters: Filters;
  readonly #source: ByteSource | undefined;
  readonly #descriptors: Uint8Array;
  readonly #hasTable: boolean;
  readonly #descriptorBits: number;
  // Masks of a key.
  readonly #spreads: number;
  readonly #hostsBelow: number;
  /** Shards in flight, by their number. */
  readonly #loading = new Map<number, Promise<void>>();

  private constructor(head: PackedHead, filters: Filters, source?: ByteSource) {
    super();
    const { header, descriptors } = head;
    this.head = head;
    this.headers = headersOf(header);
    this.readsQueries = header.queries;
    this.filters = filters;
    this.#source = source;
    this.#descriptors = Uint8Array.from(
      descriptors.flatMap(({ exact, wildcards, flags, width }) => [exact, wildcards, flags, width]),
    );
    this.#hasTable = header.table.fingerprint > 0;
    this.#descriptorBits = header.table.descriptor;
    this.#spreads = labelMask(header.hostSpreads);
    this.#hostsBelow = labelMask(header.hostWildcards);
  }

  /**
   * Opens a packed map in a source with random access; shards are loaded on demand.
   *
   * @throws MM_BAD_INPUT if it is damaged or not a packed map; MM_CUT; MM_LIMIT; MM_IO
   */
  static async open(
    source: ByteSource,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<PackedLookup> {
    checkSignal(signal);
    const head = await readHead(source, { signal });
    try {
      return new PackedLookup(head, new Filters(head, source.name), source);
    } catch (cause) {
      // Servers may state any size.
      if (!(cause instanceof RangeError)) throw cause;
      throw new MementoMapError("MM_LIMIT", `the packed map is too large: ${head.end} bytes`, {
        position: { source: source.name },
        cause,
      });
    }
  }

  /** Opens a packed map in memory and checks all of it. @throws as `open` */
  static of(bytes: Uint8Array, source: string): PackedLookup {
    const head = parseHead(bytes, bytes.length, source);
    const data = new Uint32Array((head.end - head.dataStart) / 4);
    new Uint8Array(data.buffer).set(bytes.subarray(head.dataStart, head.end));
    return new PackedLookup(head, new Filters(head, source, data));
  }

  /** As `of`, without blocking the event loop: `pause` is awaited every few milliseconds. */
  static async ofInSlices(
    bytes: Uint8Array,
    { source, pause }: { readonly source: string; readonly pause: () => Promise<void> },
  ): Promise<PackedLookup> {
    const head = parseHead(bytes, bytes.length, source);
    const filters = new Filters(head, source);
    let sincePause = 0;
    for (let shard = 0; shard < filters.shardCount; shard++) {
      const { offset, length } = filters.extent(shard);
      filters.load(shard, bytes.subarray(offset, offset + length));
      sincePause += length;
      if (sincePause < SLICE_BYTES) continue;
      sincePause = 0;
      await pause();
    }
    return new PackedLookup(head, filters);
  }

  get header(): PackedHeader {
    return this.head.header;
  }

  get ownRows(): this {
    return this;
  }

  get hasQueries(): boolean {
    return this.header.queries;
  }

  /** Number of pages and wildcards. */
  get keyCount(): number {
    return this.header.rows;
  }

  /** Bytes of the file. */
  get size(): number {
    return this.head.end;
  }

  /** Whether the map is empty. A host that is held as a whole has no row. */
  get isEmpty(): boolean {
    return this.header.rows + this.header.hosts === 0;
  }

  open(key: Key): number {
    const host = this.#host(STATES.readHost(key));
    if (host === UNLOADED) return MISSING;
    key.host = host;
    key.spreads = this.#spreads;
    key.hostsBelow = this.#hostsBelow;
    key.below = 0;
    if (host === ABSENT) return (this.#spreads | this.#hostsBelow) === 0 ? NONE : 0;
    const at = this.#placeOf(host);
    const descriptors = this.#descriptors;
    const flags = descriptors[at + FLAGS];
    // The last of eight bits stands for all greater depths.
    key.below = (flags & FLAG.voids) !== 0 ? -1 : (descriptors[at + WILDCARDS] << 24) >> 24;
    if ((flags & FLAG.all) !== 0) key.below |= 1;
    return 0;
  }

  ask(key: Key, form: Form, index: number): number {
    const found =
      form === FORM.below
        ? this.#askFolder(key, index)
        : form < FORM.below
          ? this.#askPage(key, form)
          : this.#askAbove(key, form, index);
    return found === ABSENT ? NONE : found === UNLOADED ? MISSING : found;
  }

  /** A packed map does not state frequencies. */
  answer(_key: Key, hit: number, into: Verdict): void {
    into.present = hit === ROW_HIT;
    into.bytes = hit === ROW_HIT ? UNKNOWN : NOTHING;
    into.start = 0;
    into.end = 1;
  }

  /** Loads the missing shard, or waits for it if it is in flight. */
  load(_held: Held, signal?: AbortSignal): Promise<void> {
    const source = this.#source;
    if (source === undefined) throw new Error("all shards of a packed map in memory are loaded");
    const shard = this.filters.missingShard;
    let loading = this.#loading.get(shard);
    if (loading === undefined) {
      const { offset, length } = this.filters.extent(shard);
      loading = source
        .read(offset, length, signal)
        .then((bytes) => this.filters.load(shard, bytes))
        .finally(() => this.#loading.delete(shard));
      this.#loading.set(shard, loading);
    }
    return loading;
  }

  /** Looks up the key with its query, without it, or with any query. */
  #askPage(key: Key, form: Form): number {
    const { host } = key;
    if (host === ABSENT) return ABSENT;
    const { page, whole } = STATES.readPath(key);
    const at = this.#placeOf(host);
    const flags = this.#descriptors[at + FLAGS];
    const hasHost = key.hostEnd >= 0;
    // Keys without a host are stored as rows of depth 1 of a host with an empty name.
    const depth = hasHost ? key.depth : 1;
    const isExact = (this.#descriptors[at + EXACT] & bitOfDepth(depth)) !== 0;
    const mayBeVoid = (flags & FLAG.voids) !== 0;
    if (form === FORM.anyQuery) {
      const isRow = hasHost ? (flags & FLAG.anyQuery) !== 0 : isExact;
      return this.#ask(anyBehind(page, QUESTION), isRow, mayBeVoid, host);
    }
    const hasQuery = key.pageEnd < key.length;
    if (!hasQuery && depth === 0 && (flags & FLAG.home) !== 0) return ROW_HIT;
    const isRow = hasQuery && hasHost ? (flags & FLAG.query) !== 0 : isExact;
    return this.#ask(whole, isRow, mayBeVoid, host);
  }

  #askFolder(key: Key, folder: number): number {
    const { host } = key;
    const at = this.#placeOf(host);
    const flags = this.#descriptors[at + FLAGS];
    if (folder === 0 && (flags & FLAG.all) !== 0) return ROW_HIT;
    const isRow = (this.#descriptors[at + WILDCARDS] & bitOfDepth(folder)) !== 0;
    const name = anyBehind(STATES.readPath(key).folders[folder], SLASH);
    return this.#ask(name, isRow, (flags & FLAG.voids) !== 0, host);
  }

  /** Looks up `X,*)/path` or `X,*`. */
  #askAbove(
    { bytes, labelEnds, hostEnd, pageEnd, length }: Key,
    form: Form,
    label: number,
  ): number {
    const name = anyBehind(NAME.reset().extend(bytes, 0, labelEnds[label]), COMMA);
    if (form === FORM.hostsBelow) {
      if (!this.#hasTable) return this.#ask(name, true, true, 0);
      if (this.#isVoid(name)) return VOID_HIT;
      const domain = this.#host(name);
      return domain < 0 ? domain : ROW_HIT;
    }
    const domain = this.#host(name.extendByte(CLOSE_PAREN));
    if (domain === UNLOADED) return UNLOADED;
    name.extend(bytes, hostEnd + 1, form === FORM.spread ? length : pageEnd);
    if (form === FORM.spreadAnyQuery) anyBehind(name, QUESTION);
    return this.#ask(name, domain >= 0, true, Math.max(0, domain));
  }

  /** The value of a host in the table, not negative; ABSENT or UNLOADED. */
  #host({ a, b }: NameHash): number {
    // Without a table all hosts have one descriptor.
    if (!this.#hasTable) return 0;
    const low = finishLow(a, b);
    const value = this.filters.host(low, finishHigh(b, low));
    // A value without a descriptor is a false positive: the host is not in the table.
    return value >= 0 && this.#placeOf(value) >= this.#descriptors.length ? ABSENT : value;
  }

  /** Offset of the descriptor of a host. */
  #placeOf(host: number): number {
    return DESCRIPTOR * (host & ((1 << this.#descriptorBits) - 1));
  }

  /** A hit, ABSENT or UNLOADED. */
  #ask(name: NameHash, isRow: boolean, mayBeVoid: boolean, host: number): number {
    if (mayBeVoid && this.#isVoid(name)) return VOID_HIT;
    if (!isRow) return ABSENT;
    const width = this.#descriptors[this.#placeOf(host) + WIDTH];
    const low = finishLow(name.a, name.b);
    const found = this.filters.row(low, finishHigh(name.b, low), width);
    return found < 0 ? found : ROW_HIT;
  }

  #isVoid({ a, b }: NameHash): boolean {
    if (this.header.voids === 0) return false;
    const low = finishLow(a, b);
    return this.filters.isVoid(low, finishHigh(b, low));
  }
}

/** The name followed by a separator and `*`; valid until the next call. */
function anyBehind(state: NameHash, separator: number): NameHash {
  return NAME.resume(state).extendByte(separator).extendByte(STAR);
}

/** The bit of a depth in a descriptor; the last one stands for all greater depths. */
function bitOfDepth(depth: number): number {
  return 1 << (depth < MAX_DEPTH ? depth : MAX_DEPTH);
}

/** Frequencies of rows, which are unknown, and of voids. */
const UNKNOWN = Uint8Array.of(SLASH);
const NOTHING = Uint8Array.of(ZERO);

/** Converts label counts, as bits from 1, to a mask of a key, whose labels are counted from 0. */
function labelMask(counts: number): number {
  // The last bit stands for all greater counts.
  return (counts >>> 1) | (counts & 0x80000000);
}
