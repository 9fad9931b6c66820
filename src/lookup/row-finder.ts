import { COMMA, SLASH, STAR } from "../bytes/ascii.ts";
import { lookupKeys } from "../surt/lookup-keys.ts";
import type { IndexedRows } from "./index-rows.ts";
import { EMPTY_HASH, extendHash, extendHashRange } from "./key-hash.ts";
import { KeyScan } from "./key-scan.ts";
import { isKeyEnd } from "./line-bounds.ts";
import { bareHome } from "./map-row.ts";

const NOTHING: Uint8Array = new Uint8Array(0);
const JUST_STAR: Uint8Array = Uint8Array.of(STAR);
const SLASH_STAR: Uint8Array = Uint8Array.of(SLASH, STAR);
const COMMA_STAR: Uint8Array = Uint8Array.of(COMMA, STAR);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Finds the row that decides about a URI, in a map that is indexed in memory.
 *
 * Tries the lookup keys of `lookupKeys` in their order, without making them: their hashes come from
 * one pass over the SURT, and a row is compared with the pieces a key would be made of.
 */
export class RowFinder {
  /** How far above the URI the row of the last `decidingRow` is. */
  distance = 0;
  readonly #map: Uint8Array;
  readonly #rows: IndexedRows;
  readonly #scan: KeyScan = new KeyScan();

  constructor(map: Uint8Array, rows: IndexedRows) {
    this.#map = map;
    this.#rows = rows;
  }

  /** The offset of the first row of the most specific key for a SURT, or -1. */
  decidingRow(bytes: Uint8Array, start: number, end: number): number {
    const scan = this.#scan;
    if (!scan.scan(bytes, start, end)) {
      return this.#decidingRowOf(decoder.decode(bytes.subarray(start, end)));
    }
    this.distance = 0;
    if (this.#rows.hasQueryKeys && scan.hasQuery) {
      const row = this.#page(scan.fullHash, bytes, start, end);
      if (row >= 0) return row;
    }
    const row = this.#page(scan.pathHash, bytes, start, scan.pathEnd);
    if (row >= 0) return row;
    if (this.#rows.hasBareHomes && scan.isRoot) {
      const home = this.#page(scan.hostHash, bytes, start, scan.hostEnd + 1);
      if (home >= 0) return home;
    }
    const pathRow = this.#decidingPathRow(bytes, start);
    return pathRow >= 0 ? pathRow : this.#decidingHostRow(bytes, start);
  }

  /** The offset of the first row of a key, or -1. */
  rowOf(key: string): number {
    const row = this.#rowOfExactly(key);
    const bare = row < 0 ? bareHome(key) : undefined;
    return bare === undefined ? row : this.#rowOfExactly(bare);
  }

  #rowOfExactly(key: string): number {
    const bytes = encoder.encode(key);
    const hash = extendHashRange(EMPTY_HASH, bytes, 0, bytes.length);
    return key.includes("*")
      ? this.#wildcard(hash, bytes, 0, bytes.length, NOTHING)
      : this.#page(hash, bytes, 0, bytes.length);
  }

  /** For text that is not plain, by its lookup keys one after the other. */
  #decidingRowOf(surt: string): number {
    for (const { key, distance } of lookupKeys(surt)) {
      const row = this.rowOf(key);
      this.distance = distance;
      if (row >= 0) return row;
    }
    return -1;
  }

  #decidingPathRow(bytes: Uint8Array, start: number): number {
    const scan = this.#scan;
    if (!scan.isRoot) {
      this.distance++;
      const hash = extendHash(extendHash(scan.pathHash, SLASH), STAR);
      const row = this.#wildcard(hash, bytes, start, scan.pathEnd, SLASH_STAR);
      if (row >= 0) return row;
    }
    for (let i = scan.slashCount - 1; i >= 0; i--) {
      this.distance++;
      const hash = extendHash(scan.slashHashes[i], STAR);
      const row = this.#wildcard(hash, bytes, start, scan.slashEnds[i], JUST_STAR);
      if (row >= 0) return row;
    }
    return -1;
  }

  #decidingHostRow(bytes: Uint8Array, start: number): number {
    const scan = this.#scan;
    for (let i = scan.labelCount - 1; i >= 0; i--) {
      const labelEnd = scan.labelEnds[i];
      const hash = extendHash(extendHash(scan.labelHashes[i], COMMA), STAR);
      this.distance++;
      if (this.#rows.hasSpreadKeys) {
        const row = this.#spread(hash, bytes, start, labelEnd);
        if (row >= 0) return row;
      }
      // The spread key of a top-level domain is as far up as its wildcard.
      if (i > 0) this.distance++;
      const row = this.#wildcard(hash, bytes, start, labelEnd, COMMA_STAR);
      if (row >= 0) return row;
    }
    return -1;
  }

  #page(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const { pages } = this.#rows;
    for (let place = pages.first(hash); place >= 0; place = pages.next(place)) {
      const row = pages.offset(place);
      const at = sharedEnd(this.#map, row, bytes, start, end);
      if (at >= 0 && isKeyEnd(this.#map, at)) return row;
    }
    return -1;
  }

  /** The row of the key `bytes[start, end) + ending`. */
  #wildcard(
    hash: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    ending: Uint8Array,
  ): number {
    const { wildcards } = this.#rows;
    for (let place = wildcards.first(hash); place >= 0; place = wildcards.next(place)) {
      const row = wildcards.offset(place);
      let at = sharedEnd(this.#map, row, bytes, start, end);
      if (at >= 0) at = sharedEnd(this.#map, at, ending, 0, ending.length);
      if (at >= 0 && isKeyEnd(this.#map, at)) return row;
    }
    return -1;
  }

  /** The row of the key that spreads the scanned path over the hosts at and below `labelEnd`. */
  #spread(hash: number, bytes: Uint8Array, start: number, labelEnd: number): number {
    const { wildcards } = this.#rows;
    const { hostEnd, pathEnd } = this.#scan;
    const spread = extendHashRange(hash, bytes, hostEnd, pathEnd);
    for (let place = wildcards.first(spread); place >= 0; place = wildcards.next(place)) {
      const row = wildcards.offset(place);
      let at = sharedEnd(this.#map, row, bytes, start, labelEnd);
      if (at >= 0) at = sharedEnd(this.#map, at, COMMA_STAR, 0, COMMA_STAR.length);
      if (at >= 0) at = sharedEnd(this.#map, at, bytes, hostEnd, pathEnd);
      if (at >= 0 && isKeyEnd(this.#map, at)) return row;
    }
    return -1;
  }
}

/** The end of `bytes[start, end)` within the map at `at` if it stands there, else -1. */
function sharedEnd(
  map: Uint8Array,
  at: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): number {
  const shift = at - start;
  for (let i = start; i < end; i++) if (map[i + shift] !== bytes[i]) return -1;
  return at + end - start;
}
