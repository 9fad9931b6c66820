import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type MapGuardOptions, refuseShrunk } from "../../map/map-guard.ts";
import { recognizeCompression } from "../../bytes/bytes.ts";
import { FileSource, openInput } from "../../files/input-file.ts";
import { type FileStamp, isSameStamp, stampOf } from "../../files/shared-files.ts";
import { foreseenError, ioError } from "../../files/io-error.ts";
import type { Log } from "../../http/log.ts";
import { MapVersion, type MapVersionOptions } from "./map-version.ts";

export interface HostedMapOptions extends MapVersionOptions, MapGuardOptions {
  /** The name in `/maps/{id}`. */
  readonly id: string;
  readonly path: string;
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
  readonly path: string;
  readonly #options: HostedMapOptions;
  #current: MapVersion;
  #stamp: FileStamp | undefined;
  /** What was wrong with the file when it was last looked at. */
  #fault: string | undefined;
  #checking: Promise<void> | undefined;
  #compressing: Promise<void> = Promise.resolve();
  #isClosed = false;
  reloads = 0;
  refusals = 0;

  private constructor(options: HostedMapOptions, current: MapVersion, stamp: FileStamp) {
    this.id = options.id;
    this.path = options.path;
    this.#options = options;
    this.#current = current;
    this.#stamp = stamp;
    this.#compress(current);
  }

  /** @throws what is wrong with the map or its file. */
  static async open(options: HostedMapOptions): Promise<HostedMap> {
    const stamp = await stampOf(options.path);
    return new HostedMap(options, await openVersion(options, stamp), stamp);
  }

  get current(): MapVersion {
    return this.#current;
  }

  /** What is wrong with the file as it is now; an older version is served. */
  get fault(): string | undefined {
    return this.#fault;
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
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#checking;
    await this.#options.copies.stop();
    await this.#compressing;
    await this.#current.release();
  }

  async #check(): Promise<void> {
    const { id, log } = this.#options;
    try {
      const stamp = await stampOf(this.path);
      if (this.#stamp !== undefined && isSameStamp(stamp, this.#stamp)) return;
      // Noted first: a version that is refused is not tried again until the file changes again.
      this.#stamp = stamp;
      const next = await openVersion(this.#options, stamp);
      this.#fault = undefined;
      if (next.digest === this.#current.digest) {
        await next.release();
        return;
      }
      await this.#refuseShrunk(next);
      const old = this.#current;
      this.#current = next;
      this.reloads += 1;
      log.event("info", "map replaced", { map: id, records: next.survey.records });
      this.#compress(next);
      await old.release();
    } catch (thrown) {
      const error = foreseenError(thrown, this.path);
      if (error === undefined) throw thrown;
      // The file is gone, or there is a want of open files: the same version may be read later.
      if (error.code === "MM_IO") this.#stamp = undefined;
      const isNews = error.code !== "MM_IO" || error.describe() !== this.#fault;
      this.#fault = error.describe();
      if (!isNews) return;
      this.refusals += 1;
      log.event("error", "new map refused, the old one is kept", {
        map: id,
        code: error.code,
        reason: error.describe(),
      });
    }
  }

  async #refuseShrunk(next: MapVersion): Promise<void> {
    try {
      refuseShrunk(this.#current.survey, next.survey, this.path, this.#options);
    } catch (error) {
      await next.release();
      throw error;
    }
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

async function openVersion(options: HostedMapOptions, stamp: FileStamp): Promise<MapVersion> {
  const source = await openPlain(options);
  try {
    return await MapVersion.open(source, new Date(stamp.mtimeMs), options);
  } catch (error) {
    await source.close();
    throw ioError(error, options.path);
  }
}

/** The file, or what it holds if it is compressed. */
async function openPlain({ id, path, scratchFolder }: HostedMapOptions): Promise<FileSource> {
  const source = await FileSource.open(path);
  if (recognizeCompression(await source.read(0, 4)) === undefined) return source;
  await source.close();
  const scratch = join(scratchFolder, `${id}.plain`);
  const input = await openInput(path, { stdin: nothing() });
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

async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {
  // The path is never `-`, so standard input is not read.
}
