import { peek } from "../../bytes/peek.ts";
import type { DetectedFormat } from "../../input/detect.ts";
import { detectFormat } from "../../input/detect.ts";
import { trustedFormat } from "../../input/key-check.ts";
import { decompressed } from "../decompress.ts";
import { fileChunks } from "../generate/read-file.ts";
import type { FileSlice, Part } from "../generate/tasks.ts";
import { openInput } from "../input-file.ts";
import { HEAD_BYTES, trustIn } from "./index-input.ts";
import type { IndexInput, OpenOptions } from "./index-input.ts";
import { streamInput, wholeLinesOf } from "./stream-input.ts";

/** A file that is read from start to end: compressed, or a container such as WARC. */
export interface WholeFile {
  readonly path: string;
  readonly source: string;
  readonly size: number;
  readonly slice?: FileSlice | undefined;
}

/**
 * Opens a compressed index, or a container.
 *
 * One thread reads it, so several such files are read in parallel; one alone is decompressed here,
 * and its lines are shared out.
 */
export async function openCompressed(file: WholeFile, options: OpenOptions): Promise<IndexInput> {
  const { path, source, slice } = file;
  const head = await decompressedHead(path, source, slice);
  const detected = detectFormat(head, options.format, source);
  return compressedInput(
    file,
    trustedFormat(detected, wholeLinesOf(head), trustIn(source, options)),
    options,
  );
}

/** As {@link openCompressed}, for a format that is known. */
export function compressedInput(
  file: WholeFile,
  format: DetectedFormat,
  options: OpenOptions,
): IndexInput {
  const { path, source, size, slice } = file;
  return {
    source,
    format,
    size,
    isInflated: true,
    isSequential: true,
    parts(isAlone) {
      const isShared = isAlone && slice === undefined && format.container === undefined;
      return isShared ? sharedOut(path, format, options) : oneTask(file, format, options);
    },
  };
}

async function* sharedOut(
  path: string,
  format: DetectedFormat,
  options: OpenOptions,
): AsyncGenerator<Part, void, undefined> {
  const stored = { bytes: 0 };
  const input = await openInput(path, options.streams, {
    signal: options.signal,
    onRead: (bytes) => {
      stored.bytes += bytes;
    },
  });
  yield* streamInput(path, format, { ...options, chunks: input.chunks, stored }).parts(true);
}

async function* oneTask(
  { path, source, slice }: WholeFile,
  format: DetectedFormat,
  { archive, progress }: OpenOptions,
): AsyncGenerator<Part, void, undefined> {
  yield {
    source,
    bytes: 0,
    task: { kind: "file", path, source, slice, format, archive, progress: progress.counter() },
  };
}

/** The first bytes of a compressed file, or of a slice of one, decompressed. */
export async function decompressedHead(
  path: string,
  source: string = path,
  slice?: FileSlice,
): Promise<Uint8Array> {
  const chunks = decompressed(fileChunks({ path, source, slice }), { source });
  const start = await peek(chunks, HEAD_BYTES);
  await start.close();
  return start.head;
}
