import { asciiSurt } from "../../surt/key-bytes.ts";
import { lookupKeys } from "../../surt/key.ts";
import type { DatetimeRange } from "../../ukvs/record.ts";
import type { IndexedRows } from "./index-rows.ts";
import { EMPTY_HASH, extendHashRange } from "./row-table.ts";
import { COMMA_STAR, KeyScan, KeyWalk, NOTHING } from "./key-walk.ts";
import { isKeyEnd, olderSpellings } from "./map-row.ts";
import type { PageRange } from "./map-head.ts";

const encoder = new TextEncoder();

/**
 * Finds the row that decides about a URI, in a map that is indexed in memory.
 *
 * A row is compared with the pieces of a key; the key itself is not made.
 */
export class RowFinder extends KeyWalk {
  readonly #map: Uint8Array;
  readonly #rows: IndexedRows;
  readonly #scan: KeyScan = new KeyScan();
  readonly #decides: (row: number, period: DatetimeRange | undefined) => boolean;
  #period: DatetimeRange | undefined;

  /** @param decides whether the rows of a key, given the first, decide about a period. */
  constructor(
    map: Uint8Array,
    rows: IndexedRows,
    decides: (row: number, period: DatetimeRange | undefined) => boolean,
  ) {
    super(rows);
    this.#map = map;
    this.#rows = rows;
    this.#decides = decides;
  }

  /** The offset of the first row of the most specific key that decides about a SURT, or -1. */
  decidingRow(bytes: Uint8Array, start: number, end: number, period?: DatetimeRange): number {
    this.ask(period);
    return this.#scan.scan(bytes, start, end) && this.canWalk(bytes, start, end)
      ? this.walk(this.#scan, bytes, start, end)
      : this.#decidingRowOf(asciiSurt(bytes, start, end));
  }

  /** Sets the period that rows must decide of, for what is asked from now on. */
  ask(period: DatetimeRange | undefined): void {
    this.#period = period;
  }

  /**
   * The offset of the first row of a key that decides, else of any, or -1.
   *
   * @throws MM_PAGE when the rows are those of `page`, and another page may decide.
   */
  rowOf(key: string, page?: PageRange): number {
    let undecided = -1;
    for (const spelling of [key, ...olderSpellings(key, this.#rows)]) {
      page?.require(encoder.encode(spelling));
      const row = this.#rowOfExactly(spelling);
      if (this.#ifDecides(row) >= 0) return row;
      if (undecided < 0) undecided = row;
    }
    return undecided;
  }

  #rowOfExactly(key: string): number {
    const bytes = encoder.encode(key);
    const hash = extendHashRange(EMPTY_HASH, bytes, 0, bytes.length);
    return key.includes("*")
      ? this.#wildcardRow(hash, bytes, 0, bytes.length, NOTHING)
      : this.#pageRow(hash, bytes, 0, bytes.length);
  }

  /** For text that is not plain, by its lookup keys one after the other. */
  #decidingRowOf(surt: string): number {
    for (const { key, distance } of lookupKeys(surt, this.#rows)) {
      const row = this.#ifDecides(this.rowOf(key));
      this.distance = distance;
      if (row >= 0) return row;
    }
    return -1;
  }

  /** The row, unless it leaves the question to wider keys; then -1. */
  #ifDecides(row: number): number {
    return row < 0 || !this.#rows.hasTimes || this.#decides(row, this.#period) ? row : -1;
  }

  override page(hash: number, bytes: Uint8Array, start: number, end: number): number {
    return this.#ifDecides(this.#pageRow(hash, bytes, start, end));
  }

  #pageRow(hash: number, bytes: Uint8Array, start: number, end: number): number {
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
    return this.#ifDecides(this.#wildcardRow(hash, bytes, start, end, ending));
  }

  #wildcardRow(
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
    hostEnd: number,
    end: number,
    ending: Uint8Array,
  ): number {
    const { wildcards } = this.#rows;
    for (let place = wildcards.first(hash); place >= 0; place = wildcards.next(place)) {
      const row = wildcards.offset(place);
      let at = sharedEnd(this.#map, row, bytes, start, labelEnd);
      if (at >= 0) at = sharedEnd(this.#map, at, COMMA_STAR, 0, COMMA_STAR.length);
      if (at >= 0) at = sharedEnd(this.#map, at, bytes, hostEnd, end);
      if (at >= 0) at = sharedEnd(this.#map, at, ending, 0, ending.length);
      if (at >= 0 && isKeyEnd(this.#map, at)) return this.#ifDecides(row);
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
