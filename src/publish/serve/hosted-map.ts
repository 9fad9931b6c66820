import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isDeepStrictEqual } from "node:util";
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
  /** The path of the map, or its bytes. */
  readonly origin: string | MapBytes;
  /** The file of the same map, packed, for clients that prefer it. */
  readonly packed?: string | undefined;
  /** For a decompressed copy of a map that is stored compressed. */
  readonly scratchFolder: string;
  readonly log: Log;
}

/**
 * A map being served, in the current version of its files.
 *
 * A new version is opened and read completely while the old one is served, and replaces it only if it
 * is valid. Requests that began with the old version finish with it.
 *
 * If the packed form was made from the text, both are replaced in one step: a new version of either
 * waits for the other. Forms that never were a pair are replaced independently.
 */
export class HostedMap {
  readonly id: string;
  /** Its name in messages: the path, or the id if there is none. */
  readonly path: string;
  readonly #options: HostedMapOptions;
  /** The files of the forms; empty for a map in memory. */
  readonly #paths: readonly string[];
  readonly #reloading: Reloading<FileStamp[]>;
  /** The map, and its packed form if there is one. */
  #forms: readonly MapVersion[];
  /** Which file each version was read from. */
  readonly #stamps = new WeakMap<MapVersion, FileStamp>();
  /** Why a new version is waiting. */
  #waiting: string | undefined;
  #preparing: Promise<void> = Promise.resolve();
  readonly #ending = new AbortController();
  reloads = 0;
  refusals = 0;

