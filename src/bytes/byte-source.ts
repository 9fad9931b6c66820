import { MementoMapError, overLimit } from "../errors.ts";
import { interruptible, interruption } from "../interruption.ts";
import { CR, joinBytes, LF } from "./bytes.ts";

/**
 * Random access to the bytes of one map, wherever it is stored.
 *
 * Lookup, merge and split need nothing else, so they work with a local file, a `Uint8Array`, or a
 * remote URL read with `Range` requests.
 */
export interface ByteSource {
  /** Name for messages: a path, a URL, `stdin`. */
  readonly name: string;
  /** The number of bytes; it does not change while the source is in use. */
  readonly size: number;
  /** Reads up to `length` bytes at `offset`; fewer only at the end of the source. */
  read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>;
}

/** Bytes in memory as a source. Nothing is copied: reads are views of `bytes`. */
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

/** Options to read a range of a source in chunks. */
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
 * @throws MM_IO when the source returns fewer, which means that it changed while it was read;
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
    `got ${bytes.length} of ${length} bytes at ${offset}; it may have changed while it was read: try again`,
    { position: { source: source.name } },
  );
}

/** One line of a source: `bytes[start, end)`, without its terminator. The bytes stay valid. */
export interface SourceLine {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** The start of the next line in the source; the size of the source if there is none. */
  readonly next: number;
}

/** Options for random access to lines. */
export interface SourceLinesOptions {
  /** Bytes per read; default 8 KiB, which suits local files. Use more for remote sources. */
  readonly blockBytes?: number;
  /** Number of cached blocks, evicted in LRU order; default 256. */
  readonly maxBlocks?: number;
  /** Limit on the length of a line; default 1 MiB. */
  readonly maxLineBytes?: number;
}

/**
 * Lines of a source by offset, without reading it whole.
 *
 * Reads aligned blocks and caches the most recently used ones, so that searches share the blocks near
 * the top of the search tree. Memory is `blockBytes * maxBlocks` plus the longest line.
 */
export class SourceLines {
  readonly source: ByteSource;
  readonly blockBytes: number;
  readonly #maxBlocks: number;
  readonly #maxLineBytes: number;
  /** In order of use: a `Map` preserves insertion order. */
  readonly #blocks = new Map<number, Uint8Array>();
  /** The most recently used block. */
  #newest = -1;
  /** Pending reads, shared by concurrent searches. */
  readonly #reads = new Map<number, SharedRead<Uint8Array>>();

  constructor(source: ByteSource, options: SourceLinesOptions = {}) {
    this.source = source;
    this.blockBytes = options.blockBytes ?? 8192;
    this.#maxBlocks = options.maxBlocks ?? 256;
    this.#maxLineBytes = options.maxLineBytes ?? 1_048_576;
  }

  /**
   * Reads the line at `offset`, which must be the start of a line.
   *
   * @throws MM_LIMIT when the line is longer than allowed.
   */
  async lineAt(offset: number, signal?: AbortSignal): Promise<SourceLine> {
    const index = Math.floor(offset / this.blockBytes);
    const block = this.#cached(index) ?? (await this.#read(index, signal));
    const start = offset - index * this.blockBytes;
    const newline = block.indexOf(LF, start);
    if (newline >= 0) return line(block, start, newline, offset + newline + 1 - start);
    if ((index + 1) * this.blockBytes >= this.source.size) {
      return line(block, start, block.length, this.source.size);
    }
    const next = await this.startAfter(offset, signal);
    const parts = [block.subarray(start)];
    for (let i = index + 1; i * this.blockBytes < next; i++) {
      const part = this.#cached(i) ?? (await this.#read(i, signal));
      parts.push(part.subarray(0, next - i * this.blockBytes));
    }
    const bytes = joinBytes(parts);
    const end = bytes[bytes.length - 1] === LF ? bytes.length - 1 : bytes.length;
    return line(bytes, 0, end, next);
  }

  /**
   * The start of the line after the first newline at or after `offset`; the size of the source if
   * there is none.
   */
  async startAfter(offset: number, signal?: AbortSignal): Promise<number> {
    let index = Math.floor(offset / this.blockBytes);
    let from = offset - index * this.blockBytes;
    while (index * this.blockBytes < this.source.size) {
      const block = this.#cached(index) ?? (await this.#read(index, signal));
      const newline = block.indexOf(LF, from);
      if (newline >= 0) return index * this.blockBytes + newline + 1;
      index++;
      from = 0;
      if (index * this.blockBytes - offset > this.#maxLineBytes) {
        throw overLimit(
          this.source.name,
          `the line at byte ${offset} is longer than ${this.#maxLineBytes} bytes; this does not look like a map`,
        );
      }
    }
    return this.source.size;
  }

  #cached(index: number): Uint8Array | undefined {
    const block = this.#blocks.get(index);
    // A search reads the same block several times in a row.
    if (block === undefined || index === this.#newest) return block;
    this.#blocks.delete(index);
    this.#blocks.set(index, block);
    this.#newest = index;
    return block;
  }

  /** Concurrent searches share a read; the signal of one aborts only its own wait. */
  #read(index: number, signal: AbortSignal | undefined): Promise<Uint8Array> {
    let read = this.#reads.get(index);
    if (read === undefined) {
      const forget = (): void => {
        if (this.#reads.get(index) === read) this.#reads.delete(index);
      };
      read = new SharedRead((ended) => this.#readBlock(index, ended), forget);
      this.#reads.set(index, read);
    }
    return read.wait(signal);
  }

  async #readBlock(index: number, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const offset = index * this.blockBytes;
    const length = Math.min(this.blockBytes, this.source.size - offset);
    const block = await readWhole(this.source, offset, length, signal);
    this.#blocks.set(index, block);
    this.#newest = index;
    if (this.#blocks.size > this.#maxBlocks) {
      const [oldest] = this.#blocks.keys();
      if (oldest !== undefined) this.#blocks.delete(oldest);
    }
    return block;
  }
}

function line(bytes: Uint8Array, start: number, newline: number, next: number): SourceLine {
  const end = newline > start && bytes[newline - 1] === CR ? newline - 1 : newline;
  return { bytes, start, end, next };
}

/** A read with several waiters. It is aborted when the last of them leaves. */
export class SharedRead<T> {
  readonly #result: Promise<T>;
  readonly #abort = new AbortController();
  readonly #forget: () => void;
  #waiting = 0;

  /** @param forget called when no more waiters may join: at the end, or when it is aborted. */
  constructor(read: (signal: AbortSignal) => Promise<T>, forget: () => void) {
    this.#forget = forget;
    this.#result = read(this.#abort.signal).finally(forget);
    // Errors reach each waiter; there may be none left.
    this.#result.catch(() => undefined);
  }

  /**
   * Waits for the result.
   *
   * @throws errors of the read; MM_INTERRUPTED as soon as `signal` is aborted.
   */
  wait(signal: AbortSignal | undefined): Promise<T> {
    this.#waiting += 1;
    if (signal === undefined) return this.#result;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        const ended = interruption(signal);
        reject(ended);
        this.#leave(ended);
      };
      if (signal.aborted) {
        onAbort();
        return;
      }
      signal.addEventListener("abort", onAbort, { once: true });
      const settled = (): void => signal.removeEventListener("abort", onAbort);
      this.#result.then(resolve, reject).finally(settled);
    });
  }

  #leave(reason: unknown): void {
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    this.#forget();
    this.#abort.abort(reason);
  }
}
