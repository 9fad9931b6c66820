import { type Compression, recognizeCompression } from "../bytes/bytes.ts";
import { MementoMapError, systemCode } from "../errors.ts";
import { type DamageLog, isChunk, type StreamPart } from "../bytes/damage.ts";
import type { ZlibStream } from "./decoders.ts";

export interface DecompressOptions {
  /** Named in errors. */
  readonly source: string;
  /** The most bytes to give out; no limit by default. */
  readonly maxDecompressedBytes?: number | undefined;
  /**
   * How many times larger than its input the output may be; 1000 by default.
   *
   * Only looked at once the output has passed 1 GiB: below that a bomb does no harm, because the
   * output is streamed. A sorted index shrinks 5 to 50 times.
   */
  readonly maxRatio?: number | undefined;
  /**
   * Bytes decompressed at a time; 1 MiB by default.
   *
   * Chunks of 16 KiB are so short-lived that their memory is free again at once, where larger ones
   * wait for the next full collection: 50 MB less in long runs, for a little more time.
   */
  readonly chunkBytes?: number | undefined;
  /**
   * Set to skip gzip members that are damaged, and to note them here; the stream tells where. zstd
   * data that is damaged stays an error.
   */
  readonly damage?: DamageLog | undefined;
}

const RATIO_MATTERS_FROM_BYTES = 2 ** 30;
const DEFAULT_MAX_RATIO = 1000;
const OUTPUT_CHUNK_BYTES = 1024 * 1024;
const CHUNKS_AHEAD = 2;
/** A zstd block of 4 bytes may stand for 128 KiB; small steps keep what one step makes small. */
const ZSTD_STEP_BYTES = 4096;

/**
 * Gives the bytes of a stream, decompressed if they are gzip or zstd, as they are otherwise.
 *
 * Concatenated gzip members and zstd frames are read to the end; zero padding after the last gzip
 * member is allowed. Memory is bounded by a few chunks and, for zstd, the window of the frame.
 *
 * @throws `MM_BAD_INPUT` when the stream is cut short, damaged, or followed by something else, and
 * `MM_LIMIT` when it grows beyond what the options allow.
 */
export function decompressed(
  chunks: AsyncIterable<Uint8Array>,
  options: DecompressOptions & { readonly damage?: undefined },
): AsyncGenerator<Uint8Array, void, undefined>;
export function decompressed(
  chunks: AsyncIterable<Uint8Array>,
  options: DecompressOptions,
): AsyncGenerator<StreamPart, void, undefined>;
export async function* decompressed(
  chunks: AsyncIterable<Uint8Array>,
  options: DecompressOptions,
): AsyncGenerator<StreamPart, void, undefined> {
  const iterator = chunks[Symbol.asyncIterator]();
  const compressed = new Counted(iterator);
  try {
    const start = await compressed.peek(4);
    const output = await inflate(recognizeCompression(start), compressed, options);
    const limit = options.maxDecompressedBytes ?? Number.POSITIVE_INFINITY;
    const maxRatio = options.maxRatio ?? DEFAULT_MAX_RATIO;
    let given = 0;
    for await (const chunk of output) {
      if (isChunk(chunk)) given += chunk.length;
      if (given > limit) throw tooLarge(options.source, `holds more than ${limit} bytes`);
      if (given > RATIO_MATTERS_FROM_BYTES && given > compressed.bytes * maxRatio) {
        throw tooLarge(options.source, `is more than ${maxRatio} times larger when decompressed`);
      }
      yield chunk;
    }
  } finally {
    await iterator.return?.();
  }
}

/** Loads decoders only when they are needed: most inputs need none, and loading takes a while. */
async function inflate(
  compression: Compression | undefined,
  chunks: Counted,
  options: DecompressOptions,
): Promise<AsyncIterable<StreamPart>> {
  const { source, chunkBytes: chunkSize = OUTPUT_CHUNK_BYTES, damage } = options;
  if (compression === undefined) return chunks.rest();
  if (compression === "gzip" && damage !== undefined) {
    const { soundMembers } = await import("./gzip-members.ts");
    return soundMembers(chunks.rest(), source, damage);
  }
  const zlib = await import("node:zlib");
  if (compression === "gzip") {
    return throughGunzip(zlib.createGunzip(ahead(chunkSize)), chunks, source);
  }
  // The types are those of the oldest Node we run on, which has no zstd.
  const native = zstdDecoder(zlib as ZstdOfNode);
  return native === undefined
    ? throughFzstd(chunks, source)
    : throughFrames(() => native(ahead(chunkSize)), chunks, source);
}

/** What of node:zlib reads zstd. */
interface ZstdOfNode {
  readonly createZstdDecompress?: (options: { chunkSize: number }) => ZlibStream;
  readonly zstdDecompressSync?: (bytes: Uint8Array) => Uint8Array;
}

/** Six letters of a frame, whose checksum is cut short. */
const CUT_FRAME = Buffer.from("KLUv/QRYMQAAaGVsbG8KU4g=", "base64");

