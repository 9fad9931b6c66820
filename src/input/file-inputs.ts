import { open } from "node:fs/promises";
import { joinBytes, LF } from "../bytes/bytes.ts";
import type { Peeked } from "../bytes/peek.ts";
import { type DetectedFormat, detectFormat, trustedFormat } from "./detect.ts";
import {
  cutShort,
  type ExpectedSize,
  type FileSlice,
  HEAD_BYTES,
  type IndexInput,
  type OpenOptions,
  type Part,
  type ReadTask,
  type Split,
  trustIn,
  wholeMap,
} from "./index-input.ts";
import { ioError } from "../errors.ts";
import { isChunk, newDamageLog, type StreamPart } from "../bytes/damage.ts";
import { decompressed } from "../files/decompress.ts";
import { fileChunks } from "./read-file.ts";
import { openInput } from "../files/input-file.ts";
import { captureBatches, textOf } from "./stream-rows.ts";

const RANGE_BYTES = 1 << 23;
const SAMPLES = 16;
const SAMPLE_BYTES = 1 << 14;

/** An uncompressed index file: cut by offsets only, and read where its parts are processed. */
export async function openPlain(
  path: string,
  head: Uint8Array,
  size: number,
  options: OpenOptions,
): Promise<IndexInput> {
  const format = detectFormat(head, options.format, path);
  const sample =
    trustIn(path, options) === "auto" ? await sampleLines(path, size) : new Uint8Array(0);
  return plainInput(path, size, trustedFormat(format, sample, trustIn(path, options), options));
}

/** As {@link openPlain}, for a format that is known; of a split, if one is given. */
export function plainInput(
  path: string,
  size: number,
  format: DetectedFormat,
  split: Split = { start: 0, end: size },
): IndexInput {
  const parts = (): AsyncIterable<Part> => ranges(path, split, format);
  const bytes = split.end - split.start;
  return { source: path, size: bytes, isInflated: false, isRanged: true, format, parts };
}

async function* ranges(
  path: string,
  split: Split,
  format: DetectedFormat,
): AsyncGenerator<Part, void, undefined> {
  for (let { start } = split; start < split.end; start += RANGE_BYTES) {
    const end = Math.min(start + RANGE_BYTES, split.end);
    yield { source: path, bytes: end - start, task: { kind: "range", path, start, end, format } };
  }
}

