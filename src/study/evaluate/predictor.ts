import { gzipSync } from "node:zlib";
import { AT, BANG, isPacked, LF } from "../../bytes/bytes.ts";
import { openInput } from "../../files/input-file.ts";
import type { MapStreams } from "../../lookup/map-sources.ts";
import { hasSurt } from "../../lookup/map-lookup.ts";
import { MemoryIndex } from "../../lookup/memory-index.ts";
import { PackedLookup } from "../../lookup/packed-lookup.ts";
import type { KeySource } from "../../lookup/source.ts";
import type { KeyOptions } from "../../surt/key.ts";
import { surtKeyBytes } from "../../surt/key.ts";

/** How a map of the paper was made. */
export interface MadeBy {
  /** The name of the map it was made of; `HinfPinf` is the base. */
  readonly input: string;
  readonly hostWeight: number;
  readonly pathWeight: number;
  readonly rollUps: number;
  readonly seconds: number;
}

/** Something that says of a key whether an archive may hold it. */
export interface Predictor {
  readonly name: string;
  /** Rows, without headers; undefined for a predictor that is not a map. */
  readonly lines: number | undefined;
  readonly bytes: number;
  readonly gzipBytes: number;
  readonly made?: MadeBy | undefined;
  /** Whether it tells the queries of a page apart, so that it is asked with whole URIs. */
  readonly queries: boolean;
  /** Takes a key, or the SURT of a URI. */
  says(key: Uint8Array): boolean;
}

/**
 * A map held in memory, in text or packed, as a predictor.
 *
 * @throws what is wrong with the map
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

/** All chunks as one; they may be reused when the next is asked for. */
export async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const blocks: Uint8Array[] = [];
  for await (const chunk of chunks) blocks.push(chunk.slice());
  return Buffer.concat(blocks);
}

/** A Bloom filter over keys as a predictor. */
export function bloomPredictor(
  name: string,
  bytes: number,
  filter: BloomFilter,
  { queries = false }: KeyOptions,
): Predictor {
  const keyOf = (surt: Uint8Array): Uint8Array => (queries ? surtKeyOf(surt) : surt);
  const says = (surt: Uint8Array): boolean => filter.has(keyOf(surt));
  return { name, lines: undefined, bytes, gzipBytes: bytes, queries, says };
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

/**
 * A Bloom filter over keys, the rival of a map (Klein et al., 2022): it says present of everything
 * that was added, and of a share of all else that depends on the bits for each key.
 *
 * Holds its bits.
 */
export class BloomFilter {
  /** Hash functions: the number that gives the fewest false positives. */
  readonly #hashes: number;
  readonly #bits: Uint8Array;

  /** @param keys how many will be added */
  constructor(bytes: number, keys: number) {
    this.#bits = new Uint8Array(Math.max(1, bytes));
    const bits = this.#bits.length * 8;
    this.#hashes = Math.max(1, Math.round((bits / Math.max(1, keys)) * Math.LN2));
  }

  add(key: Uint8Array): void {
    for (const bit of this.#bitsOf(key)) this.#bits[Math.floor(bit / 8)] |= 1 << (bit % 8);
  }

  has(key: Uint8Array): boolean {
    for (const bit of this.#bitsOf(key)) {
      if ((this.#bits[Math.floor(bit / 8)] & (1 << (bit % 8))) === 0) return false;
    }
    return true;
  }

  *#bitsOf(key: Uint8Array): Generator<number, void, undefined> {
    const [first, step] = twoHashes(key);
    const size = this.#bits.length * 8;
    for (let i = 0; i < this.#hashes; i++) yield (first + i * step) % size;
  }
}

/** Two independent hashes of 32 bits; all others follow from them (Kirsch and Mitzenmacher). */
function twoHashes(key: Uint8Array): readonly [number, number] {
  let a = 0x811c9dc5 | 0;
  let b = 0x9747b28c | 0;
  for (let i = 0; i < key.length; i++) {
    a = Math.imul(a ^ key[i], 0x01000193);
    b = Math.imul((b << 5) ^ (b >>> 27) ^ key[i], 0x5bd1e995);
  }
  return [mixed(a), (mixed(b) | 1) >>> 0];
}

function mixed(hash: number): number {
  let value = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

/** A fixed policy of the earlier archive_profiler: all keys cut to a number of labels and segments. */
interface FixedPolicy {
  readonly name: string;
  readonly labels: number;
  readonly segments: number;
}

/** From the smallest profile to the most detailed one that is still small. */
export const FIXED_POLICIES: readonly FixedPolicy[] = [
  { name: "fixed H1P0", labels: 1, segments: 0 },
  { name: "fixed H2P0", labels: 2, segments: 0 },
  { name: "fixed H3P0", labels: 3, segments: 0 },
  { name: "fixed HxP0", labels: Number.POSITIVE_INFINITY, segments: 0 },
  { name: "fixed HxP1", labels: Number.POSITIVE_INFINITY, segments: 1 },
];

/**
 * The part of a key that a policy keeps, as the key of a map that says the same: `com,*` for H1P0,
 * `com,cnn)/*` for HxP0, `com,cnn)/a/*` for HxP1. A key that is not longer stays what it is.
 */
export function cutKey(key: string, { labels, segments }: FixedPolicy): string {
  const hostEnd = key.indexOf(")");
  if (hostEnd === -1) return key;
  const names = key.slice(0, hostEnd).split(",");
  if (names.length >= labels) return `${names.slice(0, labels).join(",")},*`;
  const path = key.slice(hostEnd + 2).split("/");
  if (path[0] === "" || path.length < segments)
    return segments === 0 ? `${key.slice(0, hostEnd)})/*` : key;
  const kept = path.slice(0, segments).map((segment) => `/${segment}`);
  return `${key.slice(0, hostEnd)})${kept.join("")}/*`;
}
