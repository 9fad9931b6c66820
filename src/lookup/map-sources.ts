import { open } from "node:fs/promises";
import { join } from "node:path";
import { isPacked, isRun, LF } from "../bytes/bytes.ts";
import { ioError } from "../errors.ts";
import { FileSource, type InputStreams, openInput } from "../files/input-file.ts";
import { withTempDir } from "../files/scratch.ts";
import type { Interrupt } from "../interruption.ts";
import { mapHeadOf } from "../ukvs/head.ts";

/** The stream for `-`, and an interrupt. */
export interface MapStreams extends InputStreams {
  readonly interrupt?: Interrupt | undefined;
}

export interface MapSourceOptions {
  readonly io: MapStreams;
  /** The folder for scratch files. */
  readonly tmp?: string | undefined;
}

/**
 * Opens maps for random access, and closes them after use.
 *
 * Compressed files and standard input are first written to a scratch file, so memory use does not depend
 * on their size.
 *
 * @throws `MM_IO`, and decompression errors.
 */
export async function withMapSources<T>(
  paths: readonly string[],
  options: MapSourceOptions,
  use: (sources: readonly FileSource[]) => Promise<T>,
): Promise<T> {
  const sources: (FileSource | undefined)[] = [];
  try {
    for (const path of paths) sources.push(await FileSource.openPlain(path));
    if (sources.every((source) => source !== undefined)) return await use(sources);
    const { io, tmp } = options;
    return await withTempDir({ parent: tmp, interrupt: io.interrupt }, async (folder) => {
      const all: FileSource[] = [];
      for (const [i, path] of paths.entries()) {
        sources[i] ??= await spool(path, join(folder, String(i)), io);
        all.push(sources[i]);
      }
      return use(all);
    });
  } finally {
    await Promise.all(sources.map(async (source) => source?.close()));
  }
}

async function spool(path: string, scratchPath: string, io: MapStreams): Promise<FileSource> {
  const input = await openInput(path, io, { signal: io.interrupt?.signal });
  try {
    const scratch = await open(scratchPath, "wx");
    let isFirst = true;
    try {
      for await (const chunk of input.chunks) {
        // Reject other files before copying all of them. Callers that do not support packed maps or runs
        // reject these themselves.
        if (isFirst && !isPacked(chunk) && !isRun(chunk))
          mapHeadOf(chunk.subarray(0, chunk.lastIndexOf(LF) + 1), input.name);
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
