import { MementoMapError } from "../errors.ts";
import { interruptible } from "../interruption.ts";

/**
 * Random access to the bytes of one map, wherever they are kept.
 *
 * Lookup, merge and split need nothing else, so a local file, a `Uint8Array` and a remote URL read
 * with `Range` requests are all the same to them.
 */
export interface ByteSource {
  /** What messages call it: a path, a URL, `stdin`. */
  readonly name: string;
  /** The number of bytes; it does not change while the source is in use. */
  readonly size: number;
  /** Reads up to `length` bytes at `offset`; fewer only at the end of the source. */
  read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>;
}

/** Bytes already in memory as a source. Nothing is copied: reads are views of `bytes`. */
export class MemorySource implements ByteSource {
  readonly name: string;
  readonly size: number;
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array, name: string = "memory") {
    this.name = name;
    this.size = bytes.length;
    this.bytes = bytes;
  }

  read(offset: number, length: number): Promise<Uint8Array> {
    return Promise.resolve(this.bytes.subarray(offset, offset + length));
  }
}

/** How a range of a source is read through. */
export interface ChunkOptions {
  /** Where to start; default 0. */
  readonly start?: number;
  /** Where to stop; default the end of the source. */
  readonly end?: number;
  /** Bytes read at a time, and the memory held; default 256 KiB. */
  readonly chunkBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a source from start to end, chunk by chunk.
 *
 * @throws MM_IO when the source ends before its stated size.
 */
export async function* sourceChunks(
  source: ByteSource,
  options: ChunkOptions = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const { start = 0, end = source.size, chunkBytes = 262_144, signal } = options;
  let offset = start;
  while (offset < end) {
    const chunk = await readWhole(source, offset, Math.min(chunkBytes, end - offset), signal);
    offset += chunk.length;
    yield chunk;
  }
}

/**
 * Reads exactly `length` bytes.
 *
 * @throws MM_IO when the source gives fewer, which means that it changed while it was read;
 *   MM_INTERRUPTED.
 */
export async function readWhole(
  source: ByteSource,
  offset: number,
  length: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const bytes = await interruptible(signal, () => source.read(offset, length, signal));
  if (bytes.length === length) return bytes;
  throw new MementoMapError(
    "MM_IO",
    `got ${bytes.length} of ${length} bytes at ${offset}; it may have changed while it was read, try again`,
    { position: { source: source.name } },
  );
}
