import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { LF, recognizeCompression } from "../../bytes/bytes.ts";
import { type ByteSource, MemorySource, readWhole, sourceChunks } from "../../bytes/byte-source.ts";
import { type MapPage, pageHead, type PageMembers, type SplitPlan } from "../../map/split-map.ts";
import type { Answer } from "../../map/lookup/map-lookup.ts";
import { MemoryIndex } from "../../map/lookup/memory-index.ts";
import { KeySamples, SampledSearch } from "../../map/lookup/sampled-search.ts";
import { surt as surtOf } from "../../surt/uri-to-surt.ts";
import { type MapSurvey, surveyMap, type SurveyOptions } from "../../map/map-survey.ts";
import { FileSource, openInput } from "../../files/input-file.ts";
import {
  chooseEncoding,
  type Encoding,
  etagOf,
  MAP_CONTENT_TYPE,
  type Representation,
} from "../../http/reply.ts";
import type { EncodedCopies } from "./encoded-copies.ts";
import { type MapGuardOptions, refuseShrunk } from "../../map/map-guard.ts";
import { Reloading } from "../../files/reloading.ts";
import { type FileStamp, stampOf } from "../../files/shared-files.ts";
import { ioError, type MementoMapError } from "../../errors.ts";
import type { Log } from "../../http/log.ts";

/**
 * A page of a map as a source of its own, without a byte of the map copied.
 *
 *     [0, head)            headers of the map, and `!meta {"page": …}`
 *     [head, head+records) records, where they stand in the map
 *     [.., size)           a line feed, if the map lacks its last
 *
 * Reads the last byte of the records. `more` goes into the header.
 */
async function openPage(
  map: ByteSource,
  plan: SplitPlan,
  page: MapPage,
  more: PageMembers,
): Promise<ByteSource> {
  const head = pageHead(plan, page, more);
  const isEmpty = page.end === page.start;
  const [last] = isEmpty ? [LF] : await readWhole(map, page.end - 1, 1);
  const tail = last === LF ? new Uint8Array(0) : Uint8Array.of(LF);
  const recordsEnd = head.length + page.end - page.start;
  const size = recordsEnd + tail.length;
  return {
    name: `page ${page.number} of ${map.name}`,
    size,
    async read(offset, length, signal) {
      const end = Math.min(offset + length, size);
      if (offset >= end) return new Uint8Array(0);
      const parts: Uint8Array[] = [];
      if (offset < head.length) parts.push(head.subarray(offset, end));
      const from = Math.max(offset, head.length);
      const to = Math.min(end, recordsEnd);
      if (from < to) {
        const start = page.start + from - head.length;
        parts.push(await readWhole(map, start, to - from, signal));
      }
      if (end > recordsEnd) parts.push(tail);
      return parts.length === 1 ? parts[0] : Buffer.concat(parts);
    },
  };
}

/** How a map is asked about a URI. */
export interface MapQuestion {
  readonly at: string | undefined;
  /** Whether a SURT is given in place of a URI. */
  readonly isSurt: boolean;
}

export interface MapVersionOptions {
  readonly copies: EncodedCopies;
  readonly encodings: readonly Encoding[];
  readonly pageRecords: number;
  /**
   * Maps up to this size are held and indexed in memory; larger ones are searched in the file, of
   * which this much is kept.
   */
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
  readonly #lookup: MemoryIndex | SampledSearch;
  readonly #source: ByteSource & { close(): Promise<void> };
  readonly #options: MapVersionOptions;
  #shares = 1;

  private constructor(
    source: ByteSource & { close(): Promise<void> },
    modified: Date,
    digest: string,
    survey: MapSurvey,
    lookup: MemoryIndex | SampledSearch,
    options: MapVersionOptions,
  ) {
    this.survey = survey;
    this.digest = digest;
    this.whole = plain(source, this.version, modified);
    this.#lookup = lookup;
    this.#source = source;
    this.#options = options;
  }

