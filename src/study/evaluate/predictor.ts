import { gzipSync } from "node:zlib";
import { isPacked } from "../../bytes/bytes.ts";
import { hasSurt } from "../../lookup/map-lookup.ts";
import { MemoryIndex } from "../../lookup/memory-index.ts";
import { PackedLookup } from "../../lookup/packed-lookup.ts";
import type { KeyOptions } from "../../surt/key.ts";
import { surtKeyBytes } from "../../surt/key.ts";
import type { MadeBy } from "./paper-maps.ts";

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
  if (isPacked(map)) return packedPredictor(name, map);
  const index = MemoryIndex.build(map, { source: name });
  return {
    name,
    lines: countRows(map),
    bytes: map.length,
    gzipBytes: gzipSync(map).length,
    made,
    queries: index.hasQueries,
    says: (key) => hasSurt(index.source, key, 0, key.length),
  };
}

/** A packed map is not compressed: its size is that of the file. */
function packedPredictor(name: string, file: Uint8Array): Predictor {
  const map = PackedLookup.of(file, name);
  return {
    name,
    lines: map.keyCount,
    bytes: file.length,
    gzipBytes: file.length,
    queries: map.header.queries,
    says: (key) => hasSurt(map.source, key, 0, key.length),
  };
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

/** Lines that are neither headers nor empty. */
function countRows(map: Uint8Array): number {
  let rows = 0;
  for (let at = 0; at < map.length;) {
    if (map[at] > 0x21 && map[at] !== 0x40) rows++;
    const end = map.indexOf(0x0a, at);
    at = end === -1 ? map.length : end + 1;
  }
  return rows;
}

/**
 * A Bloom filter over keys, the rival of a map (Klein et al., 2022): it says present of everything
 * that was added, and of a share of all else that depends on the bits for each key.
 *
 * Holds its bits.
 */
export class BloomFilter {
  /** Hash functions: the number that gives the fewest false positives. */
  readonly hashes: number;
  readonly #bits: Uint8Array;
  readonly #size: number;

  /** @param keys how many will be added */
  constructor(bytes: number, keys: number) {
    this.#bits = new Uint8Array(Math.max(1, bytes));
    this.#size = this.#bits.length * 8;
    this.hashes = Math.max(1, Math.round((this.#size / Math.max(1, keys)) * Math.LN2));
  }

  add(key: Uint8Array): void {
    const [first, step] = twoHashes(key);
    for (let i = 0; i < this.hashes; i++) {
      const bit = (first + i * step) % this.#size;
      this.#bits[Math.floor(bit / 8)] |= 1 << (bit % 8);
    }
  }

  has(key: Uint8Array): boolean {
    const [first, step] = twoHashes(key);
    for (let i = 0; i < this.hashes; i++) {
      const bit = (first + i * step) % this.#size;
      if ((this.#bits[Math.floor(bit / 8)] & (1 << (bit % 8))) === 0) return false;
    }
    return true;
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
