import { type ByteSource, MemorySource, readWhole } from "../bytes/byte-source.ts";
import { isPacked, joinBytes, PACKED_MAGIC } from "../bytes/bytes.ts";
import { FileSource, openInput } from "../files/input-file.ts";
import type { SourceLookup } from "./map-lookup.ts";
import { MapSearch } from "./map-search.ts";
import type { MapStreams } from "./map-sources.ts";

/** A map opened for lookups. */
export interface OpenMap {
  readonly lookup: SourceLookup;
  close(): Promise<void>;
}

/** Larger maps are searched in the file even for batches: building an index would cost more than it saves. */
const MAX_BATCH_INDEX_BYTES = 2 ** 30;
/** Larger packed maps are not read into memory, even for batches. */
const MAX_HELD_PACKED_BYTES = 2 ** 28;

/**
 * Opens a map: for few lookups by searching the file, for many with an index in memory.
 *
 * Compressed maps and standard input are always read into memory.
 *
 * @throws `MM_IO`, `MM_LIMIT` for a compressed map of 2 GiB or more, and errors of the map.
 */
export async function openMapFile(
  path: string,
  io: MapStreams,
  { forMany }: { readonly forMany: boolean },
): Promise<OpenMap> {
  const source = (await FileSource.openPlain(path)) ?? (await readInput(path, io));
  try {
    const lookup = await lookupOf(source, forMany, io.interrupt?.signal);
    return { lookup, close: () => source.close() };
  } catch (error) {
    await source.close();
    throw error;
  }
}

async function lookupOf(
  source: ByteSource,
  forMany: boolean,
  signal: AbortSignal | undefined,
): Promise<SourceLookup> {
  const { size, name } = source;
  const isHeld = source instanceof HeldSource;
  if (isPacked(await source.read(0, PACKED_MAGIC.length))) {
    const { PackedLookup } = await import("./packed-lookup.ts");
    return !isHeld && (!forMany || size > MAX_HELD_PACKED_BYTES)
      ? PackedLookup.open(source, { signal })
      : PackedLookup.of(await readWhole(source, 0, size, signal), name);
  }
  if (!isHeld && (!forMany || size > MAX_BATCH_INDEX_BYTES)) {
    return MapSearch.open(source, { signal });
  }
  const { MemoryIndex } = await import("./memory-index.ts");
  return MemoryIndex.build(await readWhole(source, 0, size, signal), { source: name });
}

/** A map read into memory. */
class HeldSource extends MemorySource {
  close(): Promise<void> {
    return Promise.resolve();
  }
}

async function readInput(path: string, io: MapStreams): Promise<HeldSource> {
  const { MAX_INDEX_BYTES } = await import("./row-index.ts");
  const { signal } = io.interrupt ?? {};
  const input = await openInput(path, io, { signal, maxDecompressedBytes: MAX_INDEX_BYTES });
  const blocks: Uint8Array[] = [];
  for await (const chunk of input.chunks) blocks.push(chunk);
  return new HeldSource(joinBytes(blocks), input.name);
}

/** Opens a file if it is a packed map; else returns undefined. */
export async function openPackedFile(path: string): Promise<FileSource | undefined> {
  const source = await FileSource.openPlain(path);
  if (source === undefined) return undefined;
  let isOpen = false;
  try {
    isOpen = isPacked(await source.read(0, PACKED_MAGIC.length));
    return isOpen ? source : undefined;
  } finally {
    if (!isOpen) await source.close();
  }
}
