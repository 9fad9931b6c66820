import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { recognizeCompression } from "../../bytes/bytes.ts";
import { MemorySource } from "../../bytes/byte-source.ts";
import { FileSource, openInput } from "../../files/input-file.ts";
import { type MapExtent, type MapGuardOptions, refuseShrunk } from "../../maps/map-guard.ts";
import { Reloading } from "../../files/reloading.ts";
import { type FileStamp, stampOf } from "../../files/shared-files.ts";
import { ioError, MementoMapError } from "../../errors.ts";
import type { Log } from "../../http/log.ts";
import { MapVersion, type MapVersionOptions } from "./map-version.ts";

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
  /** The file of the same map, packed, for clients that ask for it. */
  readonly packed?: string | undefined;
  /** For a decompressed copy of a map that is stored compressed. */
  readonly scratchFolder: string;
  readonly log: Log;
  /** Called when a new version is ready; by default it is used at once. */
  readonly onNext?: (() => Promise<void>) | undefined;
}

/**
 * A map that is being served, in whatever version its file has.
 *
 * A new version is opened and read through beside the old one, and takes its place only if nothing
 * is wrong with it. Requests that began with the old version end with it.
 *
 * Where the packed form was made from the text, both are replaced in one step: a new version of either
 * waits for that of the other.
 */
export class HostedMap {
  readonly id: string;
  /** What messages call it: the path, or the name where there is none. */
  readonly path: string;
  /** The same map, packed. */
  readonly packed: HostedMap | undefined;
  readonly #options: HostedMapOptions;
  readonly #reloading: Reloading<FileStamp>;
  #current: MapVersion;
  /** A version that is sound, and waits for its other form. */
  #next: MapVersion | undefined;
  #compressing: Promise<void> = Promise.resolve();
  readonly #ending = new AbortController();
  #isClosed = false;
  reloads = 0;
  refusals = 0;

  private constructor(
    options: HostedMapOptions,
    current: MapVersion,
    stamp: FileStamp | undefined,
    packed: HostedMap | undefined,
  ) {
    const { id, origin } = options;
    this.id = id;
    this.packed = packed;
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
    const stamp = typeof origin === "string" ? await stampOf(origin) : undefined;
    const version =
      typeof origin === "string"
        ? await openVersion(options, origin, stamp)
        : await MapVersion.open(heldSource(origin, id), origin.modified ?? new Date(), options);
    try {
      const onNext = (): Promise<void> => text.#settle();
      const packed = await openPackedForm({ ...options, onNext }, version);
      const text = new HostedMap(options, version, stamp, packed);
      text.#warnOfOtherSource();
      return text;
    } catch (error) {
      await version.release();
      throw error;
    }
  }

  get current(): MapVersion {
    return this.#current;
  }

  /** What is wrong with the file as it is now; an older version is served. */
  get fault(): string | undefined {
    return this.#reloading.error?.describe() ?? this.packed?.fault ?? this.#waiting;
  }

