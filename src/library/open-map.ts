import type { ByteSource } from "../bytes/byte-source.ts";
import { MemorySource, sourceChunks } from "../bytes/byte-source.ts";
import { isPacked, PACKED_MAGIC, recognizeCompression } from "../bytes/bytes.ts";
import { compareMaps } from "../maps/compare/compare-maps.ts";
import type { MapComparison } from "../maps/compare/comparison.ts";
import { isMementoMapError, MementoMapError } from "../errors.ts";
import { interruptible, type SignalOption } from "../interruption.ts";
import { type Answer, type LookupOptions, type SourceLookup } from "../lookup/map-lookup.ts";
import { MapExplorer } from "../maps/explore/map-explorer.ts";
import type { MapSlice, SliceOptions } from "../maps/explore/map-slice.ts";
import { packedHoldings, type PackedHoldings } from "../maps/explore/packed-holdings.ts";
import { MapSearch } from "../lookup/map-search.ts";
import { MemoryIndex } from "../lookup/memory-index.ts";
import { PackedLookup } from "../lookup/packed-lookup.ts";
import { openRemoteMap } from "../publish/fetch/remote-map.ts";
import { readUkvs } from "../ukvs/reader.ts";
import type { UkvsHeaders } from "../ukvs/header.ts";
import {
  type Bytes,
  BlobSource,
  bytesOf,
  nameOf,
  placeOf,
  type Platform,
  type Source,
} from "./source.ts";

