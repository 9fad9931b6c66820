import { compareRanges, CR, LF } from "../../bytes/bytes.ts";
import { type ByteSource, MemorySource, readWhole } from "../../bytes/byte-source.ts";
import type { UkvsHeaders } from "../../ukvs/header.ts";
import { columnEnd } from "../../ukvs/record.ts";
import { type RowLayout, rowLayout } from "../../ukvs/row.ts";
import { KeySamples } from "../../lookup/sorted-source.ts";
import { eachRow, openWholeMap, type ReadRow } from "../split-map.ts";
import { RowAdder, RowSums } from "./row-sums.ts";

/** A place between two rows: at `at` of a segment, with the sums of all rows before it. */
export interface RowPlace {
  readonly segment: number;
  readonly at: number;
  readonly sums: RowSums;
}

/** How much of a map is kept in memory while it is explored. */
const MAX_KEPT_BYTES = 8 * 2 ** 20;
const SEGMENTS_AHEAD = 32;

/**
 * The rows of a sorted map, with what they add up to: the sum of any range of keys takes two reads of a
 * few kilobytes, however many rows there are.
 *
 * Holds a key and seven numbers for every 8 KiB of the map, and the parts that were read last.
 */
export class SummedRows {
  readonly headers: UkvsHeaders;
  readonly layout: RowLayout;
  /** All rows but `*`. */
  readonly all: RowSums;
  /** The frequency of `*`, which states the totals of the archive. */
  readonly total: string | undefined;
  readonly #source: ByteSource;
  readonly #samples: KeySamples;
  /** The sums before each sample. */
  readonly #sums: Float64Array;
  readonly #kept = new Map<number, Uint8Array>();
  #keptBytes = 0;

  private constructor(source: ByteSource, headers: UkvsHeaders, found: CollectedSums) {
    this.headers = headers;
    this.layout = rowLayout(headers.fields, source.name);
    this.#source = source;
    this.#samples = found.samples;
    this.#sums = found.sums;
    this.all = found.all;
    this.total = found.total;
  }

  /**
   * Reads a map once.
   *
   * @throws MM_NOT_SORTED, MM_BAD_HEADER, MM_BAD_LINE, MM_IO; MM_BAD_INPUT when it is not a map, or one
   *   page of a map.
   */
  static async read(
    source: ByteSource,
    options: {
      readonly signal?: AbortSignal | undefined;
      readonly segmentBytes?: number | undefined;
    } = {},
  ): Promise<SummedRows> {
    const { signal, segmentBytes } = options;
    const { headers, region } = await openWholeMap(source, signal);
    const builder = new SummedRowsBuilder(rowLayout(headers.fields, source.name), { segmentBytes });
    await eachRow(region, (row) => builder.add(row));
    return new SummedRows(source, headers, builder.finish());
  }

  /** The rows of a map that was read with a builder. */
  static of(source: ByteSource, headers: UkvsHeaders, builder: SummedRowsBuilder): SummedRows {
    return new SummedRows(source, headers, builder.finish());
  }

  /** How many segments there are. */
  get segments(): number {
    return this.#samples.count;
  }

  /** The sums of all rows before a segment. */
  sumsBefore(segment: number): RowSums {
    if (segment >= this.segments) return this.all.copy();
    return sumsAt(this.#sums, segment);
  }

  /** The rows of a segment as bytes; a promise only if they must be read. */
  segment(segment: number, signal?: AbortSignal): Uint8Array | Promise<Uint8Array> {
    return this.#kept.get(segment) ?? this.#read(segment, 1, signal);
  }

  /** As `segment`, for those who will ask for the following ones, too. */
  segmentAhead(segment: number, signal?: AbortSignal): Uint8Array | Promise<Uint8Array> {
    return this.#kept.get(segment) ?? this.#read(segment, SEGMENTS_AHEAD, signal);
  }

  /** Reads some segments at once; returns the first. */
  async #read(first: number, count: number, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const start = this.#offset(first);
    const end = this.#offset(first + count);
    const lines = await readWhole(this.#source, start, end - start, signal);
    const last = Math.min(first + count, this.segments);
    for (let segment = first; segment < last; segment++) {
      const part = lines.subarray(this.#offset(segment) - start, this.#offset(segment + 1) - start);
      // A copy, so that one segment does not keep all that were read with it.
      this.#keep(
        segment,
        count === 1 || this.#source instanceof MemorySource ? part : part.slice(),
      );
    }
    return this.#kept.get(first) ?? lines.subarray(0, this.#offset(first + 1) - start);
  }

  #offset(segment: number): number {
    return this.#samples.offset(segment) ?? this.#source.size;
  }

