import { setImmediate } from "node:timers/promises";
import { isPacked, PACKED_MAGIC } from "../../bytes/bytes.ts";
import { type ByteSource, readWhole, sourceChunks } from "../../bytes/byte-source.ts";
import { pageSource } from "../../maps/split-map.ts";
import { packedExtent } from "../../maps/map-guard.ts";
import { digestOf } from "../../files/source-digest.ts";
import type { Answer, SourceLookup } from "../../lookup/map-lookup.ts";
import { MemoryIndex } from "../../lookup/memory-index.ts";
import { MapExplorer } from "../../maps/explore/map-explorer.ts";
import type { MapSlice, SliceOptions } from "../../maps/explore/map-slice.ts";
import { packedHoldings, type PackedHoldings } from "../../maps/explore/packed-holdings.ts";
import { PackedLookup } from "../../lookup/packed-lookup.ts";
import { MapSearch } from "../../lookup/map-search.ts";
import { checkPacked } from "../../packed/read-packed.ts";
import type { KeySource } from "../../lookup/source.ts";
import { type MapSurvey, surveyMap } from "../../maps/map-survey.ts";
import {
  chooseEncoding,
  type Encoding,
  etagOf,
  MAP_CONTENT_TYPE,
  PACKED_CONTENT_TYPE,
  type Representation,
} from "../../http/reply.ts";
import type { EncodedCopies } from "./encoded-copies.ts";

/** Larger maps are prepared for exploring in the background, others on the first request. */
const PREPARED_BYTES = 2 ** 23;

/** The parameters of a lookup. */
export interface MapQuestion {
  readonly at: string | undefined;
  /** Whether the input is a SURT instead of a URI. */
  readonly isSurt: boolean;
}

export interface MapVersionOptions {
  readonly copies: EncodedCopies;
  readonly encodings: readonly Encoding[];
  readonly pageRecords: number;
  /**
   * Maps up to this size are held and indexed in memory; larger ones are searched in the file, with a
   * cache of this size.
   */
  readonly maxIndexBytes: number;
  /** Whether to reject text maps; default false. */
  readonly mustBePacked?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * One version of a map, with everything needed to serve it.
 *
 * It keeps its file open, so that it can be served to the end even when the file is replaced. It is
 * reference-counted: the last `release` closes it.
 */
export class MapVersion {
  readonly survey: MapSurvey;
  /** SHA-256 of the bytes, in hexadecimal: all servers of the same map send the same tags. */
  readonly digest: string;
  readonly whole: Representation;
  readonly isPacked: boolean;
  readonly #lookup: SourceLookup;
  readonly #source: ByteSource & { close(): Promise<void> };
  readonly #options: MapVersionOptions;
  #explorer: Promise<MapExplorer> | undefined;
  #references = 1;

  private constructor(
    source: ByteSource & { close(): Promise<void> },
    modified: Date,
    digest: string,
    survey: MapSurvey,
    lookup: SourceLookup,
    options: MapVersionOptions,
  ) {
    this.survey = survey;
    this.digest = digest;
    this.isPacked = lookup instanceof PackedLookup;
    const contentType = this.isPacked ? PACKED_CONTENT_TYPE : MAP_CONTENT_TYPE;
    this.whole = { ...plain(source, this.version, modified), contentType };
    this.#lookup = lookup;
    this.#source = source;
    this.#options = options;
  }

  /**
   * Reads a map twice: for its survey, and for its digest.
   *
   * @throws MM_NOT_SORTED, MM_BAD_HEADER, MM_BAD_LINE, MM_BAD_INPUT, MM_IO; MM_CUT for packed maps.
   */
  static async open(
    source: ByteSource & { close(): Promise<void> },
    modified: Date,
    options: MapVersionOptions,
  ): Promise<MapVersion> {
    const { pageRecords, maxIndexBytes, signal, mustBePacked = false } = options;
    if (mustBePacked || isPacked(await source.read(0, PACKED_MAGIC.length, signal))) {
      const lookup = await openPacked(source, options);
      const digest = await digestOf(sourceChunks(source, { signal }));
      return new MapVersion(source, modified, digest, surveyOf(lookup), lookup, options);
    }
    const isHeld = source.size <= maxIndexBytes;
    const survey = await surveyMap(source, { pageRecords, signal });
    const digest = await digestOf(sourceChunks(source, { signal }));
    const lookup = isHeld ? await indexOf(source) : await searchOf(source, options);
    return new MapVersion(source, modified, digest, survey, lookup, options);
  }

  /** Whether this is the packed form of a map. */
  isMadeFrom(text: MapVersion): boolean {
    const { digest } = text;
    return this.#lookup instanceof PackedLookup && this.#lookup.header.source?.sha256 === digest;
  }

  /** The short name of this version in tags and file names. */
  get version(): string {
    return this.digest.slice(0, 32);
  }

  /** Adds a reference; drop it with {@link release}. */
  retain(): this {
    this.#references += 1;
    return this;
  }