  /** Whether the packed form was made from the text that is served. */
  get isPair(): boolean {
    return this.packed?.current.isMadeFrom(this.#current) === true;
  }

  /** What a new version waits for. */
  get #waiting(): string | undefined {
    const form = this.packed;
    if (form === undefined) return undefined;
    if (this.#next !== undefined) {
      return `${this.path}: the new map waits for its packed form, ${form.path}`;
    }
    return form.#next === undefined
      ? undefined
      : `${form.path}: the new packed map waits for the map that it was made from, ${this.path}`;
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
  async check(): Promise<void> {
    await Promise.all([this.#reloading.check(), this.packed?.check()]);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#ending.abort();
    await this.#reloading.settled;
    await this.#options.copies.stop();
    await this.#compressing;
    await this.#current.release();
    await this.#next?.release();
    await this.packed?.close();
  }

  async #take(stamp: FileStamp): Promise<void> {
    const next = await openVersion(this.#options, this.path, stamp);
    const old = this.#current;
    if (next.digest === old.digest) {
      await next.release();
      return this.#offer(undefined);
    }
    try {
      if (this.packed !== undefined) refuseTwoPacked(next, this.path);
      refuseShrunk(extentOf(old), extentOf(next), this.path, this.#options);
    } catch (error) {
      await next.release();
      throw error;
    }
    return this.#offer(next);
  }

  async #offer(next: MapVersion | undefined): Promise<void> {
    const before = this.#next;
    this.#next = next;
    await before?.release();
    await (this.#options.onNext?.() ?? this.#settle());
  }

  /** Uses the new versions of both forms, unless one has to wait for the other. */
  async #settle(): Promise<void> {
    const form = this.packed;
    const text = this.#next ?? this.#current;
    const packed = form === undefined ? undefined : (form.#next ?? form.#current);
    // Forms that never were a pair are replaced each by itself.
    const isReady = !this.isPair || packed?.isMadeFrom(text) === true;
    if (!isReady) {
      const { id, log } = this.#options;
      log.event("info", "new version waits", { map: id, reason: this.#waiting });
      return;
    }
    const replaced = [this.#use(), form === undefined ? undefined : form.#use()];
    for (const old of replaced) await old?.release();
  }

  /** Uses the version that was waiting; gives the one before it. */
  #use(): MapVersion | undefined {
    const next = this.#next;
    if (next === undefined) return undefined;
    const old = this.#current;
    this.#next = undefined;
    this.#current = next;
    this.reloads += 1;
    const { id, log } = this.#options;
    log.event("info", "map replaced", { map: id, records: next.survey.records });
    this.#compress(next);
    return old;
  }

  #warnOfOtherSource(): void {
    if (this.packed === undefined || this.isPair) return;
    const { id, log } = this.#options;
    const reason = `${this.packed.path} was not made from ${this.path}; each is replaced by itself`;
    log.event("info", "packed form of another map", { map: id, reason });
  }

  #refuse(error: MementoMapError): void {
    const { id, log } = this.#options;
    const { code } = error;
    this.refusals += 1;
    const what = { map: id, code, reason: error.describe() };
    log.event("error", "new map refused, the old one is kept", what);
  }

  /** In the background: the map is served as it is until its copies are ready. */
  #compress(version: MapVersion): void {
    const { id, log } = this.#options;
    const work = async (): Promise<void> => {
      try {
        await version.prepareExplorer(this.#ending.signal);
        await version.prepareCopies();
        if (!version.isPacked) log.event("info", "compressed copies ready", { map: id });
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

function extentOf({ survey: { records, mementos }, isPacked }: MapVersion): MapExtent {
  return { records, mementos, isPacked: isPacked ? true : undefined };
}

function heldSource({ bytes }: MapBytes, id: string): MemorySource & { close(): Promise<void> } {
  return Object.assign(new MemorySource(bytes, id), { close: () => Promise.resolve() });
}

/** The packed form of a map of text, if there is one. */
async function openPackedForm(
  { packed, ...options }: HostedMapOptions,
  text: MapVersion,
): Promise<HostedMap | undefined> {
  if (packed === undefined) return undefined;
  refuseTwoPacked(text, options.id);
  return HostedMap.open({
    ...options,
    id: `${options.id}.packed`,
    origin: packed,
    mustBePacked: true,
  });
}

function refuseTwoPacked({ isPacked }: MapVersion, source: string): void {
  if (!isPacked) return;
  throw new MementoMapError(
    "MM_BAD_INPUT",
    "this is already a packed map; give the map that it was made from",
    { position: { source } },
  );
}

async function openVersion(
  options: HostedMapOptions,
  path: string,
  stamp: FileStamp | undefined,
): Promise<MapVersion> {
  const source = await openPlain(path, options);
  try {
    return await MapVersion.open(source, new Date(stamp?.mtimeMs ?? Date.now()), options);
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
