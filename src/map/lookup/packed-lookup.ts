import type { ByteSource } from "../../bytes/byte-source.ts";
import { COMMA, copyRange, QUESTION, SLASH, STAR } from "../../bytes/bytes.ts";
import { MementoMapError } from "../../errors.ts";
import { checkSignal } from "../../interruption.ts";
import { headersOf, type PackedHead, type PackedHeader } from "../../packed/packed-file.ts";
import {
  NAME,
  OUTCOME,
  type Outcome,
  PackedNames,
  type ReadBytes,
} from "../../packed/packed-map.ts";
import { parseParts, readParts } from "../../packed/packed-parts.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import { type DatetimeRange, overlap } from "../../ukvs/record.ts";
import { PackedKey } from "./packed-key.ts";
import {
  type Answer,
  type KeyAnswer,
  lookupPeriod,
  type LookupOptions,
  type MapLookup,
} from "./map-lookup.ts";

const encoder = new TextEncoder();
/** The key of lookups that are answered at once; one for all maps. */
const KEY = new PackedKey();

/** What a packed map does not know: how many captures there are. */
const UNKNOWN = "/";

/**
 * A packed map. It says of a URI what the map says that it was made from, or by mistake "present". Of times it
 * knows at most the first and the last year of a host. The frequency is an upper bound: that of the host.
 *
 * Deltas may follow it in its file: what it or any of them calls present is present.
 *
 * Reads the header when it is opened, and shards when they are asked for; each is checked then.
 */
export class PackedLookup implements MapLookup {
  readonly headers: UkvsHeaders;
  /** The header of the newest part. */
  readonly header: PackedHeader;
  /** The names of the whole map that deltas follow. */
  readonly names: PackedNames;
  readonly #deltas: readonly PackedNames[];
  readonly #source: ByteSource | undefined;
  /** The part that decided about the last key, or that lacks a shard. */
  #deciding: PackedNames;
  /** The key that was asked last. */
  #key: PackedKey = KEY;
  /** Shards on their way, by where they are in the file. */
  #loading: Map<number, Promise<void>> | undefined;

