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
 * Holds the map and its index; of a packed map, its bytes.
 *
 * @throws MM_IO; MM_BAD_INPUT with the first fault; MM_CUT; MM_LIMIT for maps that are larger.
 */
export async function readMap(
  path: string,
  maxBytes: number = MAX_INDEX_BYTES,
): Promise<RoutedMap["index"]> {
  const bytes = await plainBytes(path, Math.min(MAX_INDEX_BYTES, maxBytes));
  if (isPacked(bytes)) return PackedLookup.ofInSlices(bytes, { source: path, pause });
  for await (const { line, message } of validateMap(slices(bytes), { isOnlyErrors: true })) {
    throw new MementoMapError("MM_BAD_INPUT", `the map has a fault: ${message}`, {
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
    `the map is larger than the ${formatBytes(maxBytes)} that are left for it; see the setting map-memory`,
    { position: { source: path } },
  );
}

/** Bytes in parts, with a pause behind each. */
export async function* slices(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    yield bytes.subarray(at, at + SLICE_BYTES);
    await pause();
  }
}
