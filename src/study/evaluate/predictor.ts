import { gzipSync } from "node:zlib";
import { AT, BANG, isPacked, LF } from "../../bytes/bytes.ts";
import { openInput } from "../../files/input-file.ts";
import type { MapStreams } from "../../lookup/map-sources.ts";
import { hasSurt } from "../../lookup/map-lookup.ts";
import { MemoryIndex } from "../../lookup/memory-index.ts";
import { PackedLookup } from "../../lookup/packed-lookup.ts";
import type { KeySource } from "../../lookup/source.ts";
import { surtKeyBytes } from "../../surt/key.ts";

/** The parameters of a map of the paper. */
export interface MadeBy {
  /** The name of the map it was made from; `HinfPinf` is the base. */
  readonly input: string;
  readonly hostWeight: number;
  readonly pathWeight: number;
  readonly rollUps: number;
  readonly seconds: number;
}

/** A map in memory, which predicts whether an archive holds a key. */
export interface Predictor {
  readonly name: string;
  /** Rows, without headers. */
  readonly lines: number;
  readonly bytes: number;
  readonly gzipBytes: number;
  readonly made?: MadeBy | undefined;
  /** Whether it distinguishes queries, so that complete URIs are looked up. */
  readonly queries: boolean;
  /** Takes a key, or the SURT of a URI. */
  says(key: Uint8Array): boolean;
}

/**
 * A map held in memory, in text or packed, as a predictor.
 *
 * @throws errors in the map
 */
export function mapPredictor(name: string, map: Uint8Array, made?: MadeBy): Predictor {
  if (isPacked(map)) {
    const packed = PackedLookup.of(map, name);
    const { queries } = packed.header;
    // A packed map is not compressed: its size is that of the file.
    const sizes = { bytes: map.length, gzipBytes: map.length };
    return { name, lines: packed.keyCount, ...sizes, queries, says: saysOf(packed) };
  }
  const index = MemoryIndex.build(map, { source: name });
  const sizes = { bytes: map.length, gzipBytes: gzipSync(map).length };
  const { hasQueries: queries } = index;
  return { name, lines: countRows(map), ...sizes, made, queries, says: saysOf(index) };
}

function saysOf(source: KeySource): Predictor["says"] {
  return (key) => hasSurt(source, key, 0, key.length);
}

/** A map in a file as a predictor. */
export async function readPredictor(
  name: string,
  path: string,
  streams: MapStreams,
): Promise<Predictor> {
  const input = await openInput(path, streams, { signal: streams.interrupt?.signal });
  return mapPredictor(name, await bytesOf(input.chunks));
}

/** Joins all chunks; a chunk may be reused when the next one is requested. */
export async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const blocks: Uint8Array[] = [];
  for await (const chunk of chunks) blocks.push(chunk.slice());
  return Buffer.concat(blocks);
}

/** The key of a SURT in a map with queries. */
export function surtKeyOf(surt: Uint8Array): Uint8Array {
  const key = new Uint8Array(3 * surt.length + 1);
  return key.subarray(0, surtKeyBytes(surt, 0, surt.length, key, 0, { queries: true }));
}

/** The rows in whole lines of a map, with their ends: lines that are neither headers nor empty. */
export function* rowsOf(lines: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let at = 0, next = 0; at < lines.length; at = next) {
    const end = lines.indexOf(LF, at);
    next = end === -1 ? lines.length : end + 1;
    if (lines[at] > BANG && lines[at] !== AT) yield lines.subarray(at, next);
  }
}

export function countRows(lines: Uint8Array): number {
  const rows = rowsOf(lines);
  let count = 0;
  while (rows.next().done !== true) count++;
  return count;
}