  private constructor(parts: readonly PackedNames[], source: ByteSource | undefined) {
    [this.names, ...this.#deltas] = parts;
    this.#deciding = this.names;
    this.header = parts[parts.length - 1].head.header;
    this.headers = headersOf(this.header);
    this.#source = source;
  }

  /**
   * Opens a packed map that can be read at random.
   *
   * @param read the same bytes at once, where that is possible.
   * @throws MM_BAD_INPUT for what is not a packed map, or damaged; MM_CUT; MM_IO
   */
  static async open(
    source: ByteSource,
    options: {
      readonly signal?: AbortSignal | undefined;
      readonly read?: ReadBytes | undefined;
    } = {},
  ): Promise<PackedLookup> {
    checkSignal(options.signal);
    const { heads } = await readParts(source, options);
    const parts = heads.map((head) => namesOf(head, source.name, options.read));
    return new PackedLookup(parts, source);
  }

  /** Takes the bytes of a packed map, and checks all of them. */
  static of(bytes: Uint8Array, source: string): PackedLookup {
    const { heads } = parseParts(bytes, source);
    const parts = heads.map((head) => PackedNames.copied(bytes, head, source));
    return new PackedLookup(parts, undefined);
  }

  /** As `of`, for bytes at a multiple of four, which it goes on to use: they must not change. */
  static within(bytes: Uint8Array, source: string): PackedLookup {
    const { heads } = parseParts(bytes, source);
    const parts = heads.map((head) => PackedNames.within(bytes, head, source));
    return new PackedLookup(parts, undefined);
  }

  /**
   * As `of`, for programs that may not stand still: `pause` is awaited every few milliseconds.
   *
   * @throws as `of`.
   */
  static async ofInSlices(
    bytes: Uint8Array,
    { source, pause }: { readonly source: string; readonly pause: () => Promise<void> },
  ): Promise<PackedLookup> {
    const parts = parseParts(bytes, source).heads.map((head) => new PackedNames(head, source));
    let sincePause = 0;
    for (const names of parts) {
      for (let shard = 0; shard < names.shardCount; shard++) {
        const { offset, length } = names.extent(shard);
        names.load(shard, bytes.subarray(offset, offset + length));
        sincePause += length;
        if (sincePause < SLICE_BYTES) continue;
        sincePause = 0;
        await pause();
      }
    }
    return new PackedLookup(parts, undefined);
  }

  /** Names of pages and wildcards. */
  get keyCount(): number {
    return this.#headers.reduce((sum, { rows }) => sum + rows, 0);
  }

  /** Whether nothing is in it. A host that is held as a whole takes no row. */
  get isEmpty(): boolean {
    return this.#headers.every(({ rows, hosts }) => rows + hosts === 0);
  }

  get #headers(): PackedHeader[] {
    return [this.names, ...this.#deltas].map(({ head }) => head.header);
  }

  /** Bytes of the file. */
  get size(): number {
    return (this.#deltas.at(-1) ?? this.names).head.end;
  }

  /** How far above the last key the name is that decided, as `lookupKeys` counts. */
  get distance(): number {
    return this.#deciding.distance;
  }

  /**
   * Most captures that the host of the last key has: the largest number of those that the parts of
   * the map state; -1 where none does.
   */
  get mostCaptures(): number {
    let most = mostCapturesIn(this.names);
    for (const delta of this.#deltas) {
      delta.findKey(this.#key.hashes);
      most = Math.max(most, mostCapturesIn(delta));
    }
    return most;
  }

  /** Finds the name that decides about a SURT, at once. All of the map must be in memory. */
  findSurt(surt: Uint8Array): Outcome {
    return this.findKey(KEY.ofSurt(surt, 0, surt.length, this.header));
  }

  /** Finds the name that decides about a URI, at once. All of the map must be in memory. */
  findUri(uri: string): Outcome {
    return this.findKey(KEY.ofUri(uri, this.header));
  }

  /** What the map says about a SURT, at once. All of it must be in memory. */
  answerSurt(surt: Uint8Array): Answer {
    return this.#answer(this.findSurt(surt));
  }

  /**
   * Finds the name that decides about a key, and asks the parts up to the first that says present. The
   * key must not change as long as anything else about it is asked for.
   *
   * @returns `unloaded` where a shard must be loaded first.
   */
  findKey(key: PackedKey): Outcome {
    this.#key = key;
    this.#deciding = this.names;
    const first = this.names.findKey(key.hashes);
    return first === OUTCOME.present || first === OUTCOME.unloaded || this.#deltas.length === 0
      ? first
      : this.#findInDeltas(first);
  }

  #findInDeltas(first: Outcome): Outcome {
    for (const delta of this.#deltas) {
      const outcome = delta.findKey(this.#key.hashes);
      if (outcome !== OUTCOME.present && outcome !== OUTCOME.unloaded) continue;
      this.#deciding = delta;
      return outcome;
    }
    return first;
  }

  /** As {@link findKey}; `unloaded` unless all that the answer takes is loaded. */
  findLoaded(key: PackedKey): Outcome {
    const outcome = this.findKey(key);
    if (outcome === OUTCOME.unloaded) return outcome;
    // What deltas state about the host is asked for when the answer is made.
    for (const delta of this.#deltas) {
      if (delta.findKey(key.hashes) !== OUTCOME.unloaded) continue;
      this.#deciding = delta;
      return OUTCOME.unloaded;
    }
    return outcome;
  }

  /** Writes the name that decided about the last key to `target` at `at`; returns where it ends. */
  writeName(target: Uint8Array, at: number): number {
    const { name, nameEnd } = this.#deciding;
    const { bytes, hostEnd, queryStart, end } = this.#key.hashes;
    let to = copyRange(bytes, 0, nameEnd, target, at);
    if (name === NAME.exact) return to;
    if (name === NAME.below) return writeAny(SLASH, target, to);
    if (name === NAME.anyQuery) return writeAny(QUESTION, target, to);
    to = writeAny(COMMA, target, to);
    if (name === NAME.hostsBelow) return to;
    if (name === NAME.spread) return copyRange(bytes, hostEnd, end, target, to);
    return writeAny(QUESTION, target, copyRange(bytes, hostEnd, queryStart, target, to));
  }

  /**
   * The first and the last year that the host of the last key has something of; undefined where the map does not
   * say. With deltas it does not: they have only what is new.
   */
  get years(): readonly [first: number, last: number] | undefined {
    return this.#deltas.length === 0 ? this.header.periods?.[this.names.period] : undefined;
  }

  /** Whether a SURT is present in some year of a period, as far as the map knows years; default at any time. */
  isPresentDuring(surt: Uint8Array, period: DatetimeRange = {}): boolean {
    return this.findSurt(surt) === OUTCOME.present && this.#mayBeOf(period);
  }

  /** Whether the host of the last key may have something of a period. */
  #mayBeOf(period: DatetimeRange): boolean {
    const { years } = this;
    if (years === undefined) return true;
    const [from, until] = years.map((year) => String(year).padStart(4, "0"));
    return overlap({ from, until }, period);
  }

  /** Whether a URI is present, at once. All of the map must be in memory. */
  isPresent(uri: string): boolean {
    return this.findUri(uri) === OUTCOME.present;
  }

  lookup(uri: string, options: LookupOptions = {}): Promise<Answer> {
    return this.#answerKey(KEY.ofUri(uri, this.header), options);
  }

  lookupSurt(surt: string, options: LookupOptions = {}): Promise<Answer> {
    const bytes = encoder.encode(surt);
    return this.#answerKey(KEY.ofSurt(bytes, 0, bytes.length, this.header), options);
  }

  /** The answer that the last key got. */
  #answer(outcome: Outcome): Answer {
    if (outcome !== OUTCOME.present && outcome !== OUTCOME.void) return { present: false };
    const { distance } = this.#deciding;
    const name = new Uint8Array(this.#key.hashes.end + 8);
    const key = decoder.decode(name.subarray(0, this.writeName(name, 0)));
    if (outcome === OUTCOME.void) return { present: false, key, frequency: "0", distance };
    const { years } = this;
    const answer = { present: true, key, frequency: this.#frequency(), distance };
    return years === undefined ? answer : { ...answer, years };
  }

  /** A packed map cannot be asked for single rows: what it says of the key is what it says of a page. */
  async find(key: string, options: LookupOptions = {}): Promise<KeyAnswer | undefined> {
    const { present, key: found, frequency } = await this.lookupSurt(key, options);
    if (found !== key || frequency === undefined) return undefined;
    return { present, decides: true, key: found, frequency };
  }

  #frequency(): string {
    const { mostCaptures } = this;
    return mostCaptures < 0 ? UNKNOWN : `${mostCaptures}-`;
  }

  /** Makes the answer at once when it is found: other lookups may be under way. */
  async #answerKey(key: PackedKey, { at, signal }: LookupOptions): Promise<Answer> {
    const period = lookupPeriod(at);
    let asked = key;
    for (;;) {
      checkSignal(signal);
      const outcome = this.findLoaded(asked);
      if (outcome !== OUTCOME.unloaded) {
        const isApart =
          outcome === OUTCOME.present && period !== undefined && !this.#mayBeOf(period);
        return isApart ? { present: false } : this.#answer(outcome);
      }
      if (asked === KEY) asked = key.copy();
      await this.load(signal);
    }
  }

  /** Loads the shard that the last key lacks; who asks for one that is on its way waits for it. */
  load(signal?: AbortSignal): Promise<void> {
    const source = this.#source;
    const names = this.#deciding;
    if (source === undefined) throw new Error("a packed map in memory has all shards");
    const shard = names.neededShard;
    const { offset, length } = names.extent(shard);
    this.#loading ??= new Map();
    const underWay = this.#loading;
    let loading = underWay.get(offset);
    if (loading === undefined) {
      loading = source
        .read(offset, length, signal)
        .then((bytes) => {
          names.load(shard, bytes);
        })
        .finally(() => underWay.delete(offset));
      underWay.set(offset, loading);
    }
    return loading;
  }
}

/** Most captures of the host that a part was asked for last; -1 where it does not state any. */
export function mostCapturesIn({ head, count }: PackedNames): number {
  const { count: bits, step } = head.header.table;
  if (bits === 0 || count < 0) return -1;
  return 2 ** Math.min(MAX_COUNT_BITS, step * (count + 1)) - 1;
}

/** @throws MM_LIMIT for more data than memory can have room for: servers may state any size. */
function namesOf(head: PackedHead, source: string, read: ReadBytes | undefined): PackedNames {
  try {
    return new PackedNames(head, source, { read });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new MementoMapError("MM_LIMIT", `the packed map is too large: ${head.end} bytes`, {
      position: { source },
      cause: error,
    });
  }
}

/** Larger counts are not exact numbers. */
const MAX_COUNT_BITS = 53;
/** A few milliseconds of work. */
const SLICE_BYTES = 256 * 1024;
const decoder = new TextDecoder();

function writeAny(separator: number, target: Uint8Array, at: number): number {
  target[at] = separator;
  target[at + 1] = STAR;
  return at + 2;
}