  async release(): Promise<void> {
    this.#references -= 1;
    if (this.#references > 0) return;
    await this.#options.copies.drop(this.version);
    await this.#source.close();
  }

  /** Compresses the map, in every available coding. Until then it is sent uncompressed. */
  async prepareCopies(): Promise<void> {
    for (const encoding of this.#encodings) {
      await this.#options.copies.make(this.whole, this.version, encoding);
    }
  }

  /** The map in the client's preferred coding, of those that are ready. */
  chosen(acceptEncoding: string | undefined): Representation {
    const encoding = chooseEncoding(acceptEncoding, this.#readyEncodings());
    return (encoding && this.#ready(encoding)) ?? this.whole;
  }

  #ready(encoding: Encoding): Representation | undefined {
    return this.#options.copies.ready(this.whole, this.version, encoding);
  }

  /** A page in the client's preferred coding; undefined if there is no such page. */
  async page(
    number: number,
    acceptEncoding: string | undefined,
  ): Promise<Representation | undefined> {
    const { plan } = this.survey;
    const page = plan.pages[number - 1];
    if (page === undefined) return undefined;
    const { copies, pageRecords } = this.#options;
    const source = pageSource(this.#source, plan, page, {
      version: this.version,
      links: pageLinks(number, page.of),
    });
    const version = `${this.version}-${pageRecords}-${number}`;
    const whole = plain(source, version, this.whole.lastModified);
    // Copies are made one at a time: a page must not wait for those of a large map.
    const encoding = chooseEncoding(acceptEncoding, this.#readyEncodings());
    return encoding === undefined ? whole : copies.make(whole, version, encoding);
  }

  /** Packed maps are sent uncompressed: compression does not make them smaller. */
  get #encodings(): readonly Encoding[] {
    return this.isPacked ? [] : this.#options.encodings;
  }

  /** The codings in which the map itself is ready. */
  #readyEncodings(): readonly Encoding[] {
    return this.#encodings.filter((encoding) => this.#ready(encoding) !== undefined);
  }

  /** A part of the map and its children; for a packed map, its summary. */
  async explore(options: SliceOptions): Promise<MapSlice | PackedHoldings> {
    if (this.#lookup instanceof PackedLookup) return packedHoldings(this.#source);
    return (await this.#openExplorer()).slice(options);
  }

  /** Prepares a large map for exploring: ranks the children of its large parts. */
  async prepareExplorer(signal: AbortSignal): Promise<void> {
    if (this.isPacked || this.whole.body.size < PREPARED_BYTES) return;
    await (await this.#openExplorer(signal)).prepare({ signal });
  }

  #openExplorer(signal?: AbortSignal): Promise<MapExplorer> {
    if (this.#explorer === undefined) {
      const opening = MapExplorer.open(this.#source, { signal });
      this.#explorer = opening;
      opening.catch(() => {
        this.#explorer = undefined;
      });
    }
    return this.#explorer;
  }

  /** The source of the rows of the map. */
  get source(): KeySource {
    return this.#lookup;
  }

  /** Whether lookups need no file access. */
  get isInMemory(): boolean {
    return this.#lookup instanceof PackedLookup
      ? this.whole.body.size <= this.#options.maxIndexBytes
      : this.#lookup instanceof MemoryIndex;
  }

  /** The answer of the map about a URI or a SURT; a promise only if the file must be read. */
  answer(input: string, { at, isSurt }: MapQuestion): Answer | Promise<Answer> {
    return this.#lookup.lookupNow(input, { at }, isSurt);
  }
}

/** Links to the other pages, relative to any URL of the map: the same bytes for all of them. */
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

/** Checks a whole packed map. Small ones are held; the parts of others are read on demand. */
async function openPacked(
  source: ByteSource,
  { maxIndexBytes, signal }: MapVersionOptions,
): Promise<PackedLookup> {
  await checkPacked(source, { signal });
  if (source.size > maxIndexBytes) return PackedLookup.open(source, { signal });
  return PackedLookup.of(await readWhole(source, 0, source.size, signal), source.name);
}

/** The survey of a packed map, which has neither mementos nor domains. */
function surveyOf({ headers, header }: PackedLookup): MapSurvey {
  return {
    plan: { headers, pages: [] },
    records: packedExtent(header).records,
    mementos: 0,
    total: undefined,
    topDomains: [],
    domainCount: 0,
  };
}

/** Larger maps have larger segments, because each segment takes some hundred bytes of memory. */
const MAX_SEGMENTS = 2 ** 18;

function searchOf(
  source: ByteSource,
  { maxIndexBytes: maxBytes, signal }: MapVersionOptions,
): Promise<MapSearch> {
  const blockBytes = Math.max(8192, Math.ceil(source.size / MAX_SEGMENTS));
  return MapSearch.open(source, { blockBytes, maxBytes, signal });
}

/** Builds in slices: the previous version is still being served. */
async function indexOf(source: ByteSource): Promise<MemoryIndex> {
  const bytes = await source.read(0, source.size);
  return MemoryIndex.buildInSlices(bytes, { source: source.name, pause: () => setImmediate() });
}
