import { LF } from "../bytes/bytes.ts";
import { newDamageLog, type StreamPart } from "../bytes/damage.ts";
import { decompressed } from "../files/decompress.ts";
import { type Input, openInput } from "../files/input-file.ts";
import { detectFormat } from "./detect.ts";
import { fileChunks } from "./file-chunks.ts";
import { type DetectedFormat, hasLines } from "./formats.ts";
import type { FileSlice, IndexInput, OpenOptions, Part } from "./index-input.ts";
import { HEAD_BYTES, linesOf, peekHead } from "./stream-lines.ts";

const RANGE_BYTES = 1 << 23;

/** An uncompressed index file, split by offset and read by the threads that process its parts. */
export function openPlain(path: string, size: number, format: DetectedFormat): IndexInput {
  const parts = (): Iterable<Part> => ranges(path, size, format);
  return { source: path, size, isInflated: false, isRanged: true, format, parts };
}

function* ranges(
  path: string,
  size: number,
  format: DetectedFormat,
): Generator<Part, void, undefined> {
  for (let start = 0; start < size; start += RANGE_BYTES) {
    const end = Math.min(start + RANGE_BYTES, size);
    yield { source: path, bytes: end - start, task: { kind: "range", path, start, end, format } };
  }
}

/** A file that must be read from start to end: compressed, or a container such as WARC. */
interface WholeFile {
  readonly path: string;
  readonly source: string;
  readonly size: number;
  readonly slice?: FileSlice | undefined;
}

/**
 * Opens a compressed index, or a container.
 *
 * Several such files are read in parallel, one thread each; a single file is decompressed here, and
 * its lines are distributed to the threads.
 */
export async function openCompressed(file: WholeFile, options: OpenOptions): Promise<IndexInput> {
  const { path, source, slice } = file;
  const head = await decompressedHead(path, { source, slice, damage: options.damage });
  return compressedInput(file, detectFormat(head, options.format, source), options);
}

/** As {@link openCompressed}, for a known format. */
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
      const isShared = isAlone && slice === undefined && hasLines(format);
      return isShared ? distributedParts(file, format, options) : [oneTask(file, format, options)];
    },
  };
}

async function* distributedParts(
  { path }: WholeFile,
  format: DetectedFormat,
  options: OpenOptions,
): AsyncGenerator<Part, void, undefined> {
  const { chunks } = await openCounted(path, options);
  yield* blockParts(path, format, chunks, options);
}

function oneTask(
  file: WholeFile,
  format: DetectedFormat,
  { archive, progress }: OpenOptions,
): Part {
  const task = { kind: "file", ...file, format, archive, progress: progress.counter() } as const;
  return { source: file.source, bytes: 0, task };
}

/** The first bytes of a compressed file, or of a slice of one, decompressed. */
export async function decompressedHead(
  path: string,
  options: Partial<Pick<WholeFile, "source" | "slice">> & Pick<OpenOptions, "damage"> = {},
): Promise<Uint8Array> {
  const { source = path, slice, damage } = options;
  // Damage is recorded later, when the whole file is read.
  const skipped = damage === undefined ? undefined : newDamageLog();
  const stored = fileChunks({ path, source, slice });
  const start = await peekHead(
    decompressed(stored, { source, damage: skipped, isGzip: slice?.isGzip }),
  );
  await start.close();
  return start.head;
}

/**
 * An input that can only be read once, from start to end: standard input, or a pipe.
 *
 * It is decompressed here and split at line ends; at most two blocks are held.
 */
export async function openStream(path: string, options: OpenOptions): Promise<IndexInput> {
  const input = await openCounted(path, options);
  const { head, chunks } = await peekHead(input.chunks);
  return streamInput(input.name, detectFormat(head, options.format, input.name), chunks, options);
}

/** Opens an input, and counts the stored bytes read from it. */
export function openCounted(
  path: string,
  { streams, signal, damage, progress }: OpenOptions,
): Promise<Input<StreamPart>> {
  const onRead = (bytes: number): void => progress.add(bytes);
  return openInput(path, streams, { signal, damage, onRead });
}

/** As {@link openStream}, for a known format. */
export function streamInput(
  source: string,
  format: DetectedFormat,
  chunks: AsyncIterable<StreamPart>,
  options: OpenOptions,
): IndexInput {
  const parts = (): AsyncIterable<Part> => blockParts(source, format, chunks, options);
  return { source, format, size: undefined, isInflated: false, parts };
}

async function* blockParts(
  source: string,
  format: DetectedFormat,
  chunks: AsyncIterable<StreamPart>,
  options: OpenOptions,
): AsyncGenerator<Part, void, undefined> {
  for await (const block of largeBlocks(linesOf(chunks, format, { ...options, source }))) {
    yield { source, bytes: 0, task: { kind: "block", ...block, format } };
  }
}

/** The head of an input without an incomplete last line. */
export function wholeLinesOf(head: Uint8Array): Uint8Array {
  return head.length < HEAD_BYTES ? head : head.subarray(0, head.lastIndexOf(LF) + 1);
}

const BLOCK_BYTES = 1 << 22;

/** Whole lines in a separate buffer, which can be transferred to another thread. */
interface LineBlock {
  readonly buffer: ArrayBuffer;
  readonly length: number;
}

/** Joins blocks of whole lines into large ones. */
async function* largeBlocks(
  blocks: AsyncIterable<Uint8Array>,
): AsyncGenerator<LineBlock, void, undefined> {
  let buffer = new ArrayBuffer(0);
  let length = 0;
  for await (const lines of blocks) {
    if (length + lines.length > buffer.byteLength) {
      if (length > 0) yield { buffer, length };
      ({ buffer } = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, lines.length)));
      length = 0;
    }
    new Uint8Array(buffer).set(lines, length);
    length += lines.length;
  }
  if (length > 0) yield { buffer, length };
}
