import { closeSync, constants, mkdirSync, openSync, rmSync } from "node:fs";
import { type FileHandle, open, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Writable } from "node:stream";
import { ioError, MementoMapError, systemCode } from "../errors.ts";
import { type Compressor, compressorFor } from "./compress.ts";
import { checkSignal, type Interrupt } from "../interruption.ts";
import { removeFolderNow, sweepOnce, temporaryPath } from "./scratch.ts";

/** Where results go. Exactly one of `commit` and `abort` ends it. */
export interface Output {
  /** The path, or `stdout`. */
  readonly name: string;
  /** Takes a block. The block belongs to the output until the promise is settled. */
  write(block: Uint8Array): Promise<void>;
  /**
   * Replaces the first bytes by as many others, when all else is written and before `commit`. Only plain
   * files can, neither compressed ones nor streams.
   */
  replaceHead?(head: Uint8Array): Promise<void>;
  /** Makes the result visible: all of it is on the disk under its name when this returns. */
  commit(): Promise<void>;
  /** Leaves nothing behind; what stood under the name before still does. */
  abort(): Promise<void>;
}

export interface OutputStreams {
  readonly stdout: Writable;
  /** Removes a half-written file when the process is told to stop. */
  readonly interrupt?: Interrupt | undefined;
  /** The file is needed only while the process runs: nobody waits for the disk. */
  readonly isScratch?: boolean | undefined;
  /** Only its owner may read the file. */
  readonly isPrivate?: boolean | undefined;
}

/**
 * Opens a file for writing, or standard output for `-` and undefined.
 *
 * A file is written under a temporary name in the same folder and renamed by `commit`, so a failed
 * run leaves no half file, and an input may be its own output. A path that ends in `.gz` or `.zst`
 * is compressed. Devices and pipes are written to directly.
 *
 * A reader that closes the pipe of standard output makes `write` fail with the system's `EPIPE`
 * error, which {@link isClosedPipe} recognises.
 *
 * @throws `MM_IO` when the file cannot be made or written, `MM_USAGE` for `.zst` where Node cannot
 * compress it.
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

/** Whether an error only says that the reader of a pipe has seen enough. */
export function isClosedPipe(error: unknown): boolean {
  return systemCode(error) === "EPIPE";
}

/** Resolves when the stream takes more. */
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
    // Through a link, so that the link stays and what it names is replaced.
    const target = before === undefined ? path : await realpath(path);
    await sweepOnce(dirname(target));
    const temporary = temporaryPath(target);
    // Made and registered in one go: an interruption in between would leave it behind.
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
  /** Where the next byte goes; unknown for devices and pipes. */
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
    // Reported by the write or commit that meets it.
    this.#pumped.catch(() => undefined);
  }

  async write(block: Uint8Array): Promise<void> {
    await writeTo(this.#compressor, block).catch(async (error: unknown) => {
      // The compressor is gone because the file failed: that is what went wrong.
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
    // A compressor is not in object mode: what it gives are Buffers. Where the file fails, the loop
    // destroys it.
    for await (const block of this.#compressor) await this.#file.write(block as Uint8Array);
  }
}

/**
 * Runs `use` with a fresh folder that appears under `path` when it returns, and never when it
 * throws or is interrupted: the folder is there with all its files, or not at all.
 *
 * @throws `MM_IO` when there is something under `path` other than an empty folder, or when the
 * folder cannot be made.
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
  // Made and registered in one go: an interruption in between would leave it behind.
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
    try {
      // What is in the folder is on the disk before its name is there.
      await syncFolder(temporary);
      await rename(temporary, target);
      await syncFolder(dirname(target));
    } catch (error) {
      throw ioError(error, path);
    }
    return result;
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  } finally {
    release?.();
  }
}

/** @throws `MM_IO` where a folder cannot be made, because there is something. */
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
 * Writes all of a file to an output, through one buffer.
 *
 * (A read stream makes a buffer for each block. Those are garbage that Node clears away only when
 * there are tens of megabytes of it.)
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

/** Makes a rename last through a power cut. Windows cannot open folders, and needs no such call. */
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

/** {@link ioError} about a file or folder that was to be made: what does not exist is its folder. */
export function outputError(error: unknown, path: string): MementoMapError {
  return systemCode(error) === "ENOENT" ? missingFolder(path) : ioError(error, path);
}
