import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { LF } from "../../bytes/bytes.ts";
import { type ByteSource, readWhole, sourceChunks } from "../../bytes/byte-source.ts";
import { type MapPage, pageHead, type PageMembers, type SplitPlan } from "../../map/split.ts";
import type { Answer, LookupOptions, MapLookup } from "../../map/lookup/lookup.ts";
import { MapSearch } from "../../map/lookup/map-search.ts";
import { MemoryIndex } from "../../map/lookup/memory-index.ts";
import { type MapSurvey, surveyMap } from "../../map/survey.ts";
import type { FileSource } from "../../files/input-file.ts";
import {
  chooseEncoding,
  type Encoding,
  etagOf,
  MAP_CONTENT_TYPE,
  type Representation,
} from "../../http/send.ts";
import type { EncodedCopies } from "./encoded-copies.ts";

/**
 * A page of a map as a source of its own, without a byte of the map copied.
 *
 *     [0, head)            headers of the map, and `!meta {"page": …}`
 *     [head, head+records) records, where they stand in the map
 *     [.., size)           a line feed, if the map lacks its last
 */
export class PageSource implements ByteSource {
  readonly name: string;
  readonly size: number;
  readonly #map: ByteSource;
  readonly #head: Uint8Array;
  readonly #start: number;
  readonly #end: number;
  readonly #tail: Uint8Array;

  private constructor(map: ByteSource, head: Uint8Array, page: MapPage, tail: Uint8Array) {
    this.name = `page ${page.number} of ${map.name}`;
    this.#map = map;
    this.#head = head;
    this.#start = page.start;
    this.#end = page.end;
    this.#tail = tail;
    this.size = head.length + (page.end - page.start) + tail.length;
  }

