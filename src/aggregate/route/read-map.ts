import { readFile } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { MementoMapError } from "../../errors.ts";
import { MAX_INDEX_BYTES, MemoryIndex } from "../../map/lookup/memory-index.ts";
import { validateMap } from "../../map/validate.ts";
import { decompressed, recognizeCompression } from "../../files/decompress.ts";
import { ioError } from "../../files/io-error.ts";

/** Little enough to be checked in a few milliseconds. */
const SLICE_BYTES = 64 * 1024;

/** Lets others have their turn. */
export async function pause(): Promise<void> {
  await setImmediate();
}

/**
 * Reads a map, checks every line of it, and indexes it, without ever standing in the way for longer
 * than a few milliseconds.
 *
 * Holds the map and its index.
 *
 * @param options `isChecked`: the lines were checked by whoever wrote the file.
 * @throws MM_IO; MM_BAD_INPUT with the first fault; MM_LIMIT for maps of 2 GiB and more.
 */
export async function readMap(
  path: string,
  options: { readonly isChecked?: boolean } = {},
): Promise<MemoryIndex> {
  const bytes = await plainBytes(path);
  if (options.isChecked !== true) await check(bytes, path);
  return MemoryIndex.buildInSlices(bytes, { source: path, pause });
}

async function check(bytes: Uint8Array, path: string): Promise<void> {
  for await (const { line, message } of validateMap(slices(bytes), { isOnlyErrors: true })) {
    throw new MementoMapError("MM_BAD_INPUT", `the map has a fault: ${message}`, {
      position: { source: path, line },
    });
  }
}

async function plainBytes(path: string): Promise<Uint8Array> {
  const stored = await readFile(path).catch((error: unknown) => {
    throw ioError(error, path);
  });
  if (recognizeCompression(stored) === undefined) return stored;
  const parts: Uint8Array[] = [];
  const options = { source: path, maxDecompressedBytes: MAX_INDEX_BYTES };
  for await (const chunk of decompressed(slices(stored), options)) parts.push(chunk);
  return Buffer.concat(parts);
}

/** Bytes in parts, with a pause behind each. */
export async function* slices(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    yield bytes.subarray(at, at + SLICE_BYTES);
    await pause();
  }
}
