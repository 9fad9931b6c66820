import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import type { BatchAnswers, BlockSink } from "./answer-lines.ts";
import type { MemoryIndex } from "./memory-index.ts";
import type { MapLookup } from "./map-lookup.ts";
import { MapSearch } from "./map-search.ts";
import { FileSource, type InputStreams, openInput } from "../../files/input-file.ts";
import { LF, recognizeCompression } from "../../bytes/bytes.ts";
import { ioError } from "../../errors.ts";
import { withTempDir } from "../../files/scratch.ts";
import { mapHeadOf } from "./map-head.ts";
import type { Interrupt } from "../../interruption.ts";

/** A map that can be looked up, and the index over it if it is held in memory. */
export interface OpenMap {
  readonly lookup: MapLookup;
  readonly index: MemoryIndex | undefined;
  /** Answers batches as lines of text, if the map is held in memory. */
  readonly answers?: (sink: BlockSink, options: { readonly isSurt: boolean }) => BatchAnswers;
  close(): Promise<void>;
}

interface OpenOptions {
  readonly forMany: boolean;
  /** Whether `answers` will be asked, and nothing else as a rule. */
  readonly inBatches?: boolean;
}

/** A larger map is searched in its file even for batches: the index would not pay. */
const MAX_BATCH_INDEX_BYTES = 2 ** 30;

/**
 * Opens a map for a few lookups, by searching the file, or for many, by an index in memory.
 *
 * A compressed map, and one from standard input, is always held in memory.
 *
 * @throws `MM_IO`, `MM_LIMIT` for a compressed map of 2 GiB or more, and what is wrong with the map.
 */
export async function openMapFile(
  path: string,
  io: MapStreams,
  { forMany, inBatches = false }: OpenOptions,
): Promise<OpenMap> {
  const source = await openPlain(path);
  const signal = io.interrupt?.signal;
  if (source !== undefined && (!forMany || source.size > MAX_BATCH_INDEX_BYTES)) {
    return searched(source, signal);
  }
  const { HeldMap } = await import("./held-map.ts");
  if (source === undefined) {
    return HeldMap.ofInput(await openInput(path, io, { signal, ...HeldMap.LIMITS }), inBatches);
  }
  try {
    const fill = (bytes: Uint8Array): Promise<number> => source.readInto(bytes, 0, signal);
    return await HeldMap.read({ size: source.size, source: path, inBatches }, fill);
  } finally {
    await source.close();
  }
}

async function searched(source: FileSource, signal: AbortSignal | undefined): Promise<OpenMap> {
  try {
    const lookup = await MapSearch.open(source, { signal });
    return { lookup, index: undefined, close: () => source.close() };
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** Where `-` is read from, and what may stop the reading. */
export interface MapStreams extends InputStreams {
  readonly interrupt?: Interrupt | undefined;
}

export interface MapSourceOptions {
  readonly io: MapStreams;
  /** The folder for scratch files. */
  readonly tmp?: string | undefined;
}

/**
 * Opens maps for reading at random, and closes them after use.
 *
 * What cannot be read at random, compressed files and standard input, is first written to a
 * scratch file, so memory stays flat whatever the size.
 *
 * @throws `MM_IO`, and the errors of decompressing.
 */
export async function withMapSources<T>(
  paths: readonly string[],
  options: MapSourceOptions,
  use: (sources: readonly FileSource[]) => Promise<T>,
): Promise<T> {
  const sources: FileSource[] = [];
  try {
    const plain: (FileSource | undefined)[] = [];
    for (const path of paths) {
      const source = await openPlain(path);
      plain.push(source);
      if (source !== undefined) sources.push(source);
    }
    if (sources.length === paths.length) return await use(sources);
    const { io, tmp } = options;
    return await withTempDir({ parent: tmp, interrupt: io.interrupt }, async (folder) => {
      const all: FileSource[] = [];
      for (const [index, path] of paths.entries()) {
        const source = plain[index] ?? (await spooled(path, join(folder, String(index)), io));
        if (plain[index] === undefined) sources.push(source);
        all.push(source);
      }
      return use(all);
    });
  } finally {
    await Promise.all(sources.map((source) => source.close()));
  }
}

/** The file, unless it is compressed, a pipe, or standard input. */
export async function openPlain(path: string): Promise<FileSource | undefined> {
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

async function spooled(path: string, scratchPath: string, io: MapStreams): Promise<FileSource> {
  const input = await openInput(path, io, { signal: io.interrupt?.signal });
  try {
    const scratch = await open(scratchPath, "wx");
    let isFirst = true;
    try {
      for await (const chunk of input.chunks) {
        // Refuses what is not a map before it is written whole.
        if (isFirst) mapHeadOf(chunk.subarray(0, chunk.lastIndexOf(LF) + 1), input.name);
        isFirst = false;
        await scratch.writeFile(chunk);
      }
    } finally {
      await scratch.close();
    }
  } catch (error) {
    throw ioError(error, scratchPath);
  } finally {
    await input.close();
  }
  return FileSource.open(scratchPath, input.name);
}
