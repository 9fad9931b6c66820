import { once } from "node:events";
import type { Gunzip } from "node:zlib";
import { type Compression, recognizeCompression } from "../bytes/bytes.ts";
import { peek } from "../bytes/peek.ts";
import { MementoMapError, asError, badInput, overLimit, systemCode } from "../errors.ts";
import { type DamageLog, isChunk, type StreamPart } from "../bytes/damage.ts";

export interface DecompressOptions {
  /** Named in errors. */
  readonly source: string;
  /** Limit on decompressed bytes; none by default. */
  readonly maxDecompressedBytes?: number | undefined;
  /**
   * Bytes decompressed at a time; 1 MiB by default.
   *
   * Chunks of 16 KiB are freed at once, while larger ones wait for the next full garbage collection:
   * this saves 50 MB in long runs, for a little more time.
   */
  readonly chunkBytes?: number | undefined;
  /**
   * Set to skip damaged gzip members, and to record them here; the stream then has gaps. Damaged zstd
   * data is still an error.
   */
  readonly damage?: DamageLog | undefined;
  /** Set if the data is gzip, even if its first bytes are damaged. */
  readonly isGzip?: boolean | undefined;
}

/** Smaller decompression bombs do no harm, because the output is streamed. */
const RATIO_MATTERS_FROM_BYTES = 2 ** 30;
/** Sorted indexes compress 5 to 50 times. */
const MAX_RATIO = 1000;
const OUTPUT_CHUNK_BYTES = 1024 * 1024;
const CHUNKS_AHEAD = 2;

/**
 * Decompresses a stream if it is gzip or zstd; passes it on unchanged otherwise.
 *
 * Concatenated gzip members and zstd frames are read to the end; zero padding after the last gzip
 * member is allowed. Memory is bounded by a few chunks and, for zstd, the window of the frame.
 *
 * @throws `MM_BAD_INPUT` when the stream is truncated, damaged, or followed by other data, and
 * `MM_LIMIT` when it exceeds the limits.
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
  const stored = { bytes: 0, lastNonZero: -1 };
  const { head, chunks: all } = await peek(counted(chunks, stored), 4);
  const compressed = all[Symbol.asyncIterator]();
  const { isGzip = false } = options;
  try {
    const output = await inflate(
      isGzip ? "gzip" : recognizeCompression(head),
      compressed,
      stored,
      options,
    );
    const { maxDecompressedBytes: limit = Infinity } = options;
    let total = 0;
    for await (const chunk of output) {
      if (isChunk(chunk)) total += chunk.length;
      if (total > limit) throw tooLarge(options.source, `more than ${limit} bytes`);
      if (total > RATIO_MATTERS_FROM_BYTES && total > stored.bytes * MAX_RATIO) {
        throw tooLarge(options.source, `is more than ${MAX_RATIO} times larger when decompressed`);
      }
      yield chunk;
    }
  } finally {
    await compressed.return?.();
  }
}

/** Bytes read from a compressed stream. */
interface Stored {
  bytes: number;
  /** The offset of the last byte that is not zero, or -1. */
  lastNonZero: number;
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  stored: Stored,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    let last = chunk.length - 1;
    while (last >= 0 && chunk[last] === 0) last -= 1;
    if (last >= 0) stored.lastNonZero = stored.bytes + last;
    stored.bytes += chunk.length;
    yield chunk;
  }
}

/** Loads decoders lazily: most inputs need none, and loading is slow. */
async function inflate(
  compression: Compression | undefined,
  iterator: AsyncIterator<Uint8Array>,
  stored: Stored,
  { source, chunkBytes = OUTPUT_CHUNK_BYTES, damage }: DecompressOptions,
): Promise<AsyncIterable<StreamPart>> {
  const chunks = { [Symbol.asyncIterator]: () => iterator };
  if (compression === undefined) return chunks;
  if (compression === "zstd") {
    const { unzstd } = await import("./zstd.ts");
    return unzstd(chunks, source);
  }
  if (damage === undefined) return gunzip(iterator, stored, source, chunkBytes);
  const { soundMembers } = await import("./gzip-members.ts");
  return soundMembers(chunks, source, damage);
}

/**
 * Decodes gzip members.
 *
 * The decoder stops at the first zero byte after a member and ignores the rest. That is correct for
 * padding only, so the rest is read and checked here.
 */
async function* gunzip(
  chunks: AsyncIterator<Uint8Array>,
  stored: Stored,
  source: string,
  chunkSize: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { createGunzip } = await import("node:zlib");
  // The decoder works ahead on another thread. Its types lack the options of streams.
  const options = { chunkSize, readableHighWaterMark: CHUNKS_AHEAD * chunkSize };
  const decoder = createGunzip(options);
  try {
    yield* pump(decoder, chunks);
  } catch (error) {
    throw decoderError(error, source);
  }
  while ((await chunks.next()).done !== true);
  if (stored.lastNonZero >= decoder.bytesWritten) {
    throw badInput(source, "unexpected data after the end of the compressed data");
  }
}

/**
 * Feeds a decoder and yields its output. Stops requesting chunks once the decoder is done; the last
 * one may then be discarded.
 *
 * Errors of both are passed on.
 */
async function* pump(
  decoder: Gunzip,
  chunks: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const closed = new Promise<void>((resolve) => {
    decoder.once("close", resolve);
  });
  const feed = async (): Promise<void> => {
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      if (decoder.readableEnded || decoder.destroyed) return;
      if (!decoder.write(next.value)) await Promise.race([once(decoder, "drain"), closed]);
    }
    decoder.end();
  };
  const feeding = feed().catch((error: unknown) => {
    decoder.destroy(asError(error));
  });
  try {
    for await (const chunk of decoder) {
      // A zlib stream is not in object mode: it yields Buffers.
      yield chunk as Uint8Array;
    }
    await feeding;
  } finally {
    decoder.destroy();
  }
}

function decoderError(error: unknown, source: string): unknown {
  const code = systemCode(error);
  if (code === "Z_BUF_ERROR") {
    return badInput(
      source,
      "the compressed data is truncated; fetch or copy the file again",
      error,
    );
  }
  if (code?.startsWith("Z_") === true) {
    const what = error instanceof Error ? error.message : "";
    return badInput(
      source,
      `the compressed data is damaged or followed by other data (${what})`,
      error,
    );
  }
  return error;
}

function tooLarge(source: string, message: string): MementoMapError {
  return overLimit(source, `${message}; decompress it first if you trust it`);
}
