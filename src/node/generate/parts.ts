import { open } from "node:fs/promises";
import { LF } from "../../bytes/ascii.ts";
import type { DetectedFormat, InputFormat } from "../../input/detect.ts";
import { detectFormat } from "../../input/detect.ts";
import { recognizeCompression } from "../decompress.ts";
import type { InputStreams } from "../input-file.ts";
import { openInput } from "../input-file.ts";
import { ioError } from "../io-error.ts";
import type { BlockTask, RangeTask } from "./job.ts";

/** A piece of work, and which input it is of. */
export interface Part {
  readonly source: string;
  readonly task: RangeTask | BlockTask;
  /** Stored bytes that this part stands for. */
  readonly bytes: number;
}

export interface PartsOptions {
  readonly format: InputFormat;
  readonly maxLineBytes: number;
  readonly streams: InputStreams;
  readonly signal?: AbortSignal | undefined;
}

const HEAD_BYTES = 1 << 16;
const RANGE_BYTES = 1 << 25;
const BLOCK_BYTES = 1 << 22;

/**
 * Cuts an input into parts that can be read independently.
 *
 * An uncompressed file is cut by offsets only and read by whoever gets the part. Anything else is
 * decompressed here and cut at line ends; at most one block is held.
 */
export async function* inputParts(
  path: string,
  options: PartsOptions,
): AsyncGenerator<Part, void, undefined> {
  const plain = path === "-" ? undefined : await readPlainHead(path);
  if (plain === undefined) {
    yield* streamParts(path, options);
    return;
  }
  const format = detectFormat(plain.head, options.format, path);
  for (let start = 0; start < plain.size; start += RANGE_BYTES) {
    const end = Math.min(start + RANGE_BYTES, plain.size);
    yield { source: path, bytes: end - start, task: { kind: "range", path, start, end, format } };
  }
}

/** The first bytes of a regular, uncompressed file; undefined for all others. */
async function readPlainHead(
  path: string,
): Promise<{ head: Uint8Array; size: number } | undefined> {
  try {
    const file = await open(path, "r");
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return undefined;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
      const head = buffer.subarray(0, bytesRead);
      return recognizeCompression(head) === undefined ? { head, size: stats.size } : undefined;
    } finally {
      await file.close();
    }
  } catch (error) {
    throw ioError(error, path);
  }
}

async function* streamParts(
  path: string,
  options: PartsOptions,
): AsyncGenerator<Part, void, undefined> {
  let stored = 0;
  const input = await openInput(path, options.streams, {
    signal: options.signal,
    onRead: (bytes) => {
      stored += bytes;
    },
  });
  let format: DetectedFormat | undefined;
  for await (const block of lineBlocks(input.chunks, options.maxLineBytes)) {
    format ??= detectFormat(
      new Uint8Array(block.buffer, 0, Math.min(block.length, HEAD_BYTES)),
      options.format,
      input.name,
    );
    const bytes = stored;
    stored = 0;
    yield { source: input.name, bytes, task: { kind: "block", ...block, format } };
  }
}

interface LineBlock {
  readonly buffer: ArrayBuffer;
  readonly length: number;
}

/** Gathers chunks into large blocks of whole lines; the last line may lack its end. */
async function* lineBlocks(
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
): AsyncGenerator<LineBlock, void, undefined> {
  let block = Buffer.allocUnsafeSlow(BLOCK_BYTES + maxLineBytes);
  let filled = 0;
  for await (const chunk of chunks) {
    let taken = 0;
    while (taken < chunk.length) {
      const size = Math.min(chunk.length - taken, block.length - filled);
      block.set(chunk.subarray(taken, taken + size), filled);
      filled += size;
      taken += size;
      if (filled < BLOCK_BYTES) continue;
      let length = block.lastIndexOf(LF, filled - 1) + 1;
      if (length === 0) {
        if (filled < block.length) continue;
        // Longer than a line may be: whoever reads the block says so, and knows the line number.
        length = filled;
      }
      const next = Buffer.allocUnsafeSlow(BLOCK_BYTES + maxLineBytes);
      block.copy(next, 0, length, filled);
      yield { buffer: block.buffer, length };
      filled -= length;
      block = next;
    }
  }
  if (filled > 0) yield { buffer: block.buffer, length: filled };
}
