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

/** Options for opening a map. */
export interface OpenMapOptions {
  /**
   * Whether to load the map into memory and index it, for many lookups. By default a map is searched in
   * place if its source has random access: a file, a `Blob`, a server that supports `Range` requests.
   * Other maps are loaded into memory.
   */
  readonly inMemory?: boolean | undefined;
  /**
   * Whether to request the packed form of a map from its address, if there is one; default false. Ignored for
   * maps loaded into memory.
   */
  readonly packed?: boolean | undefined;
  /** When aborted, opening fails with MM_INTERRUPTED. */
  readonly signal?: AbortSignal | undefined;
}

/** One row of a map. */
export interface MapRow {
  /** A SURT, or a SURT prefix with a wildcard: `com,example)/a/*`. */
  readonly key: string;
  /** The period of the row, if the map has rows for periods. */
  readonly datetime?: string;
  /** As written in the map: the number of mementos, optionally of originals; 0 for a void. */
  readonly frequency: string;
  /** The JSON block of the row. */
  readonly json?: Readonly<Record<string, unknown>>;
}

/** An open map. Close it after use, or open it with `await using`. */
export interface MementoMap extends AsyncIterable<MapRow>, AsyncDisposable {
  /** The headers of the map: `headers.id`, `headers.meta`, `headers.fields`. */
  readonly headers: UkvsHeaders;
  /** Whether the archive may hold a URI. `false` is certain, unless the map is a sample. */
  has(uri: string, options?: LookupOptions): Promise<boolean>;
  /** Looks up a URI: whether it is present, and the deciding key. */
  lookup(uri: string, options?: LookupOptions): Promise<Answer>;
  /** The answers for many URIs, in input order; lookups run concurrently. */
  lookupMany(
    uris: Iterable<string> | AsyncIterable<string>,
    options?: LookupOptions,
  ): AsyncGenerator<Answer, void, undefined>;
  /**
   * A subtree of the map and its children: top-level domains, domains, hosts, paths. For a packed map, a
   * summary of its holdings. The first call reads the whole map.
   */
  explore(options?: SliceOptions): Promise<MapSlice | PackedHoldings>;
  /**
   * Compares this map with up to seven others: page keys and domains in common, and those in only one map. A
   * map without a row for a page, but with a wildcard that covers it, may hold it. Reads each map once, and
   * holds lists of fixed length. In the result, this map is called `name`, the others by their keys in `others`.
   *
   * @throws MM_USAGE for packed maps, whose names are hashed, or too many maps; MM_NOT_SORTED; MM_INTERRUPTED
   */
  compare(
    name: string,
    others: Readonly<Record<string, MementoMap>>,
    options?: SignalOption,
  ): Promise<MapComparison>;
  /** All rows, in map order. `for await (const row of map)` does the same. */
  rows(options?: Pick<LookupOptions, "signal">): AsyncGenerator<MapRow, void, undefined>;
  close(): Promise<void>;
}

/** A map and its source. */
interface Opened {
  readonly lookup: SourceLookup;
  readonly source: ByteSource;
  close(): Promise<void> | void;
}

/** See `openMap` in `index.ts`. */
export function openMapOn(
  platform: Platform,
  source: Source,
  options: OpenMapOptions = {},
): Promise<MementoMap> {
  const { signal } = options;
  return interruptible(signal, async () => new OpenedMap(await open(platform, source, options)));
}

async function open(platform: Platform, source: Source, options: OpenMapOptions): Promise<Opened> {
  const place = placeOf(platform, source);
  if (options.inMemory !== true) {
    if (place.kind === "file") {
      const file = await platform.openFile(place.path);
      if (file !== undefined) return openInPlace(file, () => file.close(), options);
    } else if (place.kind === "address") {
      const opened = await openRemote(platform, place.url, options);
      if (opened !== undefined) return opened;
    } else if (await isPlainBlob(place.bytes)) {
      const blob = new BlobSource(place.bytes as Blob, nameOf(platform, source));
      return openInPlace(blob, () => undefined, options);
    }
  }
  const name = nameOf(platform, source);
  const bytes = await bytesOf(platform, source, options.signal);
  const lookup = isPacked(bytes)
    ? PackedLookup.of(bytes, name)
    : MemoryIndex.build(bytes, { source: name });
  return { lookup, source: new MemorySource(bytes, name), close: () => undefined };
}

async function openInPlace(
  source: ByteSource,
  close: () => Promise<void> | void,
  { signal }: OpenMapOptions,
): Promise<Opened> {
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

/** Undefined if the server does not support ranges. */
async function openRemote(
  platform: Platform,
  url: URL,
  { packed, signal }: OpenMapOptions,
): Promise<Opened | undefined> {
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

/** Maximum concurrent lookups in a file or on a server. */
const MAX_CONCURRENT_LOOKUPS = 32;

class OpenedMap implements MementoMap {
  readonly #opened: Opened;
  #explorer: Promise<MapExplorer> | undefined;
  #isClosed = false;

  constructor(opened: Opened) {
    this.#opened = opened;
  }

  get headers(): UkvsHeaders {
    return this.#opened.lookup.headers;
  }

  async has(uri: string, options: LookupOptions = {}): Promise<boolean> {
    return (await this.lookup(uri, options)).present;
  }

  async lookup(uri: string, options: LookupOptions = {}): Promise<Answer> {
    if (this.#isClosed) throw closed();
    const answer = this.#opened.lookup.lookupNow(uri, options);
    return answer instanceof Promise ? interruptible(options.signal, () => answer) : answer;
  }

  async *lookupMany(
    uris: Iterable<string> | AsyncIterable<string>,
    options: LookupOptions = {},
  ): AsyncGenerator<Answer, void, undefined> {
    const limit = this.#opened.lookup instanceof MemoryIndex ? 1 : MAX_CONCURRENT_LOOKUPS;
    const inFlight: Promise<Answer>[] = [];
    try {
      for await (const uri of uris) {
        inFlight.push(this.lookup(uri, options));
        const first = inFlight.length < limit ? undefined : inFlight.shift();
        if (first !== undefined) yield await first;
      }
      for (let next = inFlight.shift(); next !== undefined; next = inFlight.shift()) {
        yield await next;
      }
    } finally {
      await Promise.allSettled(inFlight);
    }
  }

  async *rows({ signal }: Pick<LookupOptions, "signal"> = {}): AsyncGenerator<
    MapRow,
    void,
    undefined
  > {
    if (this.#isClosed) throw closed();
    const { source } = this.#opened;
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
    const { lookup, source } = this.#opened;
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
        throw new MementoMapError("MM_USAGE", "only maps opened with openMap can be compared");
      }
      return { id, name: id, chunks: map.#chunks(id, options.signal) };
    });
    return interruptible(options.signal, () => compareMaps(sources, options));
  }

  /** The whole map, in chunks. */
  async *#chunks(
    name: string,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#isClosed) throw closed();
    if (this.#opened.lookup instanceof PackedLookup) {
      throw new MementoMapError(
        "MM_USAGE",
        "a packed map cannot be compared, because its names are hashed; use the map it was made from",
        { position: { source: name } },
      );
    }
    yield* sourceChunks(this.#opened.source, { signal });
  }

  async #openExplorer(signal: AbortSignal | undefined): Promise<MapExplorer> {
    try {
      return await MapExplorer.open(this.#opened.source, { signal });
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
    await this.#opened.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function closed(): MementoMapError {
  return new MementoMapError("MM_USAGE", "the map is closed");
}
