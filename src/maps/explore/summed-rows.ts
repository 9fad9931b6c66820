import { type ByteSource, readWhole } from "../../bytes/byte-source.ts";
import { byteString, compareBytes } from "../../bytes/bytes.ts";
import { readRow, Row, type RowLayout, rowLayout } from "../../ukvs/row.ts";
import type { RowCursor } from "../row-cursor.ts";
import { eachRow, openWholeMap } from "../split-map.ts";
import type { KeyRange } from "./key-node.ts";
import { isTotal, RowAdder, RowSums } from "./row-sums.ts";

/** A position between two rows: at `at` of a segment, with the sums of all rows before it. */
export interface RowPlace {
  readonly segment: number;
  readonly at: number;
  readonly sums: RowSums;
}

/** The first row in some ranges of keys. */
export interface FirstRow {
  readonly key: string;
  readonly frequency: string;
}

/** Distance between segments: rows of one key are never in two. */
const SEGMENT_BYTES = 8192;
/** Limit on the bytes of a map cached while it is explored. */
const MAX_CACHED_BYTES = 8 * 2 ** 20;
/** Segments read at a time by sequential scans. */
export const SEGMENTS_AHEAD = 32;
const decoder = new TextDecoder();

/**
 * The rows of a sorted map with their totals: the sum of any range of keys takes two reads of a few
 * kilobytes, however many rows there are.
 *
 * Holds a key and seven numbers for every 8 KiB of the map, and the segments read last.
 */
export class SummedRows {
  readonly layout: RowLayout;
  /** All rows but `*`. */
  readonly all = new RowSums();
  /** The frequency of `*`, which states the totals of the archive. */
  total: string | undefined;
  readonly #source: ByteSource;
  readonly #segmentBytes: number;
  readonly #adder: RowAdder;
  /** The offset of each segment, its first key as a byte string, and the sums of all rows before it. */
  readonly #offsets: number[] = [];
  readonly #keys: string[] = [];
  readonly #sums: number[] = [];
  readonly #cached = new Map<number, Uint8Array>();
  #cachedBytes = 0;

  /** All rows of the map must follow, by {@link add}. */
  constructor(source: ByteSource, layout: RowLayout, segmentBytes: number = SEGMENT_BYTES) {
    this.layout = layout;
    this.#source = source;
    this.#segmentBytes = segmentBytes;
    this.#adder = new RowAdder(layout);
  }

  /**
   * Reads a map once.
   *
   * @throws MM_NOT_SORTED, MM_BAD_HEADER, MM_BAD_LINE, MM_IO; MM_BAD_INPUT when it is not a map, or
   *   is one page of a map.
   */
  static async read(
    source: ByteSource,
    options: {
      readonly signal?: AbortSignal | undefined;
      readonly segmentBytes?: number | undefined;
    } = {},
  ): Promise<SummedRows> {
    const reader = await openWholeMap(source, options.signal);
    const layout = rowLayout(reader.headers.fields, source.name);
    const rows = new SummedRows(source, layout, options.segmentBytes);
    await eachRow(reader, source.name, (row, isNew) => rows.add(row, isNew));
    return rows;
  }

