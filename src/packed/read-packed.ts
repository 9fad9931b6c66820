import { type ByteSource, readWhole } from "../bytes/byte-source.ts";
import { crc32, damaged, dataStartOf, type PackedHead, parseHead } from "./packed-file.ts";

/** Enough for the header of most packed maps. */
const FIRST_BYTES = 8192;

/** Options for reading a packed map. */
export interface ReadPackedOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the size of each part read. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

/**
 * Reads the head of a packed map.
 *
 * @throws MM_BAD_INPUT if it is damaged or not a packed map; MM_CUT; MM_LIMIT; MM_IO
 */
export async function readHead(
  source: ByteSource,
  { signal }: ReadPackedOptions = {},
): Promise<PackedHead> {
  const start = await source.read(0, FIRST_BYTES, signal);
  const dataStart = dataStartOf(start, source.name);
  const bytes = dataStart <= start.length ? start : await source.read(0, dataStart, signal);
  return parseHead(bytes, source.size, source.name);
}

/**
 * Checks all of a packed map: its header, its directory and every shard. Holds one shard.
 *
 * @throws as {@link readHead}; the message names the damaged part.
 */
export async function checkPacked(
  source: ByteSource,
  options: ReadPackedOptions = {},
): Promise<PackedHead> {
  const head = await readHead(source, options);
  options.onRead?.(head.dataStart);
  for (const [index, { words, crc }] of head.shards.entries()) {
    const offset = head.dataStart + 4 * words;
    const next = head.shards.at(index + 1);
    const end = next === undefined ? head.end : head.dataStart + 4 * next.words;
    const bytes = await readWhole(source, offset, end - offset, options.signal);
    if (crc32(bytes, 0, bytes.length) !== crc) throw damaged(`shard ${index}`, source.name);
    options.onRead?.(bytes.length);
  }
  return head;
}