/** Whole lines from places spread evenly over a file. */
async function sampleLines(path: string, size: number): Promise<Uint8Array> {
  try {
    const file = await open(path, "r");
    try {
      const samples: Uint8Array[] = [];
      for (let i = 0; i < SAMPLES; i++) {
        const start = Math.floor((size / SAMPLES) * i);
        const { buffer, bytesRead } = await file.read(
          Buffer.alloc(SAMPLE_BYTES),
          0,
          SAMPLE_BYTES,
          start,
        );
        const bytes = buffer.subarray(0, bytesRead);
        // The line that it begins in the middle of may be the last.
        const lineEnd = start === 0 ? -1 : bytes.indexOf(LF);
        if (start > 0 && lineEnd === -1) continue;
        const from = lineEnd + 1;
        const to = start + bytesRead === size ? bytesRead : bytes.lastIndexOf(LF) + 1;
        if (from < to) samples.push(bytes.subarray(from, to), Uint8Array.of(LF));
      }
      return Buffer.concat(samples);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw ioError(error, path);
  }
}

/** A file that is read from start to end: compressed, or a container such as WARC. */
interface WholeFile {
  readonly path: string;
  readonly source: string;
  readonly size: number;
  readonly slice?: FileSlice | undefined;
  /** Set for a map that states its size. */
  readonly expected?: ExpectedSize | undefined;
}

/**
 * Opens a compressed index, or a container.
 *
 * One thread reads it, so several such files are read in parallel; one alone is decompressed here,
 * and its lines are shared out.
 */
export async function openCompressed(file: WholeFile, options: OpenOptions): Promise<IndexInput> {
  const { path, source, slice } = file;
  const head = await decompressedHead(path, { source, slice, damage: options.damage });
  const detected = detectFormat(head, options.format, source);
  return compressedInput(
    file,
    trustedFormat(detected, wholeLinesOf(head), trustIn(source, options), options),
    options,
  );
}

/** As {@link openCompressed}, for a format that is known. */
export function compressedInput(
  file: WholeFile,
  format: DetectedFormat,
  options: OpenOptions,
): IndexInput {
  const { source, size, slice } = file;
  return {
    source,
    format,
    size,
    isInflated: true,
    isSequential: true,
    parts(isAlone) {
      const isShared = isAlone && slice === undefined && format.name !== "captures";
      return isShared ? sharedOut(file, format, options) : oneTask(file, format, options);
    },
  };
}

async function* sharedOut(
  { path, size, expected }: WholeFile,
  format: DetectedFormat,
  options: OpenOptions,
): AsyncGenerator<Part, void, undefined> {
  const stored = { bytes: 0 };
  let read = 0;
  const input = await openInput(path, options.streams, {
    signal: options.signal,
    damage: options.damage,
    onRead: (bytes) => {
      stored.bytes += bytes;
      read += bytes;
    },
  });
  const chunks = expected === undefined ? input.chunks : wholeMap(input.chunks, expected, path);
  yield* streamInput(path, format, { ...options, chunks, stored }).parts(true);
  if (read < size) throw cutShort(path, read, size);
}

async function* oneTask(
  { path, source, slice, size, expected }: WholeFile,
  format: DetectedFormat,
  { archive, progress }: OpenOptions,
): AsyncGenerator<Part, void, undefined> {
  yield {
    source,
    bytes: 0,
    task: {
      kind: "file",
      path,
      source,
      slice,
      size,
      expected,
      format,
      archive,
      progress: progress.counter(),
    },
  };
}

/** The first bytes of a compressed file, or of a slice of one, decompressed. */
export async function decompressedHead(
  path: string,
  options: Partial<Pick<WholeFile, "source" | "slice">> & Pick<OpenOptions, "damage"> = {},
): Promise<Uint8Array> {
  const { source = path, slice, damage } = options;
  // Damage is noted when all of it is read.
  const skipped = damage === undefined ? undefined : newDamageLog();
  const stored = fileChunks({ path, source, slice });
  const start = await peekHead(decompressed(stored, { source, damage: skipped }));
  await start.close();
  return start.head;
}

/**
 * An input that can only be read once, from start to end: standard input, or a pipe.
 *
 * It is decompressed here and cut at line ends; at most two blocks are held.
 */
export async function openStream(path: string, options: OpenOptions): Promise<IndexInput> {
  const stored = { bytes: 0 };
  const input = await openInput(path, options.streams, {
    signal: options.signal,
    damage: options.damage,
    onRead: (bytes) => {
      stored.bytes += bytes;
    },
  });
  const { head, chunks } = await peekHead(input.chunks);
  const format = detectFormat(head, options.format, input.name);
  const source = input.name;
  return streamInput(
    source,
    trustedFormat(format, wholeLinesOf(head), trustIn(source, options), options),
    {
      ...options,
      chunks,
      stored,
    },
  );
}

interface StreamOptions extends Pick<OpenOptions, "maxLineBytes" | "archive" | "damage"> {
  /** Decompressed. */
  readonly chunks: AsyncIterable<StreamPart>;
  /** Stored bytes that were read and not reported yet. */
  readonly stored: { bytes: number };
}

/** As {@link openStream}, for a stream whose format is known. */
export function streamInput(
  source: string,
  format: DetectedFormat,
  options: StreamOptions,
): IndexInput {
  return {
    source,
    format,
    size: undefined,
    isInflated: false,
    parts: () => blockParts(source, format, options),
  };
}

async function* blockParts(
  source: string,
  format: DetectedFormat,
  { chunks, stored, ...options }: StreamOptions,
): AsyncGenerator<Part, void, undefined> {
  const part = (task: ReadTask): Part => {
    const { bytes } = stored;
    stored.bytes = 0;
    return { source, bytes, task };
  };
  const rowOptions = { ...options, source };
  if (format.name === "captures") {
    for await (const batch of captureBatches(chunks, format, rowOptions)) {
      yield part({ kind: "captures", batch, format });
    }
    return;
  }
  for await (const block of lineBlocks(textOf(chunks, rowOptions), options.maxLineBytes)) {
    yield part({ kind: "block", ...block, format });
  }
}

/** Without the line that is cut at the end of what was looked at. */
export function wholeLinesOf(head: Uint8Array): Uint8Array {
  return head.length < HEAD_BYTES ? head : head.subarray(0, head.lastIndexOf(LF) + 1);
}

const BLOCK_BYTES = 1 << 22;

/** Whole lines in a buffer of their own, which can be moved to another thread. */
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
        // Longer than a line may be: the reader of the block reports it, with the line number.
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

/**
 * Looks at the first bytes of a stream, up to the first gap and the last whole line before it,
 * without taking them away. Holds what was looked at.
 */
export async function peekHead<Part extends StreamPart>(
  parts: AsyncIterable<Part>,
): Promise<Peeked<Part>> {
  const iterator = parts[Symbol.asyncIterator]();
  const held: Part[] = [];
  const chunks: Uint8Array[] = [];
  let size = 0;
  let isCut = false;
  while (size < HEAD_BYTES && !isCut) {
    const next = await iterator.next();
    if (next.done === true) break;
    const part: StreamPart = next.value;
    held.push(next.value);
    if (isChunk(part)) {
      chunks.push(part);
      size += part.length;
    } else {
      isCut = part.kind === "gap" && size > 0;
    }
  }
  const head = joinBytes(chunks).subarray(0, HEAD_BYTES);
  return {
    head: isCut ? head.subarray(0, head.lastIndexOf(LF) + 1) : head,
    chunks: all(held, iterator),
    close: async () => {
      await iterator.return?.();
    },
  };
}

async function* all<Part>(
  held: Part[],
  rest: AsyncIterator<Part>,
): AsyncGenerator<Part, void, undefined> {
  try {
    yield* held.splice(0);
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      yield next.value;
    }
  } finally {
    await rest.return?.();
  }
}
