import { type FileHandle, open, stat } from "node:fs/promises";
import { constants, openSync, type Stats } from "node:fs";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { becameShorter, ioError, MementoMapError } from "../errors.ts";
import { decompressed, type DecompressOptions } from "./decompress.ts";
import { checkSignal } from "../interruption.ts";
import type { StreamPart } from "../bytes/damage.ts";
import type { ByteSource } from "../bytes/byte-source.ts";
import { recognizeCompression } from "../bytes/bytes.ts";

/** An opened input: its decompressed bytes, to be read once, from start to end. */
export interface Input<Part = Uint8Array> {
  /** The path, or `stdin`. */
  readonly name: string;
  /** The stored size of the file, or undefined for pipes. */
  readonly size: number | undefined;
  /** Reading to the end, or leaving the loop early, closes the file. */
  readonly chunks: AsyncIterable<Part>;
  /** Closes a file whose chunks were never requested; does nothing otherwise. */
  close(): Promise<void>;
}

export interface InputStreams {
  readonly stdin: AsyncIterable<Uint8Array>;
}

export interface InputOptions extends Omit<DecompressOptions, "source"> {
  /** Checked before each chunk. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of stored (not decompressed) bytes of each read; for progress. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

const CHUNK_BYTES = 512 * 1024;

/**
 * Opens a file, or standard input for `-` and undefined, and decompresses gzip and zstd by content.
 *
 * Allocates a new buffer for each chunk.
 *
 * @throws `MM_IO` at once when the file is missing, unreadable or a directory; while reading also
 * the errors of {@link decompressed}.
 */
export function openInput(
  path: string | undefined,
  streams: InputStreams,
  options?: InputOptions & { readonly damage?: undefined },
): Promise<Input>;
export function openInput(
  path: string | undefined,
  streams: InputStreams,
  options: InputOptions,
): Promise<Input<StreamPart>>;
export async function openInput(
  path: string | undefined,
  streams: InputStreams,
  options: InputOptions = {},
): Promise<Input<StreamPart>> {
  const input = (
    name: string,
    size: number | undefined,
    stored: AsyncIterable<Uint8Array>,
    close: () => Promise<void>,
  ): Input<StreamPart> => {
    const chunks = decompressed(watched(stored, options), { ...options, source: name });
    return { name, size, chunks, close };
  };
  if (path === undefined || path === "-") {
    return input("stdin", undefined, streams.stdin, () => Promise.resolve());
  }
  const isPipe = await stat(path).then(
    (found) => found.isFIFO(),
    () => false, // opening it reports the error
  );
  if (isPipe) {
    const pipe = openPipe(path);
    return input(path, undefined, readThrough(pipe, path), () => {
      pipe.destroy();
      return Promise.resolve();
    });
  }
  const { file, stats } = await openFile(path, path);
  const size = stats.isFile() ? stats.size : undefined;
  return input(path, size, readFile(file, path, size), () => file.close());
}

/** @throws MM_IO, also for a folder */
async function openFile(path: string, name: string): Promise<{ file: FileHandle; stats: Stats }> {
  const file = await open(path, "r").catch((error: unknown) => {
    throw ioError(error, name);
  });
  const stats = await file.stat();
  if (!stats.isDirectory()) return { file, stats };
  await file.close();
  throw new MementoMapError("MM_IO", "is a directory; name a file", { position: { source: name } });
}

/** @param size the minimum size; if less is read, the file became shorter in the meantime. */
async function* readFile(
  file: FileHandle,
  path: string,
  size: number = 0,
): AsyncGenerator<Uint8Array, void, undefined> {
  const stream = file.createReadStream({ highWaterMark: CHUNK_BYTES });
  try {
    yield* readThrough(stream, path);
    if (stream.bytesRead < size) throw becameShorter(path);
  } finally {
    await file.close();
  }
}

async function* readThrough(
  stream: Readable,
  path: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of stream) yield chunk as Uint8Array; // no encoding is set
  } catch (error) {
    throw ioError(error, path);
  }
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

/**
 * Random access to the bytes of a local file, without reading it whole.
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
   * Opens a file. `name`, by default the path, is used in messages.
   *
   * @throws `MM_IO` when the file is missing, unreadable, or not a regular file.
   */
  static async open(path: string, name: string = path): Promise<FileSource> {
    const { file, stats } = await openFile(path, name);
    if (stats.isFile()) return new FileSource(path, name, stats.size, file);
    await file.close();
    throw new MementoMapError("MM_IO", "does not support random access", {
      position: { source: name },
    });
  }

  /**
   * Opens a file, unless it is compressed, a pipe, or standard input.
   *
   * @throws `MM_IO` when the file is missing, unreadable, or a directory.
   */
  static async openPlain(path: string): Promise<FileSource | undefined> {
    if (path === "-") return undefined;
    const stats = await stat(path).catch((error: unknown) => {
      throw ioError(error, path);
    });
    if (!stats.isFile() && !stats.isDirectory()) return undefined;
    const source = await FileSource.open(path);
    let isPlain = false;
    try {
      isPlain = recognizeCompression(await source.read(0, 4)) === undefined;
      return isPlain ? source : undefined;
    } finally {
      if (!isPlain) await source.close();
    }
  }

  /** Reads up to `length` bytes at `offset`; fewer only at the end of the file. */
  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    const bytes = new Uint8Array(Math.max(0, Math.min(length, this.size - offset)));
    await this.readInto(bytes, offset, signal);
    return bytes;
  }

  /** Fills `target` with the bytes at `offset`, up to the end of the file; returns how many. */
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

/**
 * Opens a named pipe, such as `<(command)` in a shell, without blocking. A file read would block a
 * thread of Node, and the process could not exit until a writer opens the pipe.
 *
 * @throws MM_IO
 */
function openPipe(path: string): Socket {
  try {
    // Loaded lazily: nearly all inputs are files.
    const { Socket: PipeSocket } = process.getBuiltinModule("node:net");
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return new PipeSocket({ fd, readable: true, writable: false });
  } catch (error) {
    throw ioError(error, path);
  }
}

const READ_BYTES = 1 << 20;

/**
 * All bytes of a file, from its start; it can be read again. A chunk is valid until the next one is
 * requested: two buffers alternate, one of them for reading ahead.
 */
export async function* fileChunks(
  source: FileSource,
  signal?: AbortSignal,
  onRead?: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const size = Math.min(READ_BYTES, source.size);
  let [buffer, other] = [new Uint8Array(size), new Uint8Array(size)];
  const readAt = (offset: number): Promise<number> => {
    const reading = source.readInto(buffer, offset, signal);
    reading.catch(() => undefined); // handled below, if awaited at all
    return reading;
  };
  let next = readAt(0);
  for (let offset = 0; offset < source.size; offset += size) {
    const chunk = buffer.subarray(0, await next);
    [buffer, other] = [other, buffer];
    next = readAt(offset + size);
    onRead?.(chunk.length);
    yield chunk;
  }
}