  private constructor(
    options: HostedMapOptions,
    paths: readonly string[],
    stamps: FileStamp[],
    forms: readonly MapVersion[],
  ) {
    this.id = options.id;
    this.path = paths[0] ?? options.id;
    this.#options = options;
    this.#paths = paths;
    this.#forms = forms;
    for (const [i, stamp] of stamps.entries()) this.#stamps.set(forms[i], stamp);
    this.#reloading = new Reloading({
      source: this.path,
      stamp: async () => (paths.length === 0 ? undefined : Promise.all(paths.map(stampOf))),
      take: (next) => this.#take(next),
      onFailure: (error, isNews) => {
        if (isNews || error.code !== "MM_IO") this.#refuse(error);
      },
    });
    if (stamps.length > 0) this.#reloading.assume(stamps);
    this.#prepare(forms[0]);
  }

  /** @throws any fault of the map or its files. */
  static async open(options: HostedMapOptions): Promise<HostedMap> {
    const { id, origin, packed, log } = options;
    if (typeof origin !== "string") {
      const { bytes, modified = new Date() } = origin;
      const source = Object.assign(new MemorySource(bytes, id), { close: () => Promise.resolve() });
      const version = await MapVersion.open(source, modified, options);
      return new HostedMap(options, [], [], [version]);
    }
    const paths = packed === undefined ? [origin] : [origin, packed];
    const stamps = await Promise.all(paths.map(stampOf));
    const forms: MapVersion[] = [];
    try {
      for (const [i, path] of paths.entries()) {
        forms.push(await openVersion({ ...options, mustBePacked: i > 0 }, path, stamps[i]));
        if (packed !== undefined) refuseTwoPacked(forms[0], id);
      }
    } catch (error) {
      for (const form of forms) await form.release();
      throw error;
    }
    const map = new HostedMap(options, paths, stamps, forms);
    if (packed !== undefined && !map.isPair) {
      const reason = `${packed} was not made from ${origin}; each is replaced independently`;
      log.event("info", "packed form of another map", { map: id, reason });
    }
    return map;
  }

  get current(): MapVersion {
    return this.#forms[0];
  }

  /** The same map, packed. */
  get packed(): MapVersion | undefined {
    return this.#forms.at(1);
  }

  /** The fault of the current files, while an older version is served. */
  get fault(): string | undefined {
    return this.#reloading.error?.describe() ?? this.#waiting;
  }

  /** Whether the packed form was made from the text that is served. */
  get isPair(): boolean {
    return isPair(this.#forms);
  }

  /** Runs `use` with the current version, which stays open until it returns. */
  async with<T>(use: (version: MapVersion) => Promise<T>): Promise<T> {
    const version = this.current.retain();
    try {
      return await use(version);
    } finally {
      await version.release();
    }
  }

  /** Checks for replaced files, and loads a new version if it is valid. */
  check(): Promise<void> {
    return this.#reloading.check();
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#reloading.settled;
    await this.#options.copies.stop();
    await this.#preparing;
    for (const form of this.#forms) await form.release();
  }

  async #take(stamps: FileStamp[]): Promise<void> {
    const forms = this.#forms;
    const next: MapVersion[] = [];
    const errors: unknown[] = [];
    for (const [i, form] of forms.entries()) {
      const version = await this.#nextForm(i, stamps[i]).catch((error: unknown) => {
        errors.push(error);
        return form.retain();
      });
      next.push(version);
    }
    const isWaiting = this.isPair && !isPair(next);
    this.#waiting = isWaiting ? this.#waitsFor(next) : undefined;
    if (!isWaiting) this.#use(next);
    for (const version of isWaiting ? next : forms) await version.release();
    if (errors.length > 0) throw errors[0];
  }

  /** The form that a file contains now, to be released. */
  async #nextForm(i: number, stamp: FileStamp): Promise<MapVersion> {
    const form = this.#forms[i];
    if (isDeepStrictEqual(this.#stamps.get(form), stamp)) return form.retain();
    const path = this.#paths[i];
    const next = await openVersion({ ...this.#options, mustBePacked: i > 0 }, path, stamp);
    try {
      if (this.packed !== undefined && i === 0) refuseTwoPacked(next, path);
      refuseShrunk(extentOf(form), extentOf(next), path, this.#options);
    } catch (error) {
      await next.release();
      throw error;
    }
    const isSame = next.digest === form.digest;
    if (isSame) await next.release();
    const version = isSame ? form.retain() : next;
    this.#stamps.set(version, stamp);
    return version;
  }

  #waitsFor(next: readonly MapVersion[]): string {
    const [text, packed = text] = this.#paths;
    const reason =
      next[0] === this.current
        ? `${packed}: the new packed map waits for its source map, ${text}`
        : `${text}: the new map waits for its packed form, ${packed}`;
    this.#options.log.event("info", "new version waits", { map: this.id, reason });
    return reason;
  }

  #use(next: readonly MapVersion[]): void {
    const { id, log } = this.#options;
    const isNew = next.map((version, i) => version !== this.#forms[i]);
    if (!isNew.includes(true)) return;
    this.#forms = next;
    this.reloads += 1;
    log.event("info", "map replaced", { map: id, records: this.current.survey.records });
    if (isNew[0]) this.#prepare(this.current);
  }

  #refuse(error: MementoMapError): void {
    const { id, log } = this.#options;
    const { code } = error;
    this.refusals += 1;
    const what = { map: id, code, reason: error.describe() };
    log.event("error", "new map rejected; still serving the old one", what);
  }

  /** Runs in the background: the map is served uncompressed until its copies are ready. */
  #prepare(version: MapVersion): void {
    const { id, log } = this.#options;
    const { signal } = this.#ending;
    const work = async (): Promise<void> => {
      try {
        await version.prepareExplorer(signal);
        await version.prepareCopies();
        if (!version.isPacked) log.event("info", "compressed copies ready", { map: id });
      } finally {
        await version.release();
      }
    };
    version.retain();
    this.#preparing = work().catch((error: unknown) => {
      if (signal.aborted) return;
      log.event("error", "compressing failed", { map: id, reason: String(error) });
    });
  }
}

function isPair([text, packed]: readonly MapVersion[]): boolean {
  return packed !== undefined && packed.isMadeFrom(text);
}

function extentOf({ survey: { records, mementos }, isPacked }: MapVersion): MapExtent {
  return { records, mementos, isPacked: isPacked ? true : undefined };
}

function refuseTwoPacked({ isPacked }: MapVersion, source: string): void {
  if (!isPacked) return;
  throw new MementoMapError("MM_BAD_INPUT", "this is already a packed map; pass its source map", {
    position: { source },
  });
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

/** Opens the file, decompressed if necessary. */
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
    // The open file outlives its name; its space is freed when the version is closed.
    await rm(scratch, { force: true });
  }
}
