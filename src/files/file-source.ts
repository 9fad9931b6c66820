import { type FileHandle, open } from "node:fs/promises";
import { MementoMapError } from "../errors.ts";
import type { ByteSource } from "../bytes/byte-source.ts";
import { ioError } from "./io-error.ts";
import { checkSignal } from "../interruption.ts";

/**
 * Random access to the bytes of a local file, which is never read whole.
 *
 * Holds one file descriptor until {@link close}.
 */
export class FileSource implements ByteSource {
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly #file: FileHandle;

  private constructor(path: string, name: string, size: number, file: FileHandle) {
    this.path = path;
    this.name = name;
    this.size = size;
    this.#file = file;
  }

  /**
   * Opens a file. Messages call it `name`, which is its path unless told otherwise.
   *
   * @throws `MM_IO` when the file is missing, unreadable, or not a regular file.
   */
  static async open(path: string, name: string = path): Promise<FileSource> {
    const file = await open(path, "r").catch((error: unknown) => {
      throw ioError(error, name);
    });
    const stats = await file.stat();
    if (stats.isFile()) return new FileSource(path, name, stats.size, file);
    await file.close();
    const what = stats.isDirectory() ? "is a directory; name a file" : "cannot be read at random";
    throw new MementoMapError("MM_IO", what, { position: { source: name } });
  }

  /** Reads up to `length` bytes at `offset`; fewer only at the end of the file. */
  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    const bytes = new Uint8Array(Math.max(0, Math.min(length, this.size - offset)));
    await this.readInto(bytes, offset, signal);
    return bytes;
  }

  /** Fills `target` with the bytes at `offset`, or with as many as there are; returns how many. */
  async readInto(target: Uint8Array, offset: number, signal?: AbortSignal): Promise<number> {
    checkSignal(signal);
    const wanted = Math.max(0, Math.min(target.length, this.size - offset));
    let filled = 0;
    while (filled < wanted) {
      const { bytesRead } = await this.#file
        .read(target, filled, wanted - filled, offset + filled)
        .catch((error: unknown) => {
          throw ioError(error, this.name);
        });
      if (bytesRead === 0) {
        throw becameShorter(this.name);
      }
      filled += bytesRead;
    }
    return filled;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** An error about a file that somebody cuts while it is read. */
export function becameShorter(source: string): MementoMapError {
  const message = "became shorter while it was read; try again when nobody writes to it";
  return new MementoMapError("MM_IO", message, { position: { source } });
}