  #keep(segment: number, lines: Uint8Array): void {
    if (!this.#kept.has(segment)) this.#keptBytes += lines.length;
    this.#kept.set(segment, lines);
    for (const [oldest, bytes] of this.#kept) {
      if (this.#keptBytes <= MAX_KEPT_BYTES) break;
      this.#kept.delete(oldest);
      this.#keptBytes -= bytes.length;
    }
  }

  /** The place before the first row whose key is not below `key`; undefined is behind all keys. */
  async seek(key: Uint8Array | undefined, signal?: AbortSignal): Promise<RowPlace> {
    if (key === undefined) return { segment: this.segments, at: 0, sums: this.all.copy() };
    const segment = Math.max(0, this.#samples.before(key));
    if (segment >= this.segments) return { segment, at: 0, sums: this.all.copy() };
    const found = this.segment(segment, signal);
    const bytes = found instanceof Promise ? await found : found;
    const sums = this.sumsBefore(segment);
    const adder = new RowAdder(this.layout);
    let at = 0;
    while (at < bytes.length) {
      const end = lineEnd(bytes, at);
      const keyEnd = columnEnd(bytes, at, end);
      if (keyEnd > at) {
        if (compareRanges(bytes, at, keyEnd, key, 0, key.length) >= 0) break;
        adder.add(bytes, at, keyEnd, textEnd(bytes, at, end), sums);
      }
      at = end + 1;
    }
    return { segment, at, sums };
  }

  /** What the rows of a range of keys add up to. */
  async sumOf(
    { from, to }: { from: Uint8Array; to: Uint8Array | undefined },
    signal?: AbortSignal,
  ): Promise<RowSums> {
    const before = await this.seek(from, signal);
    const { sums } = await this.seek(to, signal);
    return sums.add(before.sums, -1);
  }
}

const STAR = 0x2a;
const decoder = new TextDecoder();

export function lineEnd(bytes: Uint8Array, from: number): number {
  const end = bytes.indexOf(LF, from);
  return end === -1 ? bytes.length : end;
}

/** The end of a line without its CR. */
export function textEnd(bytes: Uint8Array, start: number, end: number): number {
  return end > start && bytes[end - 1] === CR ? end - 1 : end;
}

interface CollectedSums {
  readonly samples: KeySamples;
  readonly sums: Float64Array;
  readonly all: RowSums;
  readonly total: string | undefined;
}

/** Collects the sums of a map while it is read, row by row. */
export class SummedRowsBuilder {
  readonly #samples: KeySamples;
  readonly #sums = new GrowingSums();
  readonly #adder: RowAdder;
  readonly #all = new RowSums();
  #total: string | undefined;

  constructor(layout: RowLayout, options: { readonly segmentBytes?: number | undefined } = {}) {
    const { segmentBytes } = options;
    this.#samples = new KeySamples(segmentBytes === undefined ? {} : { segmentBytes });
    this.#adder = new RowAdder(layout);
  }

  add({ bytes, start, keyEnd, end, offset, isNew }: ReadRow): void {
    if (isNew) {
      const { count } = this.#samples;
      this.#samples.add(offset, bytes, start, keyEnd);
      if (this.#samples.count > count) this.#sums.push(this.#all);
    }
    if (keyEnd - start === 1 && bytes[start] === STAR) {
      [this.#total] = decoder.decode(bytes.subarray(keyEnd, end)).trim().split(/\s/);
    }
    this.#adder.add(bytes, start, keyEnd, end, this.#all);
  }

  finish(): CollectedSums {
    return {
      samples: this.#samples,
      sums: this.#sums.finish(),
      all: this.#all,
      total: this.#total,
    };
  }
}

/** Sums one after the other, in one array. */
class GrowingSums {
  #numbers = new Float64Array(1024 * RowSums.length);
  #count = 0;

  push(sums: RowSums): void {
    const at = this.#count * RowSums.length;
    if (at === this.#numbers.length) {
      const larger = new Float64Array(2 * at);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    const { rows, captures, voids, wildcards, wildcardCaptures, atLeast, atMost } = sums;
    this.#numbers.set([rows, captures, voids, wildcards, wildcardCaptures, atLeast, atMost], at);
    this.#count += 1;
  }

  finish(): Float64Array {
    return this.#numbers.slice(0, this.#count * RowSums.length);
  }
}

function sumsAt(numbers: Float64Array, index: number): RowSums {
  const sums = new RowSums();
  const at = index * RowSums.length;
  sums.rows = numbers[at];
  sums.captures = numbers[at + 1];
  sums.voids = numbers[at + 2];
  sums.wildcards = numbers[at + 3];
  sums.wildcardCaptures = numbers[at + 4];
  sums.atLeast = numbers[at + 5];
  sums.atMost = numbers[at + 6];
  return sums;
}
