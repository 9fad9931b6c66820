import { type ByteSource, MemorySource } from "../../bytes/byte-source.ts";
import { isPacked, joinBytes, PACKED_MAGIC } from "../../bytes/bytes.ts";
import { peek } from "../../bytes/peek.ts";
import type { MakeAnswers } from "./answer-lines.ts";
import type { MapLookup } from "./map-lookup.ts";
import { MapSearch } from "./map-search.ts";
import type { MapStreams } from "./map-sources.ts";
import type { MemoryIndex } from "./memory-index.ts";
import { FileSource, openInput } from "../../files/input-file.ts";

/** A map that can be looked up, and the index over it if it is held in memory. */
export interface OpenMap {
  readonly lookup: MapLookup;
  readonly index: MemoryIndex | undefined;
  /** Answers batches as lines of text, if the map is held in memory. */
  readonly answers?: MakeAnswers;
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
  const source = await FileSource.openPlain(path);
  const signal = io.interrupt?.signal;
  if (source !== undefined && isPacked(await source.read(0, PACKED_MAGIC.length))) {
    return openPacked(source, inBatches, signal);
  }
  if (source !== undefined && (!forMany || source.size > MAX_BATCH_INDEX_BYTES)) {
    return opened(source, MapSearch.open(source, { signal }));
  }
  const { HeldMap } = await import("./held-map.ts");
  if (source === undefined) {
    const input = await openInput(path, io, { signal, ...HeldMap.LIMITS });
    const { head, chunks } = await peek(input.chunks, PACKED_MAGIC.length);
    if (!isPacked(head)) return HeldMap.ofInput({ ...input, chunks }, inBatches);
    const blocks: Uint8Array[] = [];
    for await (const chunk of chunks) blocks.push(chunk);
    return openPacked(new HeldSource(joinBytes(blocks), input.name), inBatches, signal);
  }
  try {
    const fill = (bytes: Uint8Array): Promise<number> => source.readInto(bytes, 0, signal);
    return await HeldMap.read({ size: source.size, source: path, inBatches }, fill);
  } finally {
    await source.close();
  }
}

/** What has become a map in memory. */
class HeldSource extends MemorySource {
  close(): Promise<void> {
    return Promise.resolve();
  }
}

type ClosableSource = ByteSource & { close(): Promise<void> };

async function opened(source: ClosableSource, opening: Promise<MapLookup>): Promise<OpenMap> {
  try {
    return { lookup: await opening, index: undefined, close: () => source.close() };
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** For batches, a packed map is held in a kernel if that takes it; else shards are read when needed. */
async function openPacked(
  source: ClosableSource,
  inBatches: boolean,
  signal: AbortSignal | undefined,
): Promise<OpenMap> {
  const { PackedLookup } = await import("./packed-lookup.ts");
  if (!inBatches) return opened(source, PackedLookup.open(source, { signal }));
  const { openPackedBatch } = await import("./packed-kernel.ts");
  try {
    const map = await openPackedBatch(source, signal);
    return { ...map, index: undefined, close: () => source.close() };
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** Opens a file if it is a packed map; closes it again if it is not. */
export async function openPackedFile(path: string): Promise<FileSource | undefined> {
  const source = await FileSource.openPlain(path);
  if (source === undefined) return undefined;
  let isKept = false;
  try {
    isKept = isPacked(await source.read(0, PACKED_MAGIC.length));
    return isKept ? source : undefined;
  } finally {
    if (!isKept) await source.close();
  }
}
