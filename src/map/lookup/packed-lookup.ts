import type { ByteSource } from "../../bytes/byte-source.ts";
import { MementoMapError } from "../../errors.ts";
import { checkSignal } from "../../interruption.ts";
import { readHead } from "../../packed/check-packed.ts";
import { headersOf, type PackedHead, parseHead } from "../../packed/packed-file.ts";
import {
  NAME,
  OUTCOME,
  type Outcome,
  PackedNames,
  type ReadBytes,
} from "../../packed/packed-map.ts";
import { surtKey } from "../../surt/key.ts";
import { surtKeyBytes } from "../../surt/key-bytes.ts";
import { surt as surtOf, surtBytes } from "../../surt/uri-to-surt.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import type { Answer, KeyAnswer, LookupOptions, MapLookup } from "./map-lookup.ts";

const encoder = new TextEncoder();
/** Longer URIs take the way over text. */
const FAST_URI_LENGTH = 2048;
/** Room for the URI that is looked up at once, and its SURT; one for all maps. */
const URI = new Uint8Array(FAST_URI_LENGTH);
const SURT = new Uint8Array(3 * FAST_URI_LENGTH + 64);

/** What a packed map does not know: how many captures there are. */
const UNKNOWN = "/";

/**
 * A packed map. It says of a URI what the map says that it was made from, or by mistake "present"; it has
 * no times, so the time asked for does not matter. The frequency is an upper bound: that of the host.
 *
 * Reads the header when it is opened, and shards when they are asked for; each is checked then.
 */
export class PackedLookup implements MapLookup {
  readonly headers: UkvsHeaders;
  readonly names: PackedNames;
  readonly #source: ByteSource | undefined;
  /** The key that was asked last, in bytes. */
  #key: Uint8Array = new Uint8Array(1024);
  /** Shards on their way. */
  readonly #loading = new Map<number, Promise<void>>();

  private constructor(names: PackedNames, source: ByteSource | undefined) {
    this.names = names;
    this.headers = headersOf(names.head.header);
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
    const head = await readHead(source, options);
    return new PackedLookup(namesOf(head, source.name, options.read), source);
  }

  /** Takes the bytes of a packed map, and checks all of them. */
  static of(bytes: Uint8Array, source: string): PackedLookup {
    const head = parseHead(bytes, bytes.length, source);
    const data = new Uint32Array((head.size - head.dataStart) / 4);
    new Uint8Array(data.buffer).set(bytes.subarray(head.dataStart));
    return new PackedLookup(new PackedNames(head, source, { data }), undefined);
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
    const names = new PackedNames(parseHead(bytes, bytes.length, source), source);
    let sincePause = 0;
    for (const shard of names.head.shards.keys()) {
      const { offset, length } = names.extent(shard);
      names.load(shard, bytes.subarray(offset, offset + length));
      sincePause += length;
      if (sincePause < SLICE_BYTES) continue;
      sincePause = 0;
      await pause();
    }
    return new PackedLookup(names, undefined);
  }

  /** Names of pages and wildcards. */
  get keyCount(): number {
    return this.names.head.header.rows;
  }

  /** Bytes of the file. */
  get size(): number {
    return this.names.head.size;
  }

  /** Most captures that the host of the last key has; -1 where that is not known. */
  get mostCaptures(): number {
    const { count: bits, step } = this.names.head.header.table;
    const { count } = this.names;
    if (bits === 0 || count < 0) return -1;
    return 2 ** Math.min(MAX_COUNT_BITS, step * (count + 1)) - 1;
  }

