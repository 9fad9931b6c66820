import { type FileHandle, open, stat } from "node:fs/promises";
import { MementoMapError } from "../errors.ts";
import { becameShorter } from "./file-source.ts";
import { decompressed, type DecompressOptions } from "./decompress.ts";
import { ioError } from "./io-error.ts";
import { openPipe } from "./named-pipe.ts";
import { checkSignal } from "../interruption.ts";

/** An opened input: its decompressed bytes, to be read once, from start to end. */
export interface Input {
  /** The path, or `stdin`. */
  readonly name: string;
  /** The size of the file as it is stored, or undefined for pipes. */
  readonly size: number | undefined;
  /** Reading to the end, or leaving the loop early, closes the file. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Closes a file whose chunks were never asked for; does nothing otherwise. */
  close(): Promise<void>;
}

export interface InputStreams {
  readonly stdin: AsyncIterable<Uint8Array>;
}

export interface InputOptions extends Omit<DecompressOptions, "source"> {
  /** Looked at before each chunk. */
  readonly signal?: AbortSignal | undefined;
  /** Told how many stored (not decompressed) bytes each read gave; for progress. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

const CHUNK_BYTES = 512 * 1024;

/**
 * Opens a file, or standard input for `-` and undefined, and decompresses gzip and zstd by content.
 *
 * Reads one chunk ahead of the consumer, and makes a new buffer for each.
 *
 * @throws `MM_IO` at once when the file is missing, unreadable or a directory; while reading also
 * the errors of {@link decompressed}.
 */
export async function openInput(
  path: string | undefined,
  streams: InputStreams,
  options: InputOptions = {},
): Promise<Input> {
  if (path === undefined || path === "-") {
    const name = "stdin";
    const stored = watched(streams.stdin, options);
    return {
      name,
      size: undefined,
      chunks: decompressed(stored, { ...options, source: name }),
      close: () => Promise.resolve(),
    };
  }
  const isPipe = await stat(path).then(
    (found) => found.isFIFO(),
    () => false, // opening it says what is wrong
  );
  if (isPipe) {
    const pipe = openPipe(path);
    const chunks = decompressed(watched(pipe.chunks(), options), { ...options, source: path });
    return { name: path, size: undefined, chunks, close: () => pipe.close() };
  }
  const file = await open(path, "r").catch((error: unknown) => {
    throw ioError(error, path);
  });
  const stats = await file.stat();
  if (stats.isDirectory()) {
    await file.close();
    throw new MementoMapError("MM_IO", "is a directory; name a file", {
      position: { source: path },
    });
  }
  const reader = new FileReader(file, path, stats.isFile() ? stats.size : 0);
  return {
    name: path,
    size: stats.isFile() ? stats.size : undefined,
    chunks: decompressed(watched(reader.chunks(), options), { ...options, source: path }),
    close: () => reader.close(),
  };
}

async function* watched(
  chunks: AsyncIterable<Uint8Array>,
  options: InputOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    checkSignal(options.signal);
    options.onRead?.(chunk.length);
    yield chunk;
  }
}

class FileReader {
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #size: number;
  #isClosed = false;

  /** @param size what the file has at least; with less, it became shorter while it was read. */
  constructor(file: FileHandle, path: string, size: number) {
    this.#file = file;
    this.#path = path;
    this.#size = size;
  }

  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    let ahead = this.#readAhead();
    let total = 0;
    try {
      for (;;) {
        const chunk = await ahead;
        total += chunk.length;
        if (chunk.length === 0 && total < this.#size) throw becameShorter(this.#path);
        if (chunk.length === 0) return;
        ahead = this.#readAhead();
        yield chunk;
      }
    } catch (error) {
      throw ioError(error, this.#path);
    } finally {
      // The file must not be closed under a read; its outcome no longer matters here.
      await Promise.allSettled([ahead]);
      await this.close();
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#file.close();
  }

  /** Starts a read whose failure is reported when it is awaited, and not before. */
  #readAhead(): Promise<Uint8Array> {
    const chunk = this.#read();
    chunk.catch(() => undefined);
    return chunk;
  }

  async #read(): Promise<Uint8Array> {
    // Above the pool's limit, so each buffer is its own, and need not be cleared first.
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    const { bytesRead } = await this.#file.read(buffer, 0, CHUNK_BYTES, null);
    return buffer.subarray(0, bytesRead);
  }
}