/** How a map is opened. */
export interface OpenMapOptions {
  /**
   * Whether to hold the map in memory with an index over it, for many lookups. By default a map is
   * searched where it is, if it can be read at random: a file, a `Blob`, a server that answers `Range`
   * requests. All others are held in memory.
   */
  readonly inMemory?: boolean | undefined;
  /**
   * Whether to ask an address for the packed form of its map, where it has one; default false. Without effect on what
   * is held in memory.
   */
  readonly packed?: boolean | undefined;
  /** Ends opening with MM_INTERRUPTED when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** One row of a map. */
export interface MapRow {
  /** A SURT, or the beginning of SURTs with a wildcard: `com,example)/a/*`. */
  readonly key: string;
  /** The period that the row is about, where the map has rows for periods. */
  readonly datetime?: string;
  /** As the map writes it: how many mementos, and perhaps of how many originals; 0 for a void. */
  readonly frequency: string;
  /** The JSON block of the row. */
  readonly json?: Readonly<Record<string, unknown>>;
}

/** A map that can be asked. Close it after use, or open it with `await using`. */
export interface MementoMap extends AsyncIterable<MapRow>, AsyncDisposable {
  /** What the map says about itself: `headers.id`, `headers.meta`, `headers.fields`. */
  readonly headers: UkvsHeaders;
  /** Whether the archive may hold a URI. `false` is certain, unless the map is a sample. */
  has(uri: string, options?: LookupOptions): Promise<boolean>;
  /** What the map says about a URI: present or not, and which key decided. */
  lookup(uri: string, options?: LookupOptions): Promise<Answer>;
  /** The answers for many URIs, in their order; several are looked up at a time. */
  lookupMany(
    uris: Iterable<string> | AsyncIterable<string>,
    options?: LookupOptions,
  ): AsyncGenerator<Answer, void, undefined>;
  /**
   * A part of the map and its children: top-level domains, domains, hosts, paths. Of a packed map, what
   * it tells of its holdings. The map is read through once, at the first call.
   */
  explore(options?: SliceOptions): Promise<MapSlice | PackedHoldings>;
  /**
   * What this map and up to seven others have in common, and what only one holds: keys of pages, domains. A map
   * that has no row for a page, but a wildcard that covers it, may hold it. Reads all of them once, and holds
   * lists of fixed length. The result calls this map `name`, and the others as they are given.
   *
   * @throws MM_USAGE for packed maps, whose names are hashed, and for too many; MM_NOT_SORTED; MM_INTERRUPTED
   */
  compare(
    name: string,
    others: Readonly<Record<string, MementoMap>>,
    options?: SignalOption,
  ): Promise<MapComparison>;
  /** All rows, in the order of the map. `for await (const row of map)` does the same. */
  rows(options?: Pick<LookupOptions, "signal">): AsyncGenerator<MapRow, void, undefined>;
  close(): Promise<void>;
}

/** A map, however it is kept. */
interface Kept {
  readonly lookup: SourceLookup;
  readonly source: ByteSource;
  close(): Promise<void> | void;
}

/** See `openMap` of the entries. */
export function openMapOn(
  platform: Platform,
  source: Source,
  options: OpenMapOptions = {},
): Promise<MementoMap> {
  const { signal } = options;
  return interruptible(signal, async () => new OpenedMap(await keep(platform, source, options)));
}

async function keep(platform: Platform, source: Source, options: OpenMapOptions): Promise<Kept> {
  const place = placeOf(platform, source);
  if (options.inMemory !== true) {
    if (place.kind === "file") {
      const file = await platform.openFile(place.path);
      if (file !== undefined) return searched(file, () => file.close(), options);
    } else if (place.kind === "address") {
      const found = await remote(platform, place.url, options);
      if (found !== undefined) return found;
    } else if (await isPlainBlob(place.bytes)) {
      const blob = new BlobSource(place.bytes as Blob, nameOf(platform, source));
      return searched(blob, () => undefined, options);
    }
  }
  const name = nameOf(platform, source);
  const bytes = await bytesOf(platform, source, options.signal);
  const lookup = isPacked(bytes)
    ? PackedLookup.of(bytes, name)
    : MemoryIndex.build(bytes, { source: name });
  return { lookup, source: new MemorySource(bytes, name), close: () => undefined };
}

async function searched(
  source: ByteSource,
  close: () => Promise<void> | void,
  { signal }: OpenMapOptions,
): Promise<Kept> {
  try {
    const lookup = isPacked(await source.read(0, PACKED_MAGIC.length))
      ? await PackedLookup.open(source, { signal })
      : await MapSearch.open(source, { signal });
    return { lookup, source, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Undefined for a map on a server that does not answer ranges. */
async function remote(
  platform: Platform,
  url: URL,
  { packed, signal }: OpenMapOptions,
): Promise<Kept | undefined> {
  const { client, close } = platform.client(url);
  try {
    const map = await openRemoteMap(client, url.href, { packed, signal });
    return { ...map, close };
  } catch (error) {
    close();
    if (isMementoMapError(error) && error.code === "MM_REFUSED") return undefined;
    throw error;
  }
}

async function isPlainBlob(bytes: Bytes): Promise<boolean> {
  if (!(bytes instanceof Blob)) return false;
  const head = new Uint8Array(await bytes.slice(0, 4).arrayBuffer());
  return recognizeCompression(head) === undefined;
}

/** Lookups under way at a time, where they wait for a file or a server. */
const LOOKUPS_AT_A_TIME = 32;

class OpenedMap implements MementoMap {
  readonly #kept: Kept;
  #explorer: Promise<MapExplorer> | undefined;
  #isClosed = false;

  constructor(kept: Kept) {
    this.#kept = kept;
  }

  get headers(): UkvsHeaders {
    return this.#kept.lookup.headers;
  }

  async has(uri: string, options: LookupOptions = {}): Promise<boolean> {
    return (await this.lookup(uri, options)).present;
  }

  async lookup(uri: string, options: LookupOptions = {}): Promise<Answer> {
    if (this.#isClosed) throw closed();
    const answer = this.#kept.lookup.lookupNow(uri, options);
    return answer instanceof Promise ? interruptible(options.signal, () => answer) : answer;
  }

  async *lookupMany(
    uris: Iterable<string> | AsyncIterable<string>,
    options: LookupOptions = {},
  ): AsyncGenerator<Answer, void, undefined> {
    const most = this.#kept.lookup instanceof MemoryIndex ? 1 : LOOKUPS_AT_A_TIME;
    const underWay: Promise<Answer>[] = [];
    try {
      for await (const uri of uris) {
        underWay.push(this.lookup(uri, options));
        const first = underWay.length < most ? undefined : underWay.shift();
        if (first !== undefined) yield await first;
      }
      for (let next = underWay.shift(); next !== undefined; next = underWay.shift()) {
        yield await next;
      }
    } finally {
      await Promise.allSettled(underWay);
    }
  }

  async *rows({ signal }: Pick<LookupOptions, "signal"> = {}): AsyncGenerator<
    MapRow,
    void,
    undefined
  > {
    if (this.#isClosed) throw closed();
    const { source } = this.#kept;
    const chunks = sourceChunks(source, { signal });
    const reader = await readUkvs(chunks, { source: source.name, signal });
    const { keys, values } = reader.headers.fields;
    const datetimeColumn = keys.indexOf("datetime");
    const frequencyColumn = values.indexOf("frequency");
    for await (const record of reader.records()) {
      const { [datetimeColumn]: datetime } = record.keys;
      yield {
        key: record.keys[0] ?? "",
        ...(datetime === undefined ? {} : { datetime }),
        frequency: record.values[frequencyColumn] ?? "",
        ...(record.json === undefined ? {} : { json: record.json }),
      };
    }
  }

  async explore(options: SliceOptions = {}): Promise<MapSlice | PackedHoldings> {
    if (this.#isClosed) throw closed();
    const { lookup, source } = this.#kept;
    const { signal } = options;
    return interruptible(signal, async () => {
      if (lookup instanceof PackedLookup) return packedHoldings(source, signal);
      this.#explorer ??= this.#openExplorer(signal);
      return (await this.#explorer).slice(options);
    });
  }

  async compare(
    name: string,
    others: Readonly<Record<string, MementoMap>>,
    options: SignalOption = {},
  ): Promise<MapComparison> {
    const maps: [string, MementoMap][] = [[name, this], ...Object.entries(others)];
    const sources = maps.map(([id, map]) => {
      if (!(map instanceof OpenedMap)) {
        throw new MementoMapError(
          "MM_USAGE",
          "only maps that were opened with openMap are compared",
        );
      }
      return { id, name: id, chunks: map.#chunks(id, options.signal) };
    });
    return interruptible(options.signal, () => compareMaps(sources, options));
  }

  /** All of the map, in chunks. */
  async *#chunks(
    name: string,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#isClosed) throw closed();
    if (this.#kept.lookup instanceof PackedLookup) {
      throw new MementoMapError(
        "MM_USAGE",
        "the names of a packed map are hashed; compare the map that it was made from",
        { position: { source: name } },
      );
    }
    yield* sourceChunks(this.#kept.source, { signal });
  }

  async #openExplorer(signal: AbortSignal | undefined): Promise<MapExplorer> {
    try {
      return await MapExplorer.open(this.#kept.source, { signal });
    } catch (error) {
      this.#explorer = undefined;
      throw error;
    }
  }

  [Symbol.asyncIterator](): AsyncGenerator<MapRow, void, undefined> {
    return this.rows();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#kept.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function closed(): MementoMapError {
  return new MementoMapError("MM_USAGE", "the map is closed");
}
