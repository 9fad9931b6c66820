import { open } from "node:fs/promises";
import { join } from "node:path";
import { isPacked, isRun, LF } from "../bytes/bytes.ts";
import { ioError } from "../errors.ts";
import { FileSource, type InputStreams, openInput } from "../files/input-file.ts";
import { withTempDir } from "../files/scratch.ts";
import type { Interrupt } from "../interruption.ts";
import { mapHeadOf } from "../ukvs/head.ts";

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
  const sources: (FileSource | undefined)[] = [];
  try {
    for (const path of paths) sources.push(await FileSource.openPlain(path));
    if (sources.every((source) => source !== undefined)) return await use(sources);
    const { io, tmp } = options;
    return await withTempDir({ parent: tmp, interrupt: io.interrupt }, async (folder) => {
      const all: FileSource[] = [];
      for (const [i, path] of paths.entries()) {
        sources[i] ??= await spooled(path, join(folder, String(i)), io);
        all.push(sources[i]);
      }
      return use(all);
    });
  } finally {
    await Promise.all(sources.map(async (source) => source?.close()));
  }
}

async function spooled(path: string, scratchPath: string, io: MapStreams): Promise<FileSource> {
  const input = await openInput(path, io, { signal: io.interrupt?.signal });
  try {
    const scratch = await open(scratchPath, "wx");
    let isFirst = true;
    try {
      for await (const chunk of input.chunks) {
        // Refuses what is not a map before it is written whole; who does not take a packed map, or a run,
        // says so.
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
