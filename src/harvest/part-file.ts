import type { FileHandle } from "node:fs/promises";
import { open, rm } from "node:fs/promises";
import { ioError, systemCode } from "../files/io-error.ts";
import { stale } from "./harvest-files.ts";

const READ_BYTES = 1 << 16;

/**
 * A file that grows behind what is known to be whole, which a later run goes on from.
 *
 * Errors are MM_IO and name the path.
 */
export class PartFile {
  readonly path: string;
  readonly #file: FileHandle;
  #end: number;
  #isOpen = true;

  private constructor(path: string, file: FileHandle, end: number) {
    this.path = path;
    this.#file = file;
    this.#end = end;
  }

  /**
   * Opens what an earlier run left and forgets what is behind its first `bytes`; with 0, begins anew.
   *
   * @throws MM_USAGE when the file has fewer bytes, MM_IO
   */
  static async open(path: string, bytes: number): Promise<PartFile> {
    let file: FileHandle;
    try {
      file = await open(path, bytes === 0 ? "w+" : "r+");
    } catch (error) {
      throw bytes > 0 && systemCode(error) === "ENOENT"
        ? stale(path, "is gone, and was the beginning", error)
        : ioError(error, path);
    }
    try {
      const { size } = await file.stat();
      if (size < bytes) throw stale(path, `has only ${size} of ${bytes} bytes`);
      await file.truncate(bytes);
      return new PartFile(path, file, bytes);
    } catch (error) {
      await file.close();
      throw ioError(error, path);
    }
  }

  /** How many bytes there are. */
  get end(): number {
    return this.#end;
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      let at = 0;
      while (at < bytes.length) {
        const { bytesWritten } = await this.#file.write(bytes, at, bytes.length - at, this.#end);
        at += bytesWritten;
        this.#end += bytesWritten;
      }
    } catch (error) {
      throw ioError(error, this.path);
    }
  }

  /** Takes back all but the first `bytes`. */
  async cutTo(bytes: number): Promise<void> {
    try {
      await this.#file.truncate(bytes);
      this.#end = bytes;
    } catch (error) {
      throw ioError(error, this.path);
    }
  }

  /** The bytes from `from` on, one chunk at a time; each is valid until the next. */
  async *chunks(from: number = 0): AsyncGenerator<Uint8Array, void, undefined> {
    const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, this.#end - from));
    for (let at = from; at < this.#end;) {
      const length = Math.min(buffer.length, this.#end - at);
      const { bytesRead } = await this.#file.read(buffer, 0, length, at).catch((error: unknown) => {
        throw ioError(error, this.path);
      });
      if (bytesRead === 0) throw stale(this.path, "became shorter while it was read");
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Returns when what was written would survive a loss of power. */
  async sync(): Promise<void> {
    try {
      await this.#file.datasync();
    } catch (error) {
      throw ioError(error, this.path);
    }
  }

  /** Does nothing the second time. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#file.close();
  }

  /** Closes and removes the file. */
  async remove(): Promise<void> {
    await this.close();
    await rm(this.path, { force: true });
  }
}
