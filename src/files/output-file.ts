import { closeSync, constants, mkdirSync, openSync, rmSync } from "node:fs";
import { type FileHandle, open, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Writable } from "node:stream";
import { ioError, isMementoMapError, MementoMapError, systemCode } from "../errors.ts";
import { type Compressor, compressorFor } from "./compress.ts";
import { checkSignal, type Interrupt } from "../interruption.ts";
import { removeFolderNow, sweepOnce, temporaryPath } from "./scratch.ts";

/** A destination for results. Call exactly one of `commit` and `abort` at the end. */
export interface Output {
  /** The path, or `stdout`. */
  readonly name: string;
  /** Writes a block, which must not be modified until the promise is settled. */
  write(block: Uint8Array): Promise<void>;
  /**
   * Overwrites the first bytes, after everything else is written and before `commit`. Only for plain
   * files, not for compressed ones or streams.
   */
  replaceHead?(head: Uint8Array): Promise<void>;
  /** Publishes the result: all of it is on disk under its name when this returns. */
  commit(): Promise<void>;
  /** Discards the result; an existing file is left unchanged. */
  abort(): Promise<void>;
}

export interface OutputStreams {
  readonly stdout: Writable;
  /** Removes a partial file when the process is interrupted. */
  readonly interrupt?: Interrupt | undefined;
  /** The file is needed only while the process runs, and is not synced to disk. */
  readonly isScratch?: boolean | undefined;
  /** Only the owner may read the file. */
  readonly isPrivate?: boolean | undefined;
}

/**
 * Opens a file for writing, or standard output for `-` and undefined.
 *
 * A file is written under a temporary name in the same folder and renamed by `commit`, so a failed
 * run leaves no partial file, and the output may be the input file. A path that ends in `.gz` or
 * `.zst` is compressed. Devices and pipes are written to directly.
 *
 * A reader that closes the pipe of standard output makes `write` fail with the system's `EPIPE`
 * error, which {@link isClosedPipe} recognises.
 *
 * @throws `MM_IO` when the file cannot be created or written, `MM_USAGE` for `.zst` if Node does not
 * support it.
 */
export async function openOutput(
  path: string | undefined,
  streams: OutputStreams,
): Promise<Output> {
  if (path === undefined || path === "-") return new StreamOutput(streams.stdout);
  const makeCompressor = compressorFor(path);
  const file = await openTarget(path, streams);
  return makeCompressor === undefined ? file : new CompressedOutput(file, makeCompressor());
}

/**
 * Runs `use` with an output, which is committed when it returns and aborted when it throws.
 */
export async function withOutput<T>(
  path: string | undefined,
  streams: OutputStreams,
  use: (output: Output) => Promise<T>,
): Promise<T> {
  const output = await openOutput(path, streams);
  try {
    const result = await use(output);
    await output.commit();
    return result;
  } catch (error) {
    await output.abort();
    throw error;
  }
}

/** Whether an error only means that the reader of a pipe has closed it. */
export function isClosedPipe(error: unknown): boolean {
  return systemCode(error) === "EPIPE";
}

/** Resolves when the stream accepts more data. */
function writeTo(stream: Writable, block: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(block, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

class StreamOutput implements Output {
  readonly name = "stdout";
  readonly #stream: Writable;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  async write(block: Uint8Array): Promise<void> {
    await writeTo(this.#stream, block).catch((error: unknown) => {
      throw isClosedPipe(error) ? error : ioError(error, this.name);
    });
  }

  commit(): Promise<void> {
    return Promise.resolve();
  }

  abort(): Promise<void> {
    return Promise.resolve();
  }
}

async function openTarget(path: string, streams: OutputStreams): Promise<FileOutput> {
  const { interrupt, isScratch = false, isPrivate = false } = streams;
  try {
    const before = await stat(path).catch((error: unknown) => {
      if (systemCode(error) === "ENOENT") return undefined;
      throw error;
    });
    if (before?.isDirectory() === true) {
      throw new MementoMapError("MM_IO", "is a directory; name a file", {
        position: { source: path },
      });
    }
    if (before !== undefined && !before.isFile()) {
      return new FileOutput(path, await open(path, constants.O_WRONLY), undefined);
    }
    // Links are followed: the target is replaced, and the link stays.
    const target = before === undefined ? path : await realpath(path);
    await sweepOnce(dirname(target));
    const temporary = temporaryPath(target);
    // Created and registered synchronously: an interruption in between would leave it behind.
    checkSignal(interrupt?.signal);
    closeSync(openSync(temporary, "wx", isPrivate ? 0o600 : undefined));
    const release = interrupt?.onCleanUp(() => {
      rmSync(temporary, { force: true });
    });
    const file = await open(temporary, "r+");
    if (before !== undefined && !isPrivate) await file.chmod(before.mode);
    return new FileOutput(path, file, { temporary, target, isScratch, release });
  } catch (error) {
    throw outputError(error, path);
  }
}

interface Replacement {
  readonly temporary: string;
  readonly target: string;
  readonly isScratch: boolean;
  readonly release: (() => void) | undefined;
}

class FileOutput implements Output {
  readonly name: string;
  readonly #file: FileHandle;
  readonly #replacement: Replacement | undefined;
  readonly replaceHead?: (head: Uint8Array) => Promise<void>;
  #isOpen = true;
  /** Offset of the next byte; null for devices and pipes. */
  #offset: number | null;