  /**
   * Reads a map through, twice: what it holds, and its digest.
   *
   * @throws MM_NOT_SORTED, MM_BAD_HEADER, MM_BAD_LINE, MM_BAD_INPUT, MM_IO.
   */
  static async open(
    source: ByteSource & { close(): Promise<void> },
    modified: Date,
    options: MapVersionOptions,
  ): Promise<MapVersion> {
    const { pageRecords, maxIndexBytes, signal } = options;
    const isHeld = source.size <= maxIndexBytes;
    const samples = new KeySamples();
    const onKey: SurveyOptions["onKey"] = (...key) => samples.add(...key);
    const survey = await surveyMap(source, { pageRecords, signal, ...(isHeld ? {} : { onKey }) });
    const digest = await digestOf(source, signal);
    const lookup = isHeld
      ? await indexOf(source)
      : new SampledSearch(source, survey.plan.headers, samples, { maxBytes: maxIndexBytes });
    return new MapVersion(source, modified, digest, survey, lookup, options);
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
    const encoding = chooseEncoding(acceptEncoding, this.#readyEncodings());
    return (encoding && this.#ready(encoding)) ?? this.whole;
  }

  #ready(encoding: Encoding): Representation | undefined {
    return this.#options.copies.ready(this.whole, this.version, encoding);
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
    const source = await openPage(this.#source, plan, page, {
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
    return this.#options.encodings.filter((encoding) => this.#ready(encoding) !== undefined);
  }

  /** Set where the map is held in memory; its lookups need not be awaited. */
  get index(): MemoryIndex | undefined {
    return this.#lookup instanceof MemoryIndex ? this.#lookup : undefined;
  }

  /** What the map says about a URI or a SURT; a promise only where the file has to be read. */
  answer(input: string, { at, isSurt }: MapQuestion): Answer | Promise<Answer> {
    const surt = isSurt ? input : surtOf(input);
    return this.#lookup instanceof MemoryIndex
      ? this.#lookup.lookupSurtSync(surt, { at })
      : this.#lookup.lookupSurtNow(surt, { at });
  }
}

/**
 * Where the other pages are. By default relative to any URL the map has: the same bytes for all of
 * them.
 */
export function pageLinks(
  number: number,
  of: number,
  href: (page: number) => string = (page) => `?page=${page}`,
): Record<string, string> {
  return {
    first: href(1),
    ...(number > 1 ? { prev: href(number - 1) } : {}),
    ...(number < of ? { next: href(number + 1) } : {}),
    last: href(of),
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
async function indexOf(source: ByteSource): Promise<MemoryIndex> {
  const bytes = await source.read(0, source.size);
  return MemoryIndex.buildInSlices(bytes, { source: source.name, pause: () => setImmediate() });
}

export async function digestOf(
  source: ByteSource,
  signal: AbortSignal | undefined,
): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of sourceChunks(source, { signal })) hash.update(chunk);
  return hash.digest("hex");
}

/** A map in memory, not compressed. It must not change. */
export interface MapBytes {
  readonly bytes: Uint8Array;
  /** When it was last modified; default now. */
  readonly modified?: Date | undefined;
}

export interface HostedMapOptions extends MapVersionOptions, MapGuardOptions {
  /** The name in `/maps/{id}`. */
  readonly id: string;
  /** Where the map is, or its bytes. */
  readonly origin: string | MapBytes;
  /** For a decompressed copy of a map that is stored compressed. */
  readonly scratchFolder: string;
  readonly log: Log;
}

/**
 * A map that is being served, in whatever version its file has.
 *
 * A new version is opened and read through beside the old one, and takes its place only if nothing
 * is wrong with it. Requests that began with the old version end with it.
 */
export class HostedMap {
  readonly id: string;
  /** What messages call it: the path, or the name where there is none. */
  readonly path: string;
  readonly #options: HostedMapOptions;
  readonly #reloading: Reloading<FileStamp>;
  #current: MapVersion;
  #compressing: Promise<void> = Promise.resolve();
  #isClosed = false;
  reloads = 0;
  refusals = 0;

  private constructor(
    options: HostedMapOptions,
    current: MapVersion,
    stamp: FileStamp | undefined,
  ) {
    const { id, origin } = options;
    this.id = id;
    this.path = typeof origin === "string" ? origin : id;
    this.#options = options;
    this.#current = current;
    this.#reloading = new Reloading({
      source: this.path,
      stamp: async () => (typeof origin === "string" ? stampOf(origin) : undefined),
      take: (next) => this.#take(next),
      onFailure: (error, isNews) => {
        if (isNews || error.code !== "MM_IO") this.#refuse(error);
      },
    });
    if (stamp !== undefined) this.#reloading.assume(stamp);
    this.#compress(current);
  }

