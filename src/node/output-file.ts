import { closeSync, constants, openSync, rmSync } from "node:fs";
import { type FileHandle, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Writable } from "node:stream";
import { MementoMapError } from "../errors.ts";
import { type Compressor, compressorFor } from "./compress.ts";
import type { Interrupt } from "./interrupt.ts";
import { ioError, systemCode } from "./io-error.ts";
import { syncFolder } from "./sync-folder.ts";
import { sweepOnce, temporaryPath } from "./temporary-path.ts";

/** Where results go. Exactly one of `commit` and `abort` ends it. */
export interface Output {
  /** The path, or `stdout`. */
  readonly name: string;
  /** Takes a block. The block belongs to the output until the promise is settled. */
  write(block: Uint8Array): Promise<void>;
  /** Where other threads may write what comes next themselves; for plain files only. */
  readonly place?: OutputPlace | undefined;
  /** Makes the result visible: all of it is on the disk under its name when this returns. */
  commit(): Promise<void>;
  /** Leaves nothing behind; what stood under the name before still does. */
  abort(): Promise<void>;
}

/** A stretch of the output that others write. */
export interface OutputPlace {
  /** The file that becomes the output. */
  readonly path: string;
  /** Where in it the next byte belongs. */
  readonly offset: number;
  /** Says that others have written so many bytes from `offset` on. */
  skip(bytes: number): void;
}

export interface OutputStreams {
  readonly stdout: Writable;
  /** Removes a half-written file when the process is told to stop. */
  readonly interrupt?: Interrupt | undefined;
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
  const file = await openTarget(path, streams.interrupt);
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

class StreamOutput implements Output {
  readonly name = "stdout";
  readonly #stream: Writable;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  write(block: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stream.write(block, (error) => {
        if (error === null || error === undefined) resolve();
        else reject(isClosedPipe(error) ? error : ioError(error, this.name));
      });
    });
  }

  commit(): Promise<void> {
    return Promise.resolve();
  }

  abort(): Promise<void> {
    return Promise.resolve();
  }
}

async function openTarget(path: string, interrupt: Interrupt | undefined): Promise<FileOutput> {
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
    interrupt?.signal.throwIfAborted();
    closeSync(openSync(temporary, "wx"));
    const release = interrupt?.onCleanUp(() => {
      rmSync(temporary, { force: true });
    });
    const file = await open(temporary, "r+");
    if (before !== undefined) await file.chmod(before.mode);
    return new FileOutput(path, file, { temporary, target, release });
  } catch (error) {
    throw ioError(error, path);
  }
}

interface Replacement {
  readonly temporary: string;
  readonly target: string;
  readonly release: (() => void) | undefined;
}

class FileOutput implements Output {
  readonly name: string;
  readonly #file: FileHandle;
  readonly #replacement: Replacement | undefined;
  #isOpen = true;
  /** Where the next byte goes; unknown for devices and pipes. */
  #offset: number | null;

  constructor(name: string, file: FileHandle, replacement: Replacement | undefined) {
    this.name = name;
    this.#file = file;
    this.#replacement = replacement;
    this.#offset = replacement === undefined ? null : 0;
  }

  get place(): OutputPlace | undefined {
    const [offset, replacement] = [this.#offset, this.#replacement];
    if (offset === null || replacement === undefined) return undefined;
    return {
      path: replacement.temporary,
      offset,
      skip: (bytes) => {
        this.#offset = offset + bytes;
      },
    };
  }

  async write(block: Uint8Array): Promise<void> {
    try {
      let written = 0;
      while (written < block.length) {
        const { bytesWritten } = await this.#file.write(
          block,
          written,
          block.length - written,
          this.#offset,
        );
        written += bytesWritten;
        if (this.#offset !== null) this.#offset += bytesWritten;
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
      const { temporary, target, release } = this.#replacement;
      await this.#file.sync();
      await this.#close();
      await rename(temporary, target);
      release?.();
      await syncFolder(dirname(target));
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

  write(block: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#compressor.write(block, (error) => {
        if (error === null || error === undefined) resolve();
        else reject(error);
      });
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
    try {
      // A compressor is not in object mode: what it gives are Buffers.
      for await (const block of this.#compressor) await this.#file.write(block as Uint8Array);
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(String(error));
      this.#compressor.destroy(reason);
      throw error;
    }
  }
}
