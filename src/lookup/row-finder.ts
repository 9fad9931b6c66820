import { lookupKeys } from "../surt/lookup-keys.ts";
import type { IndexedRows } from "./index-rows.ts";
import { EMPTY_HASH, extendHashRange } from "./key-hash.ts";
import { KeyScan } from "./key-scan.ts";
import { COMMA_STAR, KeyWalk } from "./key-walk.ts";
import { isKeyEnd } from "./line-bounds.ts";
import { bareHome } from "./map-row.ts";

const NOTHING: Uint8Array = new Uint8Array(0);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Finds the row that decides about a URI, in a map that is indexed in memory.
 *
 * A row is compared with the pieces of a key; the key itself is not made.
 */
export class RowFinder extends KeyWalk {
  readonly #map: Uint8Array;
  readonly #rows: IndexedRows;
  readonly #scan: KeyScan = new KeyScan();

  constructor(map: Uint8Array, rows: IndexedRows) {
    super(rows);
    this.#map = map;
    this.#rows = rows;
  }

  /** The offset of the first row of the most specific key for a SURT, or -1. */
  decidingRow(bytes: Uint8Array, start: number, end: number): number {
    return this.#scan.scan(bytes, start, end)
      ? this.walk(this.#scan, bytes, start, end)
      : this.#decidingRowOf(decoder.decode(bytes.subarray(start, end)));
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
      ? this.wildcard(hash, bytes, 0, bytes.length, NOTHING)
      : this.page(hash, bytes, 0, bytes.length);
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

  override page(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const { pages } = this.#rows;
    for (let place = pages.first(hash); place >= 0; place = pages.next(place)) {
      const row = pages.offset(place);
      const at = sharedEnd(this.#map, row, bytes, start, end);
      if (at >= 0 && isKeyEnd(this.#map, at)) return row;
    }
    return -1;
  }

  override wildcard(
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

  override spread(
    hash: number,
    bytes: Uint8Array,
    start: number,
    labelEnd: number,
    { hostEnd, pathEnd }: KeyScan,
  ): number {
    const { wildcards } = this.#rows;
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