  /** Finds the name that decides about a SURT, at once. All of the map must be in memory. */
  findSurt(surt: Uint8Array): Outcome {
    const end = this.#writeKey(surt);
    return this.names.find(this.#key, 0, end);
  }

  /** What the map says about a SURT, at once. All of it must be in memory. */
  answerSurt(surt: Uint8Array): Answer {
    const end = this.#writeKey(surt);
    return this.answer(this.names.find(this.#key, 0, end), this.#key, 0, end);
  }

  /** A packed map has no times: what it says of all time, it says of every period. */
  isPresentDuring(surt: Uint8Array): boolean {
    return this.findSurt(surt) === OUTCOME.present;
  }

  /** Whether a URI is present, at once. All of the map must be in memory. */
  isPresent(uri: string): boolean {
    if (uri.length > FAST_URI_LENGTH) return this.isPresentDuring(encoder.encode(surtOf(uri)));
    const { read, written } = encoder.encodeInto(uri, URI);
    // The bytes of a SURT are those of its URI, for ASCII.
    if (read !== written) return this.isPresentDuring(encoder.encode(surtOf(uri)));
    const end = surtBytes(URI, 0, written, SURT, 0);
    return this.isPresentDuring(SURT.subarray(0, end));
  }

  #writeKey(surt: Uint8Array): number {
    const room = 3 * surt.length + 1;
    if (this.#key.length < room) this.#key = new Uint8Array(2 * room);
    return surtKeyBytes(surt, 0, surt.length, this.#key, 0, this.names.head.header);
  }

  lookup(uri: string, options: LookupOptions = {}): Promise<Answer> {
    return this.lookupSurt(surtOf(uri), options);
  }

  async lookupSurt(surt: string, options: LookupOptions = {}): Promise<Answer> {
    const { queries } = this.names.head.header;
    const key = encoder.encode(surtKey(surt, { queries }));
    return this.#answerKey(key, options.signal);
  }

  /** The answer that the last key got. */
  answer(outcome: Outcome, key: Uint8Array, start: number = 0, end: number = key.length): Answer {
    if (outcome !== OUTCOME.present && outcome !== OUTCOME.void) return { present: false };
    const { name, nameEnd, distance } = this.names;
    const first = decoder.decode(key.subarray(start, nameEnd));
    const path = (): string => decoder.decode(key.subarray(key.indexOf(CLOSE_PAREN, start), end));
    const text = {
      [NAME.exact]: () => first,
      [NAME.anyQuery]: () => `${first}?*`,
      [NAME.below]: () => `${first}/*`,
      [NAME.hostsBelow]: () => `${first},*`,
      [NAME.spread]: () => `${first},*${path()}`,
      [NAME.spreadAnyQuery]: () => `${first},*${path().replace(/\?.*$/, "")}?*`,
    }[name]();
    const present = outcome === OUTCOME.present;
    return { present, key: text, frequency: present ? this.#frequency() : "0", distance };
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
  async #answerKey(key: Uint8Array, signal: AbortSignal | undefined): Promise<Answer> {
    for (;;) {
      checkSignal(signal);
      const outcome = this.names.find(key, 0, key.length);
      if (outcome !== OUTCOME.unloaded) return this.answer(outcome, key);
      await this.#load(this.names.neededShard, signal);
    }
  }

  /** Loads a shard; who asks for one that is on its way waits for it. */
  #load(shard: number, signal: AbortSignal | undefined): Promise<void> {
    const source = this.#source;
    if (source === undefined) throw new Error("a packed map in memory has all shards");
    let loading = this.#loading.get(shard);
    if (loading === undefined) {
      const { offset, length } = this.names.extent(shard);
      loading = source
        .read(offset, length, signal)
        .then((bytes) => {
          this.names.load(shard, bytes);
        })
        .finally(() => this.#loading.delete(shard));
      this.#loading.set(shard, loading);
    }
    return loading;
  }
}

/** @throws MM_LIMIT for more data than memory can have room for: servers may state any size. */
function namesOf(head: PackedHead, source: string, read: ReadBytes | undefined): PackedNames {
  try {
    return new PackedNames(head, source, { read });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new MementoMapError("MM_LIMIT", `the packed map is too large: ${head.size} bytes`, {
      position: { source },
      cause: error,
    });
  }
}

/** Larger counts are not exact numbers. */
const MAX_COUNT_BITS = 53;
/** A few milliseconds of work. */
const SLICE_BYTES = 256 * 1024;
const CLOSE_PAREN = 0x29;
const decoder = new TextDecoder();
