import { newDamageLog } from "../bytes/damage.ts";
import type { DetectedFormat } from "./detect.ts";
import { detectFormat } from "./detect.ts";
import { trustedFormat } from "./key-check.ts";
import { decompressed } from "../files/decompress.ts";
import { fileChunks } from "./read-file.ts";
import type { FileSlice, Part } from "./tasks.ts";
import { cutShort } from "./read-range.ts";
import { openInput } from "../files/input-file.ts";
import { trustIn } from "./index-input.ts";
import type { IndexInput, OpenOptions } from "./index-input.ts";
import { peekHead } from "./peek-head.ts";
import { streamInput, wholeLinesOf } from "./stream-input.ts";
import { type ExpectedSize, wholeMap } from "./whole-map.ts";

/** A file that is read from start to end: compressed, or a container such as WARC. */
export interface WholeFile {
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
  const { source, size, slice } = file;
  return {
    source,
    format,
    size,
    isInflated: true,
    isSequential: true,
    parts(isAlone) {
      const isShared = isAlone && slice === undefined && format.container === undefined;
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
  // Whoever reads all of it notes what is damaged.
  const passedOver = damage === undefined ? undefined : newDamageLog();
  const stored = fileChunks({ path, source, slice });
  const start = await peekHead(decompressed(stored, { source, damage: passedOver }));
  await start.close();
  return start.head;
}
