import { readFile } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { isPacked, recognizeCompression } from "../../bytes/bytes.ts";
import { ioError, MementoMapError } from "../../errors.ts";
import { decompressed } from "../../files/decompress.ts";
import { stampIfThere } from "../../files/shared-files.ts";
import { formatBytes } from "../../format.ts";
import { MAX_INDEX_BYTES, MemoryIndex } from "../../lookup/memory-index.ts";
import { PackedLookup } from "../../lookup/packed-lookup.ts";
import { validateMap } from "../../maps/validate-map.ts";
import type { RoutedMap } from "./routed-map.ts";

/** Small enough to be checked in a few milliseconds. */
const SLICE_BYTES = 64 * 1024;

/** Yields to the event loop. */
export async function pause(): Promise<void> {
  await setImmediate();
}

/**
 * Reads, validates and indexes a map without blocking the event loop for longer than a few milliseconds.
 *
 * Holds the map and its index; of a packed map, its bytes.
 *
 * @throws MM_IO; MM_BAD_INPUT with the first error; MM_CUT; MM_LIMIT for a map larger than the limit.
 */
export async function readMap(
  path: string,
  maxBytes: number = MAX_INDEX_BYTES,
): Promise<RoutedMap["index"]> {
  const bytes = await plainBytes(path, Math.min(MAX_INDEX_BYTES, maxBytes));
  if (isPacked(bytes)) return PackedLookup.ofInSlices(bytes, { source: path, pause });
  for await (const { line, message } of validateMap(slices(bytes), { isOnlyErrors: true })) {
    throw new MementoMapError("MM_BAD_INPUT", `the map is invalid: ${message}`, {
      position: { source: path, line },
    });
  }
  return MemoryIndex.buildInSlices(bytes, { source: path, pause });
}

async function plainBytes(path: string, maxBytes: number): Promise<Uint8Array> {
  if (((await stampIfThere(path))?.size ?? 0) > maxBytes) throw tooLarge(path, maxBytes);
  const stored = await readFile(path).catch((error: unknown) => {
    throw ioError(error, path);
  });
  if (recognizeCompression(stored) === undefined) return stored;
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of decompressed(slices(stored), { source: path })) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(path, maxBytes);
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

function tooLarge(path: string, maxBytes: number): MementoMapError {
  return new MementoMapError(
    "MM_LIMIT",
    `the map exceeds its memory of ${formatBytes(maxBytes)}; see the setting map-memory`,
    { position: { source: path } },
  );
}

/** Bytes in chunks, with a pause after each. */
export async function* slices(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    yield bytes.subarray(at, at + SLICE_BYTES);
    await pause();
  }
}