  /** Makes a page ready; reads the last byte of its records. `more` goes into its header. */
  static async open(
    map: ByteSource,
    plan: SplitPlan,
    page: MapPage,
    more: PageMembers = {},
  ): Promise<PageSource> {
    const isEmpty = page.end === page.start;
    const [last] = isEmpty ? [LF] : await readWhole(map, page.end - 1, 1);
    const tail = last === LF ? new Uint8Array(0) : Uint8Array.of(LF);
    return new PageSource(map, pageHead(plan, page, more), page, tail);
  }

  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    const end = Math.min(offset + length, this.size);
    if (offset >= end) return new Uint8Array(0);
    const recordsStart = this.#head.length;
    const recordsEnd = recordsStart + this.#end - this.#start;
    const parts: Uint8Array[] = [];
    if (offset < recordsStart) parts.push(this.#head.subarray(offset, end));
    const from = Math.max(offset, recordsStart);
    const to = Math.min(end, recordsEnd);
    if (from < to) {
      const start = this.#start + from - recordsStart;
      parts.push(await readWhole(this.#map, start, to - from, signal));
    }
    if (end > recordsEnd) parts.push(this.#tail);
    return parts.length === 1 ? parts[0] : Buffer.concat(parts);
  }
}

export interface MapVersionOptions {
  readonly copies: EncodedCopies;
  readonly encodings: readonly Encoding[];
  readonly pageRecords: number;
  /** Maps up to this size are held and indexed in memory; larger ones are searched in the file. */
  readonly maxIndexBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A map as it was when it was opened, with all that is needed to serve it.
 *
 * It keeps its file open, so that it can be served to the end even when the file is replaced. Those
 * who use it hold a share; the last to let go closes it.
 */
export class MapVersion {
  readonly survey: MapSurvey;
  /** SHA-256 of the bytes, in hexadecimal: two servers of one map give the same tags. */
  readonly digest: string;
  readonly whole: Representation;
  readonly lookup: MapLookup;
  /** Set where the map is held in memory; its lookups need not be awaited. */
  readonly index: MemoryIndex | undefined;
  readonly #source: FileSource;
  readonly #options: MapVersionOptions;
  #shares = 1;

  private constructor(
    source: FileSource,
    modified: Date,
    digest: string,
    survey: MapSurvey,
    lookups: { readonly lookup: MapLookup; readonly index: MemoryIndex | undefined },
    options: MapVersionOptions,
  ) {
    this.#source = source;
    this.#options = options;
    this.survey = survey;
    this.digest = digest;
    this.lookup = lookups.lookup;
    this.index = lookups.index;
    this.whole = plain(source, this.version, modified);
  }

  /**
   * Reads a map through, twice: what it holds, and its digest.
   *
   * @throws MM_NOT_SORTED, MM_BAD_HEADER, MM_BAD_LINE, MM_BAD_INPUT, MM_IO.
   */
  static async open(
    source: FileSource,
    modified: Date,
    options: MapVersionOptions,
  ): Promise<MapVersion> {
    const { pageRecords, maxIndexBytes, signal } = options;
    const survey = await surveyMap(source, { pageRecords, signal });
    const digest = await digestOf(source, signal);
    const lookups =
      source.size <= maxIndexBytes
        ? indexed(await indexOf(source))
        : { lookup: await MapSearch.open(source), index: undefined };
    return new MapVersion(source, modified, digest, survey, lookups, options);
  }

  /** The short name of this version in tags and file names. */
  get version(): string {
    return this.digest.slice(0, 32);
  }

  /** Takes a share; give it back with {@link release}. */
  retain(): this {
    this.#shares += 1;
    return this;
  }

  async release(): Promise<void> {
    this.#shares -= 1;
    if (this.#shares > 0) return;
    await this.#options.copies.drop(this.version);
    await this.#source.close();
  }

  /** Compresses the map, in every coding there is. Until then it is sent as it is. */
  async prepareCopies(): Promise<void> {
    for (const encoding of this.#options.encodings) {
      await this.#options.copies.make(this.whole, this.version, encoding);
    }
  }

  /** The map in the coding a client likes best, of those that are ready. */
  chosen(acceptEncoding: string | undefined): Representation {
    const { copies } = this.#options;
    const encoding = chooseEncoding(acceptEncoding, this.#readyEncodings());
    return encoding === undefined
      ? this.whole
      : (copies.ready(this.whole, this.version, encoding) ?? this.whole);
  }

  /** A page in the coding a client likes best; undefined when there is no such page. */
  async page(
    number: number,
    acceptEncoding: string | undefined,
  ): Promise<Representation | undefined> {
    const { plan } = this.survey;
    const page = plan.pages[number - 1];
    if (page === undefined) return undefined;
    const { copies, pageRecords } = this.#options;
    const source = await PageSource.open(this.#source, plan, page, {
      version: this.version,
      links: pageLinks(number, page.of),
    });
    const version = `${this.version}-${pageRecords}-${number}`;
    const whole = plain(source, version, this.whole.lastModified);
    // Copies are made one at a time: a page must not wait until those of a large map are made.
    const encoding = chooseEncoding(acceptEncoding, this.#readyEncodings());
    return encoding === undefined ? whole : copies.make(whole, version, encoding);
  }

  /** The codings that the map itself is ready in. */
  #readyEncodings(): readonly Encoding[] {
    const { encodings, copies } = this.#options;
    return encodings.filter(
      (encoding) => copies.ready(this.whole, this.version, encoding) !== undefined,
    );
  }

  /** What the map says about a URI; a promise only where the file has to be read. */
  answer(uri: string, options: LookupOptions): Answer | Promise<Answer> {
    return this.index?.lookupSync(uri, options) ?? this.lookup.lookup(uri, options);
  }
}

/** Where the other pages are, relative to any URL the map has: the same bytes for all of them. */
export function pageLinks(number: number, of: number): Record<string, string> {
  return {
    first: "?page=1",
    ...(number > 1 ? { prev: `?page=${number - 1}` } : {}),
    ...(number < of ? { next: `?page=${number + 1}` } : {}),
    last: `?page=${of}`,
  };
}

function plain(body: ByteSource, version: string, lastModified: Date): Representation {
  return {
    body,
    etag: etagOf(version),
    lastModified,
    contentType: MAP_CONTENT_TYPE,
    encoding: undefined,
  };
}

/** In slices: the version before is still being served. */
async function indexOf(source: FileSource): Promise<MemoryIndex> {
  const bytes = await source.read(0, source.size);
  return MemoryIndex.buildInSlices(bytes, { source: source.name, pause: () => setImmediate() });
}

function indexed(index: MemoryIndex): { lookup: MapLookup; index: MemoryIndex } {
  return { lookup: index, index };
}

async function digestOf(source: ByteSource, signal: AbortSignal | undefined): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of sourceChunks(source, { signal })) hash.update(chunk);
  return hash.digest("hex");
}