  /** Adds the next row of the map. */
  add(row: RowCursor, isNew: boolean): void {
    const { bytes, start, keyEnd, restStart, end, offset } = row;
    const last = this.#offsets.at(-1);
    if (isNew && (last === undefined || offset - last >= this.#segmentBytes)) {
      this.#offsets.push(offset);
      this.#keys.push(byteString(bytes, start, keyEnd));
      this.#sums.push(...this.all.numbers);
    }
    if (isTotal(bytes, row)) {
      [this.total] = decoder.decode(bytes.subarray(restStart, end)).split(/\s/);
    }
    this.#adder.add(bytes, row, this.all);
  }

  /** How many segments there are. */
  get segments(): number {
    return this.#offsets.length;
  }

  /** The key of the first row of a segment. */
  firstOf(segment: number): Uint8Array {
    return Uint8Array.from(this.#keys[segment], (byte) => byte.charCodeAt(0));
  }

  /** The sums of all rows before a segment. */
  sumsBefore(segment: number): RowSums {
    if (segment >= this.segments) return new RowSums().add(this.all);
    return RowSums.at(this.#sums, segment * RowSums.length);
  }

  /** The rows of a segment as bytes. If it is not cached, `count` segments are read. */
  async segment(segment: number, count: number, signal?: AbortSignal): Promise<Uint8Array> {
    const cached = this.#cached.get(segment);
    if (cached !== undefined) return cached;
    const start = this.#offset(segment);
    const lines = await readWhole(
      this.#source,
      start,
      this.#offset(segment + count) - start,
      signal,
    );
    const last = Math.min(segment + count, this.segments);
    for (let one = segment; one < last; one++) {
      this.#keep(one, lines.subarray(this.#offset(one) - start, this.#offset(one + 1) - start));
    }
    return lines.subarray(0, this.#offset(segment + 1) - start);
  }

  #offset(segment: number): number {
    return this.#offsets.at(segment) ?? this.#source.size;
  }

  #keep(segment: number, lines: Uint8Array): void {
    if (!this.#cached.has(segment)) this.#cachedBytes += lines.length;
    this.#cached.set(segment, lines);
    for (const [oldest, bytes] of this.#cached) {
      if (this.#cachedBytes <= MAX_CACHED_BYTES) break;
      this.#cached.delete(oldest);
      this.#cachedBytes -= bytes.length;
    }
  }

  /** Reads the line at `at` of a segment; false for a blank one. */
  readRow(bytes: Uint8Array, at: number, row: Row): boolean {
    return readRow(bytes, at, bytes.length, this.layout.fields, row);
  }

  /** The position before the first row whose key is not below `key`; undefined is after all keys. */
  async seek(key: Uint8Array | undefined, signal?: AbortSignal): Promise<RowPlace> {
    const segment = key === undefined ? this.segments : this.#segmentOf(key);
    const sums = this.sumsBefore(segment);
    if (key === undefined || segment >= this.segments) return { segment, at: 0, sums };
    const bytes = await this.segment(segment, 1, signal);
    const adder = new RowAdder(this.layout);
    const row = new Row();
    let at = 0;
    for (; at < bytes.length; at = row.next) {
      if (!this.readRow(bytes, at, row)) continue;
      if (compareBytes(bytes.subarray(at, row.keyEnd), key) >= 0) break;
      adder.add(bytes, row, sums);
    }
    return { segment, at, sums };
  }

  /** The last segment whose first key is not above `key`; else the first one. */
  #segmentOf(key: Uint8Array): number {
    const text = byteString(key, 0, key.length);
    let low = 1;
    let high = this.segments;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#keys[middle] <= text) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** The totals of the rows in ranges of keys. */
  async sumOf(ranges: readonly KeyRange[], signal?: AbortSignal): Promise<RowSums> {
    const all = new RowSums();
    for (const { from, to } of ranges) {
      const before = await this.seek(from, signal);
      const { sums } = await this.seek(to, signal);
      all.add(sums).add(before.sums, -1);
    }
    return all;
  }

  /** The first row whose key is in one of some ranges. */
  async firstRow(ranges: readonly KeyRange[], signal?: AbortSignal): Promise<FirstRow | undefined> {
    const row = new Row();
    for (const { from, to } of ranges) {
      let { segment, at } = await this.seek(from, signal);
      for (; segment < this.segments; segment++, at = 0) {
        const bytes = await this.segment(segment, 1, signal);
        while (at < bytes.length && !this.readRow(bytes, at, row)) at = row.next;
        if (at >= bytes.length) continue;
        const key = bytes.subarray(row.start, row.keyEnd);
        if (to !== undefined && compareBytes(key, to) >= 0) break;
        const frequency = bytes.subarray(row.frequencyStart, row.frequencyEnd);
        return { key: decoder.decode(key), frequency: decoder.decode(frequency) };
      }
    }
    return undefined;
  }
}