  constructor(name: string, file: FileHandle, replacement: Replacement | undefined) {
    this.name = name;
    this.#file = file;
    this.#replacement = replacement;
    this.#offset = replacement === undefined ? null : 0;
    if (replacement !== undefined) this.replaceHead = (head) => this.#writeAt(head, 0);
  }

  async write(block: Uint8Array): Promise<void> {
    await this.#writeAt(block, this.#offset);
    if (this.#offset !== null) this.#offset += block.length;
  }

  async #writeAt(block: Uint8Array, offset: number | null): Promise<void> {
    try {
      let written = 0;
      while (written < block.length) {
        const at = offset === null ? null : offset + written;
        const left = block.length - written;
        written += (await this.#file.write(block, written, left, at)).bytesWritten;
      }
    } catch (error) {
      throw isClosedPipe(error) ? error : ioError(error, this.name);
    }
  }

  async commit(): Promise<void> {
    try {
      if (this.#replacement === undefined) {
        await this.#close();
        return;
      }
      const { temporary, target, isScratch, release } = this.#replacement;
      if (!isScratch) await this.#file.sync();
      await this.#close();
      await rename(temporary, target);
      release?.();
      if (!isScratch) await syncFolder(dirname(target));
    } catch (error) {
      throw ioError(error, this.name);
    }
  }

  async abort(): Promise<void> {
    await this.#close();
    if (this.#replacement === undefined) return;
    await rm(this.#replacement.temporary, { force: true });
    this.#replacement.release?.();
  }

  async #close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#file.close();
  }
}

class CompressedOutput implements Output {
  readonly name: string;
  readonly #file: Output;
  readonly #compressor: Compressor;
  readonly #pumped: Promise<void>;

  constructor(file: Output, compressor: Compressor) {
    this.name = file.name;
    this.#file = file;
    this.#compressor = compressor;
    this.#pumped = this.#pump();
    // Reported by the next write or commit.
    this.#pumped.catch(() => undefined);
  }

  async write(block: Uint8Array): Promise<void> {
    await writeTo(this.#compressor, block).catch(async (error: unknown) => {
      // The compressor was destroyed because the file failed: report that error.
      await this.#pumped;
      throw error;
    });
  }

  async commit(): Promise<void> {
    this.#compressor.end();
    await this.#pumped;
    await this.#file.commit();
  }

  async abort(): Promise<void> {
    this.#compressor.destroy();
    await Promise.allSettled([this.#pumped]);
    await this.#file.abort();
  }

  async #pump(): Promise<void> {
    // A compressor is not in object mode: it yields Buffers. The loop destroys it if the file fails.
    for await (const block of this.#compressor) await this.#file.write(block as Uint8Array);
  }
}

/**
 * Runs `use` with a new folder that is moved to `path` only when it returns, not when it throws or is
 * interrupted: the folder is published with all its files, or not at all.
 *
 * @throws `MM_IO` when `path` exists and is not an empty folder, or when the folder cannot be created.
 */
export async function withOutputFolder<T>(
  path: string,
  options: { readonly interrupt?: Interrupt | undefined },
  use: (folder: string) => Promise<T>,
): Promise<T> {
  await refuseFilledFolder(path);
  const target = resolve(path);
  await sweepOnce(dirname(target));
  const temporary = temporaryPath(target);
  // Created and registered synchronously: an interruption in between would leave it behind.
  checkSignal(options.interrupt?.signal);
  try {
    mkdirSync(temporary);
  } catch (error) {
    throw outputError(error, path);
  }
  const release = options.interrupt?.onCleanUp(() => {
    removeFolderNow(temporary);
  });
  try {
    const result = await use(temporary);
    // Entries must be on disk before the folder gets its name.
    await syncFolder(temporary);
    await rename(temporary, target);
    await syncFolder(dirname(target));
    return result;
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw isMementoMapError(error) || systemCode(error) === undefined
      ? error
      : ioError(error, path);
  } finally {
    release?.();
  }
}

/** @throws `MM_IO` when the path exists and is not an empty folder. */
export async function refuseFilledFolder(path: string): Promise<void> {
  const names = await readdir(path).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return [];
    throw ioError(error, path);
  });
  if (names.length === 0) return;
  throw new MementoMapError("MM_IO", "already exists and is not empty; name a new folder", {
    position: { source: path },
  });
}

const BUFFER_BYTES = 1 << 18;

/**
 * Copies a file to an output, through one buffer.
 *
 * (A read stream allocates a buffer for each block, which Node collects only after tens of megabytes.)
 *
 * @throws MM_IO
 */
export async function copyToOutput(path: string, output: Pick<Output, "write">): Promise<void> {
  const file = await open(path, "r").catch((error: unknown) => {
    throw ioError(error, path);
  });
  try {
    const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, BUFFER_BYTES).catch((error: unknown) => {
        throw ioError(error, path);
      });
      if (bytesRead === 0) return;
      await output.write(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

/** Makes a rename survive a power failure. Windows cannot open folders, and does not need this. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The error about a file whose folder does not exist. */
export function missingFolder(path: string): MementoMapError {
  const folder = dirname(path);
  return new MementoMapError("MM_IO", `the folder ${folder} does not exist; create it first`, {
    position: { source: path },
  });
}

/** As {@link ioError}, for a file or folder to be created: ENOENT means that its parent is missing. */
export function outputError(error: unknown, path: string): MementoMapError {
  return systemCode(error) === "ENOENT" ? missingFolder(path) : ioError(error, path);
}