/** Node's own decoder, where it can be relied on: that of Node 22 takes cut data for whole. */
function zstdDecoder(zlib: ZstdOfNode): ZstdOfNode["createZstdDecompress"] {
  const { createZstdDecompress, zstdDecompressSync } = zlib;
  if (zstdDecompressSync === undefined) return undefined;
  try {
    zstdDecompressSync(CUT_FRAME);
    return undefined;
  } catch {
    return createZstdDecompress;
  }
}

/** Lets the decoder, which works on another thread, go on while a chunk is being read. */
function ahead(chunkSize: number): { chunkSize: number } {
  // A zlib stream takes the options of any stream; its types do not say so.
  const options = { chunkSize, readableHighWaterMark: CHUNKS_AHEAD * chunkSize };
  return options;
}

/**
 * Decodes gzip members.
 *
 * The decoder stops at the first zero byte after a member and ignores the rest. That is right for
 * padding and wrong for anything else, so the rest is read and looked at here.
 */
async function* throughGunzip(
  decoder: ZlibStream,
  chunks: Counted,
  source: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { pump } = await import("./decoders.ts");
  try {
    yield* pump(decoder, chunks.rest());
  } catch (error) {
    throw explained(error, source);
  }
  await chunks.readAll();
  if (chunks.lastNonZero >= decoder.bytesWritten) {
    throw damaged(source, "something else follows the compressed data");
  }
}

async function* throughFrames(
  makeDecoder: () => ZlibStream,
  chunks: Counted,
  source: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { decodeFrames } = await import("./decoders.ts");
  try {
    yield* decodeFrames(makeDecoder, chunks.rest());
  } catch (error) {
    throw explained(error, source);
  }
}

/** Feeds the portable decoder. It does not verify frame checksums; Node's own does. */
async function* throughFzstd(
  chunks: Counted,
  source: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const [{ Decompress }, { ZstdWindowCheck }] = await Promise.all([
    import("fzstd"),
    import("./decoders.ts"),
  ]);
  const windowCheck = new ZstdWindowCheck(source);
  let ready: Uint8Array[] = [];
  const decoder = new Decompress((block) => {
    if (block.length > 0) ready.push(block);
  });
  const push = (bytes: Uint8Array, isLast: boolean): Uint8Array[] => {
    ready = [];
    try {
      decoder.push(bytes, isLast);
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      throw damaged(source, `the zstd data is cut short or damaged (${what})`, error);
    }
    return ready;
  };
  for await (const chunk of chunks.rest()) {
    for (let at = 0; at < chunk.length; at += ZSTD_STEP_BYTES) {
      const step = chunk.subarray(at, at + ZSTD_STEP_BYTES);
      windowCheck.take(step);
      yield* push(step, false);
    }
  }
  yield* push(new Uint8Array(0), true);
}

function explained(error: unknown, source: string): unknown {
  const code = systemCode(error);
  if (code === "Z_BUF_ERROR" || code === "ZSTD_error_srcSize_wrong") {
    return damaged(source, "the compressed data is cut short; fetch or copy the file again", error);
  }
  if (code?.startsWith("Z_") === true || code?.startsWith("ZSTD_") === true) {
    const what = error instanceof Error ? error.message : "";
    return damaged(
      source,
      `the compressed data is damaged or followed by something else (${what})`,
      error,
    );
  }
  return error;
}

function damaged(source: string, message: string, cause?: unknown): MementoMapError {
  return new MementoMapError("MM_BAD_INPUT", message, { position: { source }, cause });
}

function tooLarge(source: string, message: string): MementoMapError {
  return new MementoMapError("MM_LIMIT", `${message}; decompress it first if you trust it`, {
    position: { source },
  });
}

/** A stream that can be peeked at, and that knows how much of it was read. */
class Counted {
  /** How many bytes were read. */
  bytes = 0;
  /** The offset of the last byte read that is not zero, or -1. */
  lastNonZero = -1;
  readonly #iterator: AsyncIterator<Uint8Array>;
  #held: Uint8Array[] = [];

  constructor(iterator: AsyncIterator<Uint8Array>) {
    this.#iterator = iterator;
  }

  /** The first bytes, which {@link rest} gives again; fewer than `length` only at the end. */
  async peek(length: number): Promise<Uint8Array> {
    const start: number[] = [];
    while (start.length < length) {
      const chunk = await this.#next();
      if (chunk === undefined) break;
      this.#held.push(chunk);
      start.push(...chunk.subarray(0, length - start.length));
    }
    return Uint8Array.from(start);
  }

  async *rest(): AsyncGenerator<Uint8Array, void, undefined> {
    const held = this.#held;
    this.#held = [];
    yield* held;
    for (;;) {
      const chunk = await this.#next();
      if (chunk === undefined) return;
      yield chunk;
    }
  }

  async readAll(): Promise<void> {
    while ((await this.#next()) !== undefined);
  }

  async #next(): Promise<Uint8Array | undefined> {
    const result = await this.#iterator.next();
    if (result.done === true) return undefined;
    const chunk = result.value;
    let last = chunk.length - 1;
    while (last >= 0 && chunk[last] === 0) last -= 1;
    if (last >= 0) this.lastNonZero = this.bytes + last;
    this.bytes += chunk.length;
    return chunk;
  }
}
