import { MemoryIndex, MAX_INDEX_BYTES } from "./memory-index.ts";
import type { MapLookup } from "./lookup.ts";
import { MapSearch } from "./map-search.ts";
import { type FileSource, openInput } from "../../files/input-file.ts";
import type { MapStreams } from "./map-sources.ts";
import { openPlain } from "./map-sources.ts";

/** A map that can be looked up, and the index over it if it is held in memory. */
export interface OpenMap {
  readonly lookup: MapLookup;
  readonly index: MemoryIndex | undefined;
  close(): Promise<void>;
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
export async function openMap(
  path: string,
  io: MapStreams,
  options: { readonly forMany: boolean },
): Promise<OpenMap> {
  const source = await openPlain(path);
  if (source === undefined) return indexed(await wholeInput(path, io), path);
  if (!options.forMany || source.size > MAX_BATCH_INDEX_BYTES) {
    return searched(source, io);
  }
  try {
    return indexed(await source.read(0, source.size, io.interrupt?.signal), path);
  } finally {
    await source.close();
  }
}

async function searched(source: FileSource, io: MapStreams): Promise<OpenMap> {
  try {
    const { signal } = io.interrupt ?? {};
    const lookup = await MapSearch.open(source, { signal });
    return { lookup, index: undefined, close: () => source.close() };
  } catch (error) {
    await source.close();
    throw error;
  }
}

function indexed(bytes: Uint8Array, path: string): OpenMap {
  const index = MemoryIndex.build(bytes, { source: path === "-" ? "stdin" : path });
  return { lookup: index, index, close: () => Promise.resolve() };
}

async function wholeInput(path: string, io: MapStreams): Promise<Uint8Array> {
  const input = await openInput(path, io, {
    signal: io.interrupt?.signal,
    maxDecompressedBytes: MAX_INDEX_BYTES,
  });
  const blocks: Uint8Array[] = [];
  for await (const chunk of input.chunks) blocks.push(chunk);
  return Buffer.concat(blocks);
}