  /** @throws what is wrong with the map or its file. */
  static async open(options: HostedMapOptions): Promise<HostedMap> {
    const { id, origin } = options;
    if (typeof origin === "string") {
      const stamp = await stampOf(origin);
      return new HostedMap(options, await openVersion(options, origin, stamp), stamp);
    }
    const source = Object.assign(new MemorySource(origin.bytes, id), {
      close: () => Promise.resolve(),
    });
    const version = await MapVersion.open(source, origin.modified ?? new Date(), options);
    return new HostedMap(options, version, undefined);
  }

  get current(): MapVersion {
    return this.#current;
  }

  /** What is wrong with the file as it is now; an older version is served. */
  get fault(): string | undefined {
    return this.#reloading.error?.describe();
  }

  /** Runs `use` with the current version, which stays open until it returns. */
  async with<T>(use: (version: MapVersion) => Promise<T>): Promise<T> {
    const version = this.#current.retain();
    try {
      return await use(version);
    } finally {
      await version.release();
    }
  }

  /** Looks whether the file was replaced, and takes the new version if it is sound. */
  check(): Promise<void> {
    return this.#reloading.check();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#reloading.settled;
    await this.#options.copies.stop();
    await this.#compressing;
    await this.#current.release();
  }

  async #take(stamp: FileStamp): Promise<void> {
    const { id, log } = this.#options;
    const next = await openVersion(this.#options, this.path, stamp);
    const old = this.#current;
    if (next.digest === old.digest) return next.release();
    try {
      refuseShrunk(old.survey, next.survey, this.path, this.#options);
    } catch (error) {
      await next.release();
      throw error;
    }
    this.#current = next;
    this.reloads += 1;
    log.event("info", "map replaced", { map: id, records: next.survey.records });
    this.#compress(next);
    await old.release();
  }

  #refuse(error: MementoMapError): void {
    const { id, log } = this.#options;
    const { code } = error;
    this.refusals += 1;
    const what = { map: id, code, reason: error.describe() };
    log.event("error", "new map refused, the old one is kept", what);
  }

  /** In the background: the map is served as it is until its compressed copies are ready. */
  #compress(version: MapVersion): void {
    const { id, log } = this.#options;
    const work = async (): Promise<void> => {
      try {
        await version.prepareCopies();
        log.event("info", "compressed copies ready", { map: id });
      } finally {
        await version.release();
      }
    };
    version.retain();
    this.#compressing = work().catch((error: unknown) => {
      if (this.#isClosed) return;
      log.event("error", "compressing failed", { map: id, reason: String(error) });
    });
  }
}

async function openVersion(
  options: HostedMapOptions,
  path: string,
  stamp: FileStamp,
): Promise<MapVersion> {
  const source = await openPlain(path, options);
  try {
    return await MapVersion.open(source, new Date(stamp.mtimeMs), options);
  } catch (error) {
    await source.close();
    throw ioError(error, path);
  }
}

/** The file, or what it holds if it is compressed. */
async function openPlain(
  path: string,
  { id, scratchFolder }: HostedMapOptions,
): Promise<FileSource> {
  const source = await FileSource.open(path);
  if (recognizeCompression(await source.read(0, 4)) === undefined) return source;
  await source.close();
  const scratch = join(scratchFolder, `${id}.plain`);
  // Never read: the path is not `-`.
  const input = await openInput(path, { stdin: Readable.from([]) });
  try {
    await pipeline(input.chunks, createWriteStream(scratch)).catch((error: unknown) => {
      throw ioError(error, scratch);
    });
    return await FileSource.open(scratch, path);
  } finally {
    // Open files outlive their names; the space is free again when the version is closed.
    await rm(scratch, { force: true });
  }
}
